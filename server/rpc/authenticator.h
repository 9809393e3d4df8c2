// Who makes a call. The one place of the program that makes a Principal of what a client sends.
//
// Thread-safe.
#pragma once

#include <grpcpp/server_context.h>

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/principal.h"
#include "directory/changes.h"

namespace curator::rpc {

// The metadata key in which a client names its principal in development mode.
inline constexpr char kPrincipalKey[] = "curator-principal";

// In development mode every answer has this metadata, so that nobody takes it for more.
inline constexpr char kSecurityKey[] = "curator-security";
inline constexpr char kNoSecurity[] = "none: development mode believes any name";

// What a call has proved: that it comes from this identity.
struct Proof {
  directory::Identity identity = {};
  std::string key_thumbprint = {};  // of a signed token: the issuer's key that verified it
  std::string name = {};            // what the issuer calls the identity; proves nothing
  // Of a signed token: when the person logged in at the issuer; none where it does not say.
  std::optional<absl::Time> logged_in = std::nullopt;
  absl::Time expires = absl::InfiniteFuture();
};

struct Caller {
  Principal principal;
  Proof proof = {};
  std::string credential_id = {};  // of the directory: what links the proof to the principal
};

// Errors of all methods: those of auth/faults.h, UNAUTHENTICATED for what the caller must mend.
class Authenticator {
 public:
  virtual ~Authenticator() = default;

  // The principal that makes the call. Does not block.
  virtual absl::StatusOr<Caller> Identify(const grpc::ServerContextBase& context) = 0;
  // What the call proves, also where no principal belongs to it. Does not block.
  virtual absl::StatusOr<Proof> Prove(const grpc::ServerContextBase& context) = 0;
  // Whether a caller that was identified before may go on: it is not disabled, and its proof not withdrawn.
  virtual absl::Status CheckStill(const Caller& caller) = 0;

 protected:
  static Principal PrincipalOf(std::string name) { return Principal(std::move(name)); }
};

// Development mode: the name that the client gives is trusted, which provides no security at all.
class DevelopmentAuthenticator final : public Authenticator {
 public:
  // UNAUTHENTICATED when the call names no principal, or more than one; INVALID_ARGUMENT for a name that no
  // principal can have.
  absl::StatusOr<Caller> Identify(const grpc::ServerContextBase& context) override;
  // FAILED_PRECONDITION: nothing is proved.
  absl::StatusOr<Proof> Prove(const grpc::ServerContextBase& context) override;
  absl::Status CheckStill(const Caller&) override { return absl::OkStatus(); }
};

}  // namespace curator::rpc
