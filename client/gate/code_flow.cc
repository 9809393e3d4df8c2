#include "client/gate/code_flow.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "client/gate/credential.h"
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

// `azp`: the client that asked for a token which is for several.
bool IsForClient(const LoginProvider& provider, const json& claims) {
  const auto audience = claims.find("aud");
  const auto party = claims.find("azp");
  return oidc::TextOf(claims, "iss") == provider.issuer && audience != claims.end() &&
         IsFor(*audience, provider.client_id) && (party == claims.end() || *party == provider.client_id);
}

absl::Status CheckForm(const Tokens& tokens) {
  if (!tokens.is_id_token) return absl::DataLossError("the issuer gave no ID token");
  if (CanBeSent(tokens.token) && oidc::ClaimsIn(tokens.token).is_object()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the issuer's ID token is no JSON Web Token, or has more than ",
                                          kLongestCredential, " bytes: ", tokens.token.size()));
}

absl::Status CheckIdToken(const LoginProvider& provider, const BegunLogin& login, const Tokens& tokens) {
  RETURN_IF_ERROR(CheckForm(tokens));
  const json claims = oidc::ClaimsIn(tokens.token);
  if (oidc::TextOf(claims, "nonce") != login.nonce) {
    return absl::DataLossError("the issuer's ID token is of another login");
  }
  if (IsForClient(provider, claims)) return absl::OkStatus();
  return absl::DataLossError("the issuer's ID token is not for this client");
}

// A gate with two issuers must not send a code of one to the other, which could use it.
absl::Status CheckIssuer(const LoginProvider& provider, const Endpoints& endpoints,
                         const CodeAnswer& answer) {
  if (answer.issuer == provider.issuer) return absl::OkStatus();
  if (!answer.issuer.empty()) return absl::InvalidArgumentError("another issuer sent the browser back");
  if (!endpoints.names_itself) return absl::OkStatus();
  return absl::InvalidArgumentError("the browser came back without the name of the issuer");
}

std::string SignatureOf(std::string_view text, std::string_view key) {
  std::array<unsigned char, 32> bytes = {};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), bytes.data(), &size);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(bytes.data()), size));
}

}  // namespace

absl::StatusOr<std::string> AddressToLogInAt(const LoginProvider& provider, const BegunLogin& login,
                                             const std::string& redirect, bool fresh) {
  ASSIGN_OR_RETURN(const Endpoints endpoints, provider.endpoints->Find(provider.transport));
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
                                  const std::string& redirect, const CodeAnswer& answer) {
  ASSIGN_OR_RETURN(const Endpoints endpoints, provider.endpoints->Find(provider.transport));
  RETURN_IF_ERROR(CheckIssuer(provider, endpoints, answer));
  https::Fields fields = ClientOf(provider);
  fields.insert(fields.end(), {{"grant_type", "authorization_code"},
                               {"code", answer.code},
                               {"redirect_uri", redirect},
                               {"code_verifier", login.verifier}});
  ASSIGN_OR_RETURN(const https::Response response, provider.transport.post(endpoints.token, fields));
  const bool is_refused = response.status >= 400 && response.status < 500;
  if (is_refused) return absl::PermissionDeniedError(oidc::Refused(response).message());
  if (response.status != 200) return oidc::Refused(response);
  ASSIGN_OR_RETURN(Tokens tokens, oidc::TokensIn(response));
  RETURN_IF_ERROR(CheckIdToken(provider, login, tokens));
  return tokens;
}

absl::StatusOr<Tokens> RenewLogin(const LoginProvider& provider, const std::string& token,
                                  const std::string& refresh_token) {
  ASSIGN_OR_RETURN(const Endpoints endpoints, provider.endpoints->Find(provider.transport));
  ASSIGN_OR_RETURN(Tokens tokens,
                   oidc::Renew(endpoints.token, ClientOf(provider),
                               Tokens{.token = token, .refresh_token = refresh_token, .is_id_token = true},
                               provider.transport));
  if (const absl::Status form = CheckForm(tokens); !form.ok()) {
    return absl::UnauthenticatedError(form.message());
  }
  const json claims = oidc::ClaimsIn(tokens.token);
  const std::string subject = oidc::TextOf(claims, "sub");
  if (!IsForClient(provider, claims) || subject.empty() ||
      subject != oidc::TextOf(oidc::ClaimsIn(token), "sub")) {
    return absl::UnauthenticatedError("the issuer renewed this login as another one");
  }
  return tokens;
}

void RevokeLogin(const LoginProvider& provider, const std::string& refresh_token) {
  const absl::StatusOr<Endpoints> endpoints = provider.endpoints->Find(provider.transport);
  if (!endpoints.ok() || endpoints->revocation.empty()) return;
  https::Fields fields = ClientOf(provider);
  fields.insert(fields.end(), {{"token", refresh_token}, {"token_type_hint", "refresh_token"}});
  static_cast<void>(provider.transport.post(endpoints->revocation, fields));
}

std::string CookieOf(const BegunLogin& login, std::string_view key) {
  const std::string text =
      absl::StrJoin({login.alias, login.state, login.nonce, login.verifier,
                     absl::StrCat(absl::ToUnixSeconds(login.start)), PercentEncoded(login.return_to)},
                    "/");
  return absl::StrCat(text, "/", SignatureOf(text, key));
}

std::optional<BegunLogin> LoginIn(std::string_view cookie, std::string_view key, std::string_view state,
                                  absl::Time now) {
  const size_t end = cookie.rfind('/');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string signature = SignatureOf(cookie.substr(0, end), key);
  const std::string_view sent = cookie.substr(end + 1);
  if (sent.size() != signature.size() || CRYPTO_memcmp(sent.data(), signature.data(), sent.size()) != 0) {
    return std::nullopt;
  }
  const std::vector<std::string> parts = absl::StrSplit(std::string(cookie.substr(0, end)), '/');
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
  const bool is_page = !path.starts_with("/auth/") && !path.starts_with("/api/");
  const bool is_path = path.starts_with('/') && !path.starts_with("//") && path.size() <= 512 && is_page;
  const bool is_plain = std::ranges::all_of(path, [](char c) { return c > ' ' && c <= '~' && c != '\\'; });
  return is_path && is_plain ? std::string(path) : "/";
}

}  // namespace curator::gate
