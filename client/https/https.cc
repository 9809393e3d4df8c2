#include "client/https/https.h"

#include <curl/curl.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::https {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;
constexpr long kMostSeconds = 10;

struct FreeHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeText {
  void operator()(char* text) const { curl_free(text); }
};
using Handle = std::unique_ptr<CURL, FreeHandle>;

// Called by curl with each piece; another length than it was given ends the transfer.
size_t Append(char* piece, size_t size, size_t count, void* body) {
  auto& text = *static_cast<std::string*>(body);
  if (text.size() + size * count > kMostBytes) return 0;
  text.append(piece, size * count);
  return size * count;
}

absl::StatusOr<Handle> NewHandle() {
  static const CURLcode is_ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  Handle handle(is_ready == CURLE_OK ? curl_easy_init() : nullptr);
  if (handle == nullptr) return absl::UnavailableError("libcurl cannot be used");
  return handle;
}

absl::StatusOr<Response> Perform(CURL* curl, const std::string& url, const Options& options) {
  if (!url.starts_with("https://")) {
    return absl::InvalidArgumentError(absl::StrCat(url, ": must begin with https://"));
  }
  Response response;
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, kMostSeconds);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Append);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &response.body);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
  if (!options.authorities.empty()) {
    // Debian's libcurl would trust the system's folder of authorities beside the file.
    const bool is_set = curl_easy_setopt(curl, CURLOPT_CAINFO, options.authorities.c_str()) == CURLE_OK &&
                        curl_easy_setopt(curl, CURLOPT_CAPATH, static_cast<char*>(nullptr)) == CURLE_OK;
    if (!is_set) return absl::UnavailableError("libcurl cannot be told whom to trust");
  }
  const CURLcode done = curl_easy_perform(curl);
  if (done != CURLE_OK) return absl::UnavailableError(absl::StrCat(url, ": ", curl_easy_strerror(done)));
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &response.status);
  return response;
}

}  // namespace

absl::StatusOr<Response> Get(const std::string& url, const Options& options) {
  ASSIGN_OR_RETURN(const Handle handle, NewHandle());
  return Perform(handle.get(), url, options);
}

absl::StatusOr<Response> PostForm(const std::string& url, const Fields& fields, const Options& options) {
  ASSIGN_OR_RETURN(const Handle handle, NewHandle());
  std::string form;
  for (const auto& [name, value] : fields) {
    const std::unique_ptr<char, FreeText> escaped(
        curl_easy_escape(handle.get(), value.data(), static_cast<int>(value.size())));
    if (escaped == nullptr) return absl::InvalidArgumentError(absl::StrCat(name, ": cannot be sent"));
    absl::StrAppend(&form, form.empty() ? "" : "&", name, "=", escaped.get());
  }
  curl_easy_setopt(handle.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(form.size()));
  curl_easy_setopt(handle.get(), CURLOPT_POSTFIELDS, form.c_str());
  return Perform(handle.get(), url, options);
}

absl::StatusOr<std::string> GetBody(const std::string& url, const Options& options) {
  ASSIGN_OR_RETURN(Response response, Get(url, options));
  if (response.status == 200) return std::move(response.body);
  return absl::UnavailableError(absl::StrCat(url, ": answered ", response.status, " and not 200"));
}

}  // namespace curator::https
