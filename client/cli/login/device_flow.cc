#include "client/cli/login/device_flow.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::cli {
namespace {

using Json = nlohmann::json;

using oidc::ErrorIn;
using oidc::ObjectIn;
using oidc::Refused;
using oidc::RequiredText;
using oidc::TextOf;
using oidc::TokensIn;

constexpr absl::Duration kLongestInterval = absl::Minutes(1);
constexpr char kDeviceGrant[] = "urn:ietf:params:oauth:grant-type:device_code";

int64_t SecondsOf(const Json& object, const char* member, int64_t otherwise) {
  const auto found = object.find(member);
  const bool is_seconds =
      found != object.end() && found->is_number_integer() && *found >= 1 && *found <= 86'400;
  return is_seconds ? found->get<int64_t>() : otherwise;
}

oidc::Transport TransportOf(const LoginParts& parts) {
  return {.get = parts.get, .post = parts.post};
}

// Of a poll before the user has decided: whether to go on, more slowly if the issuer says so or is in
// trouble.
absl::Status AfterRefusal(const absl::StatusOr<https::Response>& response, absl::Duration& interval) {
  const std::string error = response.ok() ? ErrorIn(*response) : std::string();
  if (error == "authorization_pending") return absl::OkStatus();
  const bool is_trouble = !response.ok() || response->status >= 500 || response->status == 429;
  if (is_trouble || error == "slow_down") {
    interval = std::min(interval + absl::Seconds(5), kLongestInterval);
    return absl::OkStatus();
  }
  if (error == "access_denied") return absl::PermissionDeniedError("the login was refused in the browser");
  if (error == "expired_token") return absl::DeadlineExceededError("the code has expired: log in again");
  return Refused(*response);
}

}  // namespace

absl::Status LoginHasEnded() {
  return absl::UnauthenticatedError("the login has ended: log in again with `curator login`");
}

std::optional<absl::Time> LoginTimeIn(std::string_view token) {
  const Json claims = oidc::ClaimsIn(token);
  const auto found = claims.find("auth_time");
  if (found == claims.end() || !found->is_number()) return std::nullopt;
  return absl::UnixEpoch() + absl::Seconds(found->get<double>());
}

absl::StatusOr<Tokens> LogIn(const LoginPlace& place, const LoginParts& parts, Freshness freshness) {
  ASSIGN_OR_RETURN(const oidc::Endpoints endpoints, oidc::Discover(place.issuer, TransportOf(parts)));
  if (endpoints.device_authorization.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        place.issuer, " has no device flow: get a token in another way, and name it by --token-file"));
  }
  https::Fields asked = {{"client_id", place.client_id}, {"scope", place.scope}};
  if (freshness == Freshness::kFresh) {
    asked.emplace_back("prompt", "login");
    asked.emplace_back("max_age", "0");
  }
  ASSIGN_OR_RETURN(const https::Response begun, parts.post(endpoints.device_authorization, asked));
  if (begun.status != 200) return Refused(begun);
  ASSIGN_OR_RETURN(const Json code, ObjectIn(begun, "answer"));
  ASSIGN_OR_RETURN(const std::string device_code, RequiredText(code, "device_code", "answer"));
  ASSIGN_OR_RETURN(const std::string user_code, RequiredText(code, "user_code", "answer"));
  ASSIGN_OR_RETURN(const std::string page, RequiredText(code, "verification_uri", "answer"));
  const std::string whole_page = TextOf(code, "verification_uri_complete");
  parts.show(whole_page.empty() ? page : whole_page, user_code);
  const absl::Time deadline = parts.now() + absl::Seconds(SecondsOf(code, "expires_in", 600));
  absl::Duration interval = absl::Seconds(SecondsOf(code, "interval", 5));
  absl::Status trouble;
  while (parts.now() + interval < deadline) {
    parts.sleep(interval);
    const absl::StatusOr<https::Response> response = parts.post(
        endpoints.token,
        {{"grant_type", kDeviceGrant}, {"device_code", device_code}, {"client_id", place.client_id}});
    if (response.ok() && response->status == 200) return TokensIn(*response);
    RETURN_IF_ERROR(AfterRefusal(response, interval));
    trouble = response.status();
  }
  return absl::DeadlineExceededError(absl::StrCat("the code has expired: log in again",
                                                  trouble.ok() ? "" : "; ", std::string(trouble.message())));
}

absl::StatusOr<Tokens> Renew(const LoginPlace& place, const Tokens& old, const LoginParts& parts) {
  ASSIGN_OR_RETURN(const oidc::Endpoints endpoints, oidc::Discover(place.issuer, TransportOf(parts)));
  absl::StatusOr<Tokens> tokens =
      oidc::Renew(endpoints.token, {{"client_id", place.client_id}}, old, TransportOf(parts));
  if (absl::IsUnauthenticated(tokens.status())) return LoginHasEnded();
  return tokens;
}

}  // namespace curator::cli
