// What every login at an identity provider has in common, in a terminal or in a browser: its configuration
// (OpenID Connect Discovery), the answers of its endpoints (RFC 6749), and the renewal of tokens.
//
// Thread-safe where `Transport` is.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/https/https.h"

namespace curator::oidc {

struct Tokens {
  std::string token;  // what a Curator server verifies: the ID token, or the access token where there is none
  std::string refresh_token;  // empty where the issuer gave none
  bool is_id_token = true;
};

// How to reach an issuer; both block.
struct Transport {
  std::function<absl::StatusOr<https::Response>(const std::string& url)> get;
  std::function<absl::StatusOr<https::Response>(const std::string& url, const https::Fields& fields)> post;
};

// Empty where the issuer has none, but for the endpoint for tokens.
struct Endpoints {
  std::string authorization;
  std::string device_authorization;
  std::string token;
  std::string revocation;     // of RFC 7009
  bool names_itself = false;  // where it sends a browser back, it says who it is (RFC 9207)
};

// Errors: UNAVAILABLE when the issuer cannot be reached or answers with another status than 200, DATA_LOSS
// for what is no configuration of this issuer.
absl::StatusOr<Endpoints> Discover(const std::string& issuer, const Transport& transport);

// The endpoints of one issuer, looked up once in ten minutes. Thread-safe.
class EndpointCache {
 public:
  // An error is kept so long: of an issuer that does not answer, only the first who ask wait for it.
  static constexpr absl::Duration kErrorKept = absl::Seconds(10);

  explicit EndpointCache(std::string issuer, std::function<absl::Time()> now = absl::Now)
      : issuer_(std::move(issuer)), now_(std::move(now)) {}

  // Errors: of Discover().
  absl::StatusOr<Endpoints> Find(const Transport& transport);

 private:
  const std::string issuer_;
  const std::function<absl::Time()> now_;
  absl::Mutex mutex_;
  absl::StatusOr<Endpoints> found_ ABSL_GUARDED_BY(mutex_) = absl::UnavailableError("not looked up yet");
  absl::Time found_at_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

// The object of an answer; DATA_LOSS where it is none. `what`: "configuration", for the message.
absl::StatusOr<nlohmann::json> ObjectIn(const https::Response& response, std::string_view what);
// Empty when the member is missing, or no text.
std::string TextOf(const nlohmann::json& object, const char* member);
// DATA_LOSS when it is missing, or no text, or empty.
absl::StatusOr<std::string> RequiredText(const nlohmann::json& object, const char* member,
                                         std::string_view what);

// The code of an error (RFC 6749, 5.2); empty for anything else.
std::string ErrorIn(const https::Response& response);
// UNAVAILABLE, with that code.
absl::Status Refused(const https::Response& response);

// What a token says, which nobody has verified; null where it is no JSON Web Token.
nlohmann::json ClaimsIn(std::string_view token);

// DATA_LOSS for an answer without a token.
absl::StatusOr<Tokens> TokensIn(const https::Response& response);

// New tokens for old ones, by their refresh token, from the endpoint for tokens. `client`: client_id, and
// client_secret where there is one. Errors: UNAUTHENTICATED when the issuer does not accept it any more or
// gives no ID token for an old one; UNAVAILABLE and DATA_LOSS as above.
absl::StatusOr<Tokens> Renew(const std::string& token_endpoint, const https::Fields& client,
                             const Tokens& old, const Transport& transport);

}  // namespace curator::oidc
