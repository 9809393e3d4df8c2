// Errors of failed calls, and whether and when to send a request again.
//
// An error is an absl::Status whose payloads are the google.rpc details that the server sent, each under its
// type URL ("type.googleapis.com/google.rpc.QuotaFailure", ...); the functions here read them.
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

// An invalid field of a request.
struct FieldViolation {
  std::string field;  // a path: "schema.attributes[2].integer.bin_width"
  std::string description;
  bool operator==(const FieldViolation&) const = default;
};

// One full counter of an account; an account with two appears twice. Amounts are exact decimals.
struct FullAccount {
  std::string account;  // "dataset/census"
  std::string rule;     // "ZCDP"
  std::string counter;  // "rho"
  std::string asked;
  std::string remaining;
  std::string description;  // the same as a sentence, for display
  bool operator==(const FullAccount&) const = default;
};

// The same code and message, with the details of the trailer as payloads. A trailer that cannot be parsed is
// ignored.
absl::Status FromGrpc(const grpc::Status& status);

// The invalid fields that the server named; empty for other errors.
std::vector<FieldViolation> FieldViolations(const absl::Status& status);

// The accounts that could not take the charge. Not empty exactly when the error is an exhausted budget;
// nothing was charged then.
std::vector<FullAccount> FullAccounts(const absl::Status& status);

// The delay that the server asks for before the same request is sent again; none when it asks for none.
std::optional<std::chrono::milliseconds> RetryDelay(const absl::Status& status);

// The constant that names the cause ("LEDGER_CONTRADICTS_ITSELF"); empty when the server named none.
std::string Reason(const absl::Status& status);

// What the server added to the reason under this key ("max_age_seconds"); empty when it added nothing.
std::string Metadata(const absl::Status& status, const std::string& key);

// Whether the caller has used up what it may use of the server: RetryDelay() says when it may ask again. No
// account is full.
bool IsOverQuota(const absl::Status& status);

// Whether the server says that it refused the request and changed nothing: it is overloaded, its disk is
// full, or the caller is over a quota. The request can be sent again, and no outcome is unknown.
bool WasRefused(const absl::Status& status);

// Whether the request may have reached the server and been charged though no answer came back.
bool IsOutcomeUnknown(const absl::Status& status);

// What a request ends with whose last attempt ended with `last`, after one that ended with `earlier`, whose
// outcome is unknown. `last`, where it settles what became of the earlier attempt: under one request id the
// server first looks for a charge. Else a status whose outcome is unknown, with the message of `last`.
absl::Status AfterUnknownOutcome(const absl::Status& earlier, const absl::Status& last);

// UNAVAILABLE because the connection to `server` was lost; `cause` is the last error of the transport.
absl::Status Unreachable(std::string_view server, std::string_view cause);

// UNAVAILABLE because no connection was ever made: nothing was sent, so nothing can have been charged.
absl::Status NeverReached(std::string_view server);

// Whether Unreachable() or NeverReached() made the status: no server sent it.
bool IsUnreachable(const absl::Status& status);

bool IsNeverReached(const absl::Status& status);

// ---- Retries
//
// Only errors after which the request id makes a repetition safe are retried: UNAVAILABLE (the outcome may be
// unknown; the server finds an earlier charge under the same id and replays it), and ABORTED with RetryInfo
// and IsOverQuota() (the server reports that nothing happened). All other errors are final.

struct RetryPolicy {
  std::chrono::milliseconds first_delay{100};  // doubled after every failure ...
  std::chrono::milliseconds longest_delay{1000};
  std::chrono::milliseconds window{3000};  // no attempt begins later than this after the first failure
};

bool MayRetry(const absl::Status& status);

// The wait after `failures` (>= 1) failed attempts, the last of which ended with `status`: between half and
// all of the doubled delay; where the server asked for more, that and up to half of it in addition. The share
// is derived from `request_id`, so that clients that failed at the same time do not retry at the same time.
std::chrono::milliseconds DelayAfter(const RetryPolicy& policy, int failures, const absl::Status& status,
                                     std::string_view request_id);

}  // namespace curator::client
