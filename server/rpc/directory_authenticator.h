// Identifies callers by what they prove: a token that a trusted issuer signed, an API token of this
// server's, or a client certificate. Who that is says the directory.
//
// Each listener has one, because what is believed depends on where a call arrives:
//
//   edge         every call has the edge's secret; a client certificate comes in a header, which haproxy
//                alone sets, and is verified again
//   local        tokens; a header with a certificate is refused
//   mutual_tls   the certificate of the connection, verified again, and no token beside it
//
// A call proves exactly one identity. Verified tokens and certificates are remembered for a minute at most,
// and never beyond their end; that their principal is active, and that their issuer's key or the listener's
// authorities are still the same, is looked up in every call.
//
// Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "auth/certificate.h"
#include "auth/issuer_keys.h"
#include "base/lru_cache.h"
#include "config/server_config.h"
#include "directory/directory_store.h"
#include "rpc/authenticator.h"

namespace curator::rpc {

// The header with the edge's secret, and the one with the client's certificate (base64 of its DER).
inline constexpr char kEdgeSecretKey[] = "x-curator-edge";
inline constexpr char kClientCertificateKey[] = "x-curator-client-cert";

// What all listeners of a server share. The parts must outlive the authenticators.
struct IdentityParts {
  directory::DirectoryStore& directory;
  auth::IssuerKeys& issuers;
  // The claim of each issuer (by its "iss") that says what it calls an identity; empty: none.
  std::function<std::string(std::string_view issuer)> name_claim;
  // The keyed hash of an API token's secret (host/server_key.h).
  std::function<std::string(std::string_view secret)> hash_of_secret;
  std::function<absl::Time()> now = absl::Now;
};

// What one listener adds.
struct ListenerTrust {
  config::ListenerKind kind = config::ListenerKind::kLocal;
  std::string edge_secret = {};
  // The authorities for client certificates now, which may be swapped; null: certificates are refused.
  std::function<std::shared_ptr<const auth::ClientAuthorities>()> authorities = [] { return nullptr; };
};

// What a call presents, before anything of it is believed.
struct Presented {
  std::vector<std::string> authorizations = {};  // values of the header
  std::vector<std::string> names = {};           // which are never believed
  std::vector<std::string> edge_secrets = {};
  std::vector<std::string> certificate_headers = {};
  std::optional<std::string> connection_certificate = std::nullopt;  // PEM
};

class DirectoryAuthenticator final : public Authenticator {
 public:
  DirectoryAuthenticator(IdentityParts parts, ListenerTrust listener);

  absl::StatusOr<Caller> Identify(const grpc::ServerContextBase& context) override;
  absl::StatusOr<Proof> Prove(const grpc::ServerContextBase& context) override;
  absl::Status CheckStill(const Caller& caller) override;

  // The same of what a call presents.
  absl::StatusOr<Proof> Prove(const Presented& presented);
  absl::StatusOr<Caller> Identify(const Presented& presented);

 private:
  // Empty when no certificate is presented where one may be.
  absl::StatusOr<std::string> CertificateIn(const Presented& presented) const;
  absl::StatusOr<Proof> ProofByCertificate(const std::string& der);
  absl::StatusOr<Proof> ProofByToken(const std::string& token);
  absl::StatusOr<Proof> ProofByApiToken(std::string_view token) const;
  absl::StatusOr<Proof> VerifySignedToken(const std::string& token);
  struct Verified {
    Proof proof;
    absl::Time until;
    std::shared_ptr<const auth::ClientAuthorities> authorities;  // of a certificate: those that verified it
  };

  // What is remembered of this proof; null when it is to be verified.
  std::shared_ptr<const Verified> Remembered(const std::string& key) const;
  void Remember(const std::string& key, const Proof& proof,
                std::shared_ptr<const auth::ClientAuthorities> authorities = nullptr);
  struct Linked {
    std::string principal;
    std::string credential_id;
  };
  absl::StatusOr<Linked> LinkedTo(const Proof& proof) const;

  const IdentityParts parts_;
  const ListenerTrust listener_;
  mutable LruCache<Verified> verified_;
};

}  // namespace curator::rpc
