// Who makes a call.
//
// Every use case takes a Principal, so an unauthenticated call cannot reach a use case. The compiler allows
// only rpc::Authenticator to make one from a call (tests/types); `.ci/tidy` limits the one other way,
// OfStoredRow(), to the files named there.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

namespace curator::rpc {
class Authenticator;
}  // namespace curator::rpc

namespace curator {

class PrincipalForTest;

// An authenticated name. A value type: copyable, comparable by name, thread-safe to read.
class Principal {
 public:
  // The principal of a row that the ledger stored. Only for work on stored rows: recounting, repair, and
  // ending charges that no process works on. No input of a request may reach it: `.ci/tidy` allows it in
  // server/ledger and server/service/release_once.cc alone.
  static Principal OfStoredRow(std::string name) { return Principal(std::move(name)); }

  const std::string& name() const { return name_; }

  bool operator==(const Principal&) const = default;
  std::strong_ordering operator<=>(const Principal&) const = default;

 private:
  friend class rpc::Authenticator;
  friend class PrincipalForTest;

  explicit Principal(std::string name) : name_(std::move(name)) {}

  std::string name_;
};

// Checks the name of a caller, or of a principal that a request names, such as a grantee: 1 to 128 letters,
// digits, or any of "._@-". Errors: INVALID_ARGUMENT (principal).
absl::Status CheckPrincipalName(std::string_view name);

}  // namespace curator
