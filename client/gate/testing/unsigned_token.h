// JSON Web Tokens for tests of what reads their claims and leaves the signature to the server.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/escaping.h"

namespace curator::gate::testing {

inline std::string UnsignedToken(const nlohmann::json& claims) {
  std::string payload = absl::WebSafeBase64Escape(claims.dump());
  while (payload.ends_with('=')) payload.pop_back();
  return "head." + payload + ".signature";
}

// An ID token of one user of https://idp.example, for the client "gate"; another one for each id.
inline std::string UnsignedIdToken(const std::string& id) {
  return UnsignedToken({{"iss", "https://idp.example"}, {"aud", "gate"}, {"sub", "4711"}, {"jti", id}});
}

}  // namespace curator::gate::testing
