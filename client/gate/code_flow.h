// Logins of browsers at an identity provider: the authorization code flow (OpenID Connect Core, 3.1) with
// PKCE (RFC 7636), a state and a nonce.
//
// Functions that ask the issuer block. Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/gate/http.h"
#include "client/oidc/issuer.h"

namespace curator::gate {

// Where users log in, and as what the gate is registered there.
struct LoginProvider {
  std::string alias;  // in addresses: "corp"
  std::string issuer;
  std::string client_id;
  std::string client_secret;  // empty: a public client
  std::string scope = "openid profile";
  oidc::Transport transport = {};
  std::shared_ptr<oidc::EndpointCache> endpoints = std::make_shared<oidc::EndpointCache>(issuer);
};

// A login that has begun: what its end has to match. A value.
struct BegunLogin {
  std::string alias;
  std::string state;
  std::string nonce;
  std::string verifier;   // of PKCE
  std::string return_to;  // a path of the gate's
  absl::Time start = {};
};

// The address at the issuer to send the browser to. `fresh`: the user has to log in again although the issuer
// knows it. Errors: of oidc::Discover(), FAILED_PRECONDITION where the issuer has no such flow.
absl::StatusOr<std::string> AddressToLogInAt(const LoginProvider& provider, const BegunLogin& login,
                                             const std::string& redirect, bool fresh);

// What an issuer sends a browser back with.
struct CodeAnswer {
  std::string code;
  std::string issuer;  // who says that it answers (RFC 9207); empty where the answer does not say so
};

// The tokens for a code. Their ID token is for this client and this login; its signature is checked by the
// server that it is presented to. Errors: of oidc::Discover(); PERMISSION_DENIED when the issuer refuses the
// code; INVALID_ARGUMENT for an answer of another issuer, whose code is sent nowhere, and for one that does
// not name this issuer although it says that it does; DATA_LOSS for tokens without an ID token, or with
// another's.
absl::StatusOr<oidc::Tokens> RedeemCode(const LoginProvider& provider, const BegunLogin& login,
                                        const std::string& redirect, const CodeAnswer& answer);

// Errors: of oidc::Discover() and oidc::Renew(); UNAUTHENTICATED for the token of another login.
absl::StatusOr<oidc::Tokens> RenewLogin(const LoginProvider& provider, const std::string& token,
                                        const std::string& refresh_token);

// Revokes the refresh token (RFC 7009) where the issuer has an endpoint for that. An issuer that refuses is
// not asked again: the token then ends by itself.
void RevokeLogin(const LoginProvider& provider, const std::string& refresh_token);

inline constexpr absl::Duration kLongestLogin = absl::Minutes(10);

// A login that has begun, as a cookie that its browser keeps until it returns: the gate keeps nothing, so
// that nobody can use up its room. `key` is a secret of the gate's, without which nobody makes a cookie.
std::string CookieOf(const BegunLogin& login, std::string_view key);
// The login of a cookie; none for what CookieOf() does not make, for another state, and for one that took
// longer than kLongestLogin.
std::optional<BegunLogin> LoginIn(std::string_view cookie, std::string_view key, std::string_view state,
                                  absl::Time now);

// A path of the gate's own pages, for after a login; "/" for anything else, such as another site's address.
std::string SafeReturn(std::string_view path);

}  // namespace curator::gate
