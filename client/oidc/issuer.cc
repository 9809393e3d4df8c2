#include "client/oidc/issuer.h"

#include <algorithm>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace curator::oidc {

using nlohmann::json;

absl::StatusOr<json> ObjectIn(const https::Response& response, std::string_view what) {
  json object = json::parse(response.body, nullptr, /*allow_exceptions=*/false);
  if (object.is_object()) return object;
  return absl::DataLossError(
      absl::StrCat("the issuer's ", std::string(what), " is no JSON object (status ", response.status, ")"));
}

std::string TextOf(const json& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

absl::StatusOr<std::string> RequiredText(const json& object, const char* member, std::string_view what) {
  std::string text = TextOf(object, member);
  if (!text.empty()) return text;
  return absl::DataLossError(absl::StrCat("the issuer's ", std::string(what), " has no ", member));
}

absl::StatusOr<Endpoints> Discover(const std::string& issuer, const Transport& transport) {
  const std::string url =
      absl::StrCat(issuer, issuer.ends_with('/') ? "" : "/", ".well-known/openid-configuration");
  ASSIGN_OR_RETURN(const https::Response response, transport.get(url));
  if (response.status != 200) {
    return absl::UnavailableError(absl::StrCat(url, ": answered ", response.status, " and not 200"));
  }
  ASSIGN_OR_RETURN(const json document, ObjectIn(response, "configuration"));
  if (TextOf(document, "issuer") != issuer) {
    return absl::DataLossError(absl::StrCat(url, " is the configuration of another issuer"));
  }
  Endpoints endpoints{.authorization = TextOf(document, "authorization_endpoint"),
                      .device_authorization = TextOf(document, "device_authorization_endpoint"),
                      .token = {},
                      .revocation = TextOf(document, "revocation_endpoint")};
  ASSIGN_OR_RETURN(endpoints.token, RequiredText(document, "token_endpoint", "configuration"));
  const auto names_itself = document.find("authorization_response_iss_parameter_supported");
  endpoints.names_itself = names_itself != document.end() && *names_itself == true;
  // A browser is sent there.
  const bool is_address =
      endpoints.authorization.starts_with("https://") &&
      std::ranges::all_of(endpoints.authorization, [](char c) { return c > ' ' && c <= '~'; });
  if (!endpoints.authorization.empty() && !is_address) {
    return absl::DataLossError("the issuer's authorization_endpoint is no address of HTTPS");
  }
  return endpoints;
}

absl::StatusOr<Endpoints> EndpointCache::Find(const Transport& transport) {
  constexpr absl::Duration kKept = absl::Minutes(10);
  {
    const absl::MutexLock lock(&mutex_);
    const absl::Duration age = now_() - found_at_;
    // Not of the future, from before the clock was set.
    if (age >= absl::ZeroDuration() && age < (found_.ok() ? kKept : kErrorKept)) return found_;
  }
  absl::StatusOr<Endpoints> found = Discover(issuer_, transport);
  const absl::MutexLock lock(&mutex_);
  found_ = found;
  found_at_ = now_();
  return found;
}

std::string ErrorIn(const https::Response& response) {
  const json object = json::parse(response.body, nullptr, /*allow_exceptions=*/false);
  return object.is_object() ? TextOf(object, "error") : std::string();
}

absl::Status Refused(const https::Response& response) {
  const std::string error = ErrorIn(response);
  return absl::UnavailableError(
      absl::StrCat("the issuer answered with status ", response.status, error.empty() ? "" : ": ", error));
}

json ClaimsIn(std::string_view token) {
  const std::vector<std::string> parts = absl::StrSplit(std::string(token), '.');
  std::string payload;
  if (parts.size() != 3 || !absl::WebSafeBase64Unescape(parts[1], &payload)) return nullptr;
  json claims = json::parse(payload, nullptr, /*allow_exceptions=*/false);
  return claims.is_object() ? claims : json();
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

absl::StatusOr<Tokens> Renew(const std::string& token_endpoint, const https::Fields& client,
                             const Tokens& old, const Transport& transport) {
  https::Fields fields = {{"grant_type", "refresh_token"}, {"refresh_token", old.refresh_token}};
  fields.insert(fields.end(), client.begin(), client.end());
  ASSIGN_OR_RETURN(const https::Response response, transport.post(token_endpoint, fields));
  if (ErrorIn(response) == "invalid_grant") {
    return absl::UnauthenticatedError("the issuer does not renew this login any more");
  }
  if (response.status != 200) return Refused(response);
  ASSIGN_OR_RETURN(Tokens tokens, TokensIn(response));
  // An access token is no replacement for an ID token, which the issuer need not renew.
  if (tokens.is_id_token != old.is_id_token) {
    return absl::UnauthenticatedError("the issuer renews this login without an ID token");
  }
  // An issuer that gives no new one leaves the old one valid.
  if (tokens.refresh_token.empty()) tokens.refresh_token = old.refresh_token;
  return tokens;
}

}  // namespace curator::oidc
