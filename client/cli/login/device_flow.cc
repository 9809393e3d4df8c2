#include "client/cli/login/device_flow.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "client/cli/login/json_text.h"

namespace curator::cli {
namespace {

using nlohmann::json;

constexpr absl::Duration kLongestInterval = absl::Minutes(1);
constexpr char kDeviceGrant[] = "urn:ietf:params:oauth:grant-type:device_code";

absl::StatusOr<json> ObjectIn(const https::Response& response, std::string_view what) {
  json object = json::parse(response.body, nullptr, /*allow_exceptions=*/false);
  if (object.is_object()) return object;
  return absl::DataLossError(
      absl::StrCat("the issuer's ", std::string(what), " is no JSON object (status ", response.status, ")"));
}

absl::StatusOr<std::string> RequiredText(const json& object, const char* member, std::string_view what) {
  std::string text = TextOf(object, member);
  if (!text.empty()) return text;
  return absl::DataLossError(absl::StrCat("the issuer's ", std::string(what), " has no ", member));
}

int64_t SecondsOf(const json& object, const char* member, int64_t otherwise) {
  const auto found = object.find(member);
  const bool is_seconds =
      found != object.end() && found->is_number_integer() && *found >= 1 && *found <= 86'400;
  return is_seconds ? found->get<int64_t>() : otherwise;
}

struct Endpoints {
  std::string device_authorization;
  std::string token;
};

absl::StatusOr<Endpoints> Discover(const LoginPlace& place, const LoginParts& parts) {
  const bool has_slash = place.issuer.ends_with('/');
  const std::string url =
      absl::StrCat(place.issuer, has_slash ? "" : "/", ".well-known/openid-configuration");
  ASSIGN_OR_RETURN(const https::Response response, parts.get(url));
  if (response.status != 200) {
    return absl::UnavailableError(absl::StrCat(url, ": answered ", response.status, " and not 200"));
  }
  ASSIGN_OR_RETURN(const json document, ObjectIn(response, "configuration"));
  if (TextOf(document, "issuer") != place.issuer) {
    return absl::DataLossError(absl::StrCat(url, " is the configuration of another issuer"));
  }
  Endpoints endpoints;
  ASSIGN_OR_RETURN(endpoints.token, RequiredText(document, "token_endpoint", "configuration"));
  endpoints.device_authorization = TextOf(document, "device_authorization_endpoint");
  return endpoints;
}

// Of a JSON object with an error, as all endpoints answer with (RFC 6749, 5.2); empty for anything else.
std::string ErrorIn(const https::Response& response) {
  const json object = json::parse(response.body, nullptr, /*allow_exceptions=*/false);
  return object.is_object() ? TextOf(object, "error") : std::string();
}

absl::Status Refused(const https::Response& response) {
  const std::string error = ErrorIn(response);
  return absl::UnavailableError(
      absl::StrCat("the issuer answered with status ", response.status, error.empty() ? "" : ": ", error));
}

absl::StatusOr<Tokens> TokensIn(const https::Response& response) {
  ASSIGN_OR_RETURN(const json object, ObjectIn(response, "answer"));
  const std::string id_token = TextOf(object, "id_token");
  Tokens tokens{.token = id_token.empty() ? TextOf(object, "access_token") : id_token,
                .refresh_token = TextOf(object, "refresh_token"),
                .is_id_token = !id_token.empty()};
  if (!tokens.token.empty()) return tokens;
  return absl::DataLossError("the issuer's answer has no token");
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
  const std::vector<std::string> parts = absl::StrSplit(std::string(token), '.');
  std::string body;
  if (parts.size() != 3 || !absl::WebSafeBase64Unescape(parts[1], &body)) return std::nullopt;
  const json claims = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!claims.is_object()) return std::nullopt;
  const auto found = claims.find("auth_time");
  if (found == claims.end() || !found->is_number()) return std::nullopt;
  return absl::UnixEpoch() + absl::Seconds(found->get<double>());
}

absl::StatusOr<Tokens> LogIn(const LoginPlace& place, const LoginParts& parts, Freshness freshness) {
  ASSIGN_OR_RETURN(const Endpoints endpoints, Discover(place, parts));
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
  ASSIGN_OR_RETURN(const json code, ObjectIn(begun, "answer"));
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
  ASSIGN_OR_RETURN(const Endpoints endpoints, Discover(place, parts));
  ASSIGN_OR_RETURN(const https::Response response,
                   parts.post(endpoints.token, {{"grant_type", "refresh_token"},
                                                {"refresh_token", old.refresh_token},
                                                {"client_id", place.client_id}}));
  if (ErrorIn(response) == "invalid_grant") return LoginHasEnded();
  if (response.status != 200) return Refused(response);
  ASSIGN_OR_RETURN(Tokens tokens, TokensIn(response));
  // An access token is no replacement for an ID token, which the issuer need not renew.
  if (tokens.is_id_token != old.is_id_token) return LoginHasEnded();
  // An issuer that gives no new one leaves the old one valid.
  if (tokens.refresh_token.empty()) tokens.refresh_token = old.refresh_token;
  return tokens;
}

}  // namespace curator::cli
