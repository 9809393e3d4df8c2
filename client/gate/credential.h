// What a browser's session proves to the server with: the user's own, never the gate's, which has none.
//
// A value.
#pragma once

#include <grpcpp/client_context.h>

#include <string>
#include <string_view>

namespace curator::gate {

struct Credential {
  enum class Kind {
    kNone,   // nobody is signed in
    kName,   // of a development server, which believes it
    kToken,  // an API token that the user pasted
    kLogin,  // a token of an identity provider
  };
  Kind kind = Kind::kNone;
  std::string text = {};

  // "none", "name", "token", "login".
  std::string_view KindName() const {
    constexpr std::string_view kNames[] = {"none", "name", "token", "login"};
    return kNames[static_cast<int>(kind)];
  }
  void AddTo(grpc::ClientContext& context) const {
    if (kind == Kind::kName) context.AddMetadata("curator-principal", text);
    if (kind == Kind::kToken || kind == Kind::kLogin) context.AddMetadata("authorization", "Bearer " + text);
  }
};

inline constexpr size_t kLongestCredential = 8'192;  // bytes

// Whether a header of HTTP can carry it: printable ASCII, 1 to kLongestCredential bytes. Anything else is no
// token and no name, and must not be sent.
inline bool CanBeSent(std::string_view credential) {
  if (credential.empty() || credential.size() > kLongestCredential) return false;
  for (const char c : credential) {
    if (c < '!' || c > '~') return false;
  }
  return true;
}

}  // namespace curator::gate
