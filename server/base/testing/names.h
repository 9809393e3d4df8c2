// Principals and request ids for tests, which have no authenticator.
#pragma once

#include <string>
#include <utility>

#include "base/principal.h"
#include "base/request_names.h"

namespace curator {

class PrincipalForTest {
 public:
  static Principal Named(std::string name) { return Principal(std::move(name)); }
};

inline Principal TestPrincipal(std::string name) {
  return PrincipalForTest::Named(std::move(name));
}

// Aborts unless `text` is a lower-case UUID.
inline RequestId TestRequestId(std::string_view text) {
  return RequestId::Parse(text).value();
}

}  // namespace curator
