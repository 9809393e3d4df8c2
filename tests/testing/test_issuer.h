// An issuer of tokens in a test, with the folder that a server reads its keys from.
//
// Thread-safe but for its construction.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "auth/testing/forged_tokens.h"

namespace curator::testing {

class TestIssuer {
 public:
  static constexpr char kIssuer[] = "https://idp.example";

  // Makes the folder, with the keys of the alias "corp".
  explicit TestIssuer(const std::string& folder) {
    const nlohmann::json document = {
        {"issuer", kIssuer},
        {"fetched_at", absl::FormatTime(absl::RFC3339_full, absl::Now(), absl::UTCTimeZone())},
        {"keys", auth::TokenKeys::Shared().Published()}};
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/corp.json") << document.dump();
  }

  // For the audience "curator"; issued an hour ago.
  std::string TokenOf(const std::string& subject, absl::Duration lifetime = absl::Hours(1)) const {
    return auth::TokenKeys::Shared().ec.Token(ClaimsOf(subject, lifetime));
  }
  // One that says that the person logged in so long ago, and was issued an hour ago or now.
  std::string TokenOfLogin(const std::string& subject, absl::Duration age, bool is_new = false) const {
    nlohmann::json claims = ClaimsOf(subject, absl::Hours(1));
    claims["auth_time"] = absl::ToUnixSeconds(absl::Now() - age);
    if (is_new) claims["iat"] = absl::ToUnixSeconds(absl::Now());
    return auth::TokenKeys::Shared().ec.Token(claims);
  }

 private:
  static nlohmann::json ClaimsOf(const std::string& subject, absl::Duration lifetime) {
    const int64_t now = absl::ToUnixSeconds(absl::Now());
    return {{"iss", kIssuer},
            {"sub", subject},
            {"aud", "curator"},
            {"iat", now - 3600},
            {"exp", now + absl::ToInt64Seconds(lifetime)},
            {"preferred_username", subject}};
  }
};

}  // namespace curator::testing
