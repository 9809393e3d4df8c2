#include "client/jwks/https_fetch.h"

#include <curl/curl.h>

#include <memory>

#include "absl/strings/str_cat.h"

namespace curator::jwks {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;
constexpr long kMostSeconds = 10;

struct Cleanup {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};

// Called by curl with each piece; another length than it was given ends the transfer.
size_t Append(char* piece, size_t size, size_t count, void* body) {
  auto& text = *static_cast<std::string*>(body);
  if (text.size() + size * count > kMostBytes) return 0;
  text.append(piece, size * count);
  return size * count;
}

}  // namespace

absl::StatusOr<std::string> FetchHttps(const std::string& url, const FetchOptions& options) {
  if (!url.starts_with("https://")) {
    return absl::InvalidArgumentError(absl::StrCat(url, ": must begin with https://"));
  }
  static const CURLcode is_ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, Cleanup> handle(curl_easy_init());
  if (is_ready != CURLE_OK || handle == nullptr) return absl::UnavailableError("libcurl cannot be used");
  std::string body;
  CURL* const curl = handle.get();
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, kMostSeconds);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Append);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
  if (!options.authorities.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, options.authorities.c_str());
  const CURLcode done = curl_easy_perform(curl);
  if (done != CURLE_OK) return absl::UnavailableError(absl::StrCat(url, ": ", curl_easy_strerror(done)));
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (status == 200) return body;
  return absl::UnavailableError(absl::StrCat(url, ": answered ", status, " and not 200"));
}

}  // namespace curator::jwks
