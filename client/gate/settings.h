// The configuration file of the gate.
//
// Thread-safe: values and a pure function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace curator::gate {

// An identity provider, at which the gate is registered with the redirect address ORIGIN/auth/callback.
struct ProviderSettings {
  std::string alias;  // 1 to 32 of a-z, 0-9 and "-"
  std::string issuer;
  std::string client_id;
  std::string client_secret_file;  // empty: a public client
  std::string scope = "openid profile";
  std::string authorities;  // PEM file of who signs its certificate; empty: the system's
};

struct Settings {
  std::string listen;          // "unix:/PATH", for a proxy that ends TLS
  std::string origin;          // "https://curator.example", as browsers name it
  std::string server;          // "unix:/PATH", the `local` listener of the Curator server
  std::string metrics_listen;  // "unix:/PATH" or "127.0.0.1:PORT"; empty: none
  std::vector<ProviderSettings> logins;
};

// Errors: INVALID_ARGUMENT, which names the member.
absl::StatusOr<Settings> ParseSettings(std::string_view text);

}  // namespace curator::gate
