// Requests over HTTPS, for what speaks to an identity provider: the program that fetches keys, `curator
// login`, and the dashboard. The only code that links libcurl.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace curator::https {

struct Options {
  // Who may sign the servers' certificates, a PEM file, and nobody else; empty: the system's.
  std::string authorities = {};
};

struct Response {
  long status = 0;
  std::string body;
};

// No redirect is followed: an issuer's keys and tokens come from the addresses that it names. Errors:
// INVALID_ARGUMENT for an address that does not begin with "https://", UNAVAILABLE for everything else
// without a whole response: no connection, a certificate that is not the host's, more than 1 MiB, more than
// 10 seconds.
absl::StatusOr<Response> Get(const std::string& url, const Options& options = {});
// A form (application/x-www-form-urlencoded).
using Fields = std::vector<std::pair<std::string, std::string>>;
absl::StatusOr<Response> PostForm(const std::string& url, const Fields& fields, const Options& options = {});

// The body of a Get() that was answered with 200; UNAVAILABLE for any other status.
absl::StatusOr<std::string> GetBody(const std::string& url, const Options& options = {});

}  // namespace curator::https
