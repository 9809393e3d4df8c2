// Fetches a document over HTTPS. The only code of this program that touches the network.
//
// Not thread-safe.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace curator::jwks {

struct FetchOptions {
  std::string authorities;  // who signs the servers' certificates, a PEM file; the system's where it is empty
};

// The body of `url`, which must begin with "https://". No redirect is followed: an issuer's keys come from the
// address that it names. Errors: INVALID_ARGUMENT for another kind of address, UNAVAILABLE for everything else:
// no connection, a certificate that is not the host's, another status than 200, more than 1 MiB, more than 10
// seconds.
absl::StatusOr<std::string> FetchHttps(const std::string& url, const FetchOptions& options);

}  // namespace curator::jwks
