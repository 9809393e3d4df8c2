// Logs in at an identity provider by the device authorization grant (RFC 8628): the user opens a page in any
// browser, also on another machine, and enters a code. Tokens are renewed by a refresh token (RFC 6749, 6).
//
// Not thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/https/https.h"
#include "client/oidc/issuer.h"

namespace curator::cli {

// Where to log in: what the server says, or flags.
struct LoginPlace {
  std::string issuer;
  std::string client_id;
  std::string scope = "openid profile offline_access";
};

using oidc::Tokens;

// How the flow reaches the world.
struct LoginParts {
  std::function<absl::StatusOr<https::Response>(const std::string& url)> get;
  std::function<absl::StatusOr<https::Response>(const std::string& url, const https::Fields& fields)> post;
  std::function<absl::Time()> now;
  std::function<void(absl::Duration)> sleep;
  // Says to the user where to go, and the code to enter there.
  std::function<void(const std::string& url, const std::string& code)> show;
};

// Whether the user has to log in anew at an issuer where he has done so before. An issuer need not heed it in
// this flow: the token says (LoginTimeIn()).
enum class Freshness { kAsBefore, kFresh };

// Returns when the user has logged in. Errors: UNAVAILABLE when the issuer cannot be reached at first or
// answers with another error than the following, FAILED_PRECONDITION when it has no device flow,
// PERMISSION_DENIED when the user refused, DEADLINE_EXCEEDED when the code expired, DATA_LOSS for an answer
// that cannot be read.
absl::StatusOr<Tokens> LogIn(const LoginPlace& place, const LoginParts& parts,
                             Freshness freshness = Freshness::kAsBefore);

// When the user logged in, as a token says (auth_time) that nobody has verified; none where it does not say.
std::optional<absl::Time> LoginTimeIn(std::string_view token);

// New tokens for old ones, by their refresh token. Errors: LoginHasEnded() when the issuer does not accept it
// any more or gives no ID token for an old one; UNAVAILABLE and DATA_LOSS as of LogIn().
absl::StatusOr<Tokens> Renew(const LoginPlace& place, const Tokens& old, const LoginParts& parts);

// UNAUTHENTICATED.
absl::Status LoginHasEnded();

}  // namespace curator::cli
