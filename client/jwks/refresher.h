// Keeps the key files of a server (server/auth/issuer_keys.h) up to date: fetches each issuer's keys from
// time to time, and when the server asks for them because it has met a key that it does not know.
//
// Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace curator::jwks {

struct FetchedIssuer {
  std::string alias;     // names the file
  std::string issuer;    // its "iss", a URL
  std::string jwks_uri;  // of its keys; found by OpenID Connect Discovery where it is empty
};

struct Settings {
  std::string folder;
  std::string wake_socket;  // the server's "jwks_wake_socket"
  std::string authorities;  // PEM; empty: the system's
  absl::Duration refresh = absl::Minutes(10);
  std::vector<FetchedIssuer> issuers;
};

// Strict, as the server's own configuration. INVALID_ARGUMENT that names the member.
absl::StatusOr<Settings> ParseSettings(std::string_view json);

class Refresher {
 public:
  // From one fetch of an issuer's keys to the next one that is asked for, however many ask.
  static constexpr absl::Duration kCoolDown = absl::Seconds(30);

  struct Parts {
    std::function<absl::StatusOr<std::string>(const std::string& url)> fetch;
    std::function<absl::Time()> now;
    // A line for the log: the issuer's alias, and what became of the fetch.
    std::function<void(std::string_view alias, const absl::Status& status)> report;
  };
  Refresher(Settings settings, Parts parts);

  // Fetches what is due. Returns when the next one is.
  absl::Time Run();
  // The server asks for the keys of this issuer: due at once, or when the last fetch is kCoolDown old.
  // Unknown aliases are ignored.
  void Ask(std::string_view alias);

 private:
  struct State {
    absl::Time next = absl::InfinitePast();
    absl::Time last_fetch = absl::InfinitePast();
  };

  absl::Status Refresh(const FetchedIssuer& issuer);
  absl::StatusOr<std::string> KeysUri(const FetchedIssuer& issuer);
  absl::Status Write(const FetchedIssuer& issuer, std::string_view content) const;

  const Settings settings_;
  const Parts parts_;
  std::map<std::string, State, std::less<>> states_;  // by alias
};

}  // namespace curator::jwks
