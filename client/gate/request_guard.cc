#include "client/gate/request_guard.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace curator::gate {
namespace {

// A proxy and the gate could each read another one of two.
constexpr auto kOnce =
    std::to_array<std::string_view>({"authorization", "content-type", "cookie", "host", "last-event-id",
                                     "origin", "sec-fetch-site", "x-curator-csrf"});

Refusal CrossSite(std::string_view message) {
  return {
      .status = 403, .code = "PERMISSION_DENIED", .reason = "CROSS_SITE", .message = std::string(message)};
}

std::string_view HostOf(std::string_view origin) {
  const size_t scheme = origin.find("://");
  return scheme == std::string_view::npos ? origin : origin.substr(scheme + 3);
}

bool IsJson(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  return absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(absl::string_view(type.data(), type.size())),
                                "application/json");
}

bool IsEqualInConstantTime(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

std::optional<Refusal> RequestGuard::CheckAny(const HttpRequest& request) const {
  for (const std::string_view name : kOnce) {
    if (request.CountOf(name) <= 1) continue;
    return Refusal{.status = 400,
                   .code = "INVALID_ARGUMENT",
                   .reason = "TWICE",
                   .message = absl::StrCat("the header ", std::string(name), " was sent twice")};
  }
  const std::string_view host = request.Header("host");
  if (std::ranges::any_of(origins_, [&](const std::string& origin) { return HostOf(origin) == host; })) {
    return std::nullopt;
  }
  return CrossSite("the Host header is not that of this dashboard's address");
}

std::optional<Refusal> RequestGuard::CheckRead(const HttpRequest& request) const {
  const std::string_view site = request.Header("sec-fetch-site");
  // "none": somebody typed the address.
  if (site.empty() || site == "same-origin" || site == "none") return std::nullopt;
  return CrossSite("the request comes from another site");
}

std::optional<Refusal> RequestGuard::CheckChange(const HttpRequest& request,
                                                 std::optional<std::string_view> csrf) const {
  const std::string_view site = request.Header("sec-fetch-site");
  const std::string_view origin = request.Header("origin");
  const bool is_from_origin = std::ranges::find(origins_, origin) != origins_.end();
  if (!origin.empty() && !is_from_origin) return CrossSite("the Origin header is not this dashboard's");
  if (site.empty() ? !is_from_origin : site != "same-origin") {
    return CrossSite("the request does not come from a page of this dashboard");
  }
  if (!IsJson(request.Header("content-type"))) {
    return Refusal{.status = 415,
                   .code = "INVALID_ARGUMENT",
                   .reason = "NOT_JSON",
                   .message = "the Content-Type header is not application/json"};
  }
  if (csrf && !IsEqualInConstantTime(request.Header("x-curator-csrf"), *csrf)) {
    return Refusal{.status = 403,
                   .code = "PERMISSION_DENIED",
                   .reason = "CSRF",
                   .message = "the header X-Curator-CSRF is not that of this session"};
  }
  return std::nullopt;
}

}  // namespace curator::gate
