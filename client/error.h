// What a failed call says: an absl::Status whose payloads are the google.rpc details that the server sent,
// each under its type URL ("type.googleapis.com/google.rpc.QuotaFailure", ...), and readers for them.
//
// Thread-safe: pure functions.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace grpc {
class Status;
}

namespace curator::client {

// One bad field of a request.
struct FieldViolation {
  std::string field;  // a path: "schema.attributes[2].integer.bin_width"
  std::string description;
  bool operator==(const FieldViolation&) const = default;
};

// One account that could not take a charge. Amounts are exact decimals.
struct FullAccount {
  std::string account;  // "dataset/census"
  std::string rule;     // "ZCDP"
  std::string counter;  // "rho"
  std::string asked;
  std::string remaining;
  std::string description;  // the same for people
  bool operator==(const FullAccount&) const = default;
};

// The same code and message, with the details of the trailer as payloads. A trailer that cannot be read is
// left out.
absl::Status FromGrpc(const grpc::Status& status);

// The fields that the server refused; empty for errors of any other kind.
std::vector<FieldViolation> FieldViolations(const absl::Status& status);

// The accounts that are full. Not empty exactly when the error is a full budget: nothing was charged then.
std::vector<FullAccount> FullAccounts(const absl::Status& status);

// How long the server asks to wait before the same request is sent again.
std::optional<std::chrono::milliseconds> RetryDelay(const absl::Status& status);

// The constant that names the cause ("LEDGER_BEHIND_ANCHOR"); empty when the server named none.
std::string Reason(const absl::Status& status);

// UNAVAILABLE because the connection to `server` was lost; `cause` says what was seen last.
absl::Status Unreachable(std::string_view server, std::string_view cause);

// UNAVAILABLE because no connection was ever made: nothing was sent, so nothing can have been charged.
absl::Status NeverReached(std::string_view server);

// Whether the status was made by one of the two above, unlike an UNAVAILABLE that a server sent.
bool IsUnreachable(const absl::Status& status);

bool IsNeverReached(const absl::Status& status);

}  // namespace curator::client
