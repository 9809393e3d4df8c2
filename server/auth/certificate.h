// X.509 certificates: who a client's names, and whether the files of a TLS listener belong together.
//
// Immutable and thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

struct x509_store_st;

namespace curator::auth {

struct ClientCertificate {
  std::string uri;  // its only URI SAN: the identity
  absl::Time expires;
  std::string fingerprint;  // SHA-256 of the DER
};

// The authorities whose client certificates are accepted.
class ClientAuthorities {
 public:
  // `pem`: their certificates, also intermediate ones. INVALID_ARGUMENT when there is none, or one cannot be
  // read or is not an authority's.
  static absl::StatusOr<ClientAuthorities> Parse(std::string_view pem);

  // The certificate `der` is signed by one of the authorities, for clients, is valid at `now`, and has
  // exactly one URI as subject alternative name; the subject's own name counts for nothing. Errors:
  // NotAccepted() (faults.h), kExpired or kInvalid.
  absl::StatusOr<ClientCertificate> Check(std::string_view der, absl::Time now) const;

 private:
  explicit ClientAuthorities(std::shared_ptr<x509_store_st> store) : store_(std::move(store)) {}

  std::shared_ptr<x509_store_st> store_;
};

// The DER of the first certificate in a PEM, which is not parsed. INVALID_ARGUMENT when there is none.
absl::StatusOr<std::string> DerOfPem(std::string_view pem);

// What a TLS listener reads from its folder.
struct TlsFiles {
  std::string certificate;  // PEM, the server's first
  std::string key;          // PEM
  std::string client_ca;    // PEM
};
// When the certificate ends. INVALID_ARGUMENT, saying which file, when the key is not the certificate's, when
// the certificate is not valid at `now`, and when a file cannot be read.
absl::StatusOr<absl::Time> CheckTlsFiles(const TlsFiles& files, absl::Time now);

}  // namespace curator::auth
