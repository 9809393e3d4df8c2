#include "client/gate/code_flow.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "client/gate/random_text.h"

namespace curator::gate {
namespace {

using nlohmann::json;
using oidc::Endpoints;
using oidc::Tokens;

https::Fields ClientOf(const LoginProvider& provider) {
  https::Fields fields = {{"client_id", provider.client_id}};
  if (!provider.client_secret.empty()) fields.emplace_back("client_secret", provider.client_secret);
  return fields;
}

bool IsFor(const json& audience, const std::string& client_id) {
  if (audience.is_string()) return audience == client_id;
  return audience.is_array() && std::ranges::find(audience, json(client_id)) != audience.end();
}

absl::Status CheckIdToken(const LoginProvider& provider, const BegunLogin& login, const Tokens& tokens) {
  const json claims = tokens.is_id_token ? oidc::ClaimsIn(tokens.token) : json();
  if (!claims.is_object()) return absl::DataLossError("the issuer gave no ID token");
  if (oidc::TextOf(claims, "nonce") != login.nonce) {
    return absl::DataLossError("the issuer's ID token is of another login");
  }
  const auto audience = claims.find("aud");
  if (oidc::TextOf(claims, "iss") == provider.issuer && audience != claims.end() &&
      IsFor(*audience, provider.client_id)) {
    return absl::OkStatus();
  }
  return absl::DataLossError("the issuer's ID token is not for this client");
}

}  // namespace

absl::StatusOr<std::string> AddressToLogInAt(const LoginProvider& provider, const BegunLogin& login,
                                             const std::string& redirect, bool fresh) {
  ASSIGN_OR_RETURN(const Endpoints endpoints, provider.endpoints->Find(provider.issuer, provider.transport));
  if (endpoints.authorization.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(provider.issuer, " has no authorization_endpoint"));
  }
  std::string url = absl::StrCat(endpoints.authorization,
                                 endpoints.authorization.find('?') == std::string::npos ? "?" : "&");
  const https::Fields parameters = {{"response_type", "code"},
                                    {"client_id", provider.client_id},
                                    {"redirect_uri", redirect},
                                    {"scope", provider.scope},
                                    {"state", login.state},
                                    {"nonce", login.nonce},
                                    {"code_challenge", Digest(login.verifier)},
                                    {"code_challenge_method", "S256"}};
  for (const auto& [name, value] : parameters) absl::StrAppend(&url, name, "=", PercentEncoded(value), "&");
  if (fresh) return url + "prompt=login&max_age=0";
  url.pop_back();
  return url;
}

absl::StatusOr<Tokens> RedeemCode(const LoginProvider& provider, const BegunLogin& login,
                                  const std::string& redirect, const std::string& code) {
  ASSIGN_OR_RETURN(const Endpoints endpoints, provider.endpoints->Find(provider.issuer, provider.transport));
  https::Fields fields = ClientOf(provider);
  fields.insert(fields.end(), {{"grant_type", "authorization_code"},
                               {"code", code},
                               {"redirect_uri", redirect},
                               {"code_verifier", login.verifier}});
  ASSIGN_OR_RETURN(const https::Response response, provider.transport.post(endpoints.token, fields));
  if (response.status != 200) return oidc::Refused(response);
  ASSIGN_OR_RETURN(Tokens tokens, oidc::TokensIn(response));
  RETURN_IF_ERROR(CheckIdToken(provider, login, tokens));
  return tokens;
}

absl::StatusOr<Tokens> RenewLogin(const LoginProvider& provider, const std::string& token,
                                  const std::string& refresh_token) {
  ASSIGN_OR_RETURN(const Endpoints endpoints, provider.endpoints->Find(provider.issuer, provider.transport));
  return oidc::Renew(endpoints.token, ClientOf(provider),
                     Tokens{.token = token, .refresh_token = refresh_token, .is_id_token = true},
                     provider.transport);
}

std::string CookieOf(const BegunLogin& login) {
  return absl::StrJoin({login.alias, login.state, login.nonce, login.verifier,
                        absl::StrCat(absl::ToUnixSeconds(login.start)), PercentEncoded(login.return_to)},
                       "/");
}

std::optional<BegunLogin> LoginIn(std::string_view cookie, std::string_view state, absl::Time now) {
  const std::vector<std::string> parts = absl::StrSplit(std::string(cookie), '/');
  int64_t start = 0;
  if (parts.size() != 6 || !absl::SimpleAtoi(parts[4], &start)) return std::nullopt;
  BegunLogin login{.alias = parts[0],
                   .state = parts[1],
                   .nonce = parts[2],
                   .verifier = parts[3],
                   .return_to = SafeReturn(PercentDecoded(parts[5])),
                   .start = absl::FromUnixSeconds(start)};
  const bool is_this = !state.empty() && login.state == state;
  const bool is_now = login.start <= now && now < login.start + kLongestLogin;
  if (!is_this || !is_now) return std::nullopt;
  return login;
}

std::string SafeReturn(std::string_view path) {
  const bool is_path = path.starts_with('/') && !path.starts_with("//") && path.size() <= 512;
  const bool is_plain = std::ranges::all_of(path, [](char c) { return c > ' ' && c <= '~' && c != '\\'; });
  return is_path && is_plain ? std::string(path) : "/";
}

}  // namespace curator::gate
