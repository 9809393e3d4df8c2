// The errors that carry structured details beside their message: a bad field, full accounts, a quota,
// overload, a dataset that damage has made read-only, a rule of the owner, a login that is too old, what has
// to be accepted, the one dataset of several, and what replaces a message that is for operators.
//
// The details are payloads of an absl::Status, so that modules without protobuf can create them and rpc can
// convert them to google.rpc error details.
//
// Thread-safe: pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace curator {

// One bad field of a request: its path, such as "schema.attributes[2].integer.bin_width", and what is wrong
// and what would be right.
struct FieldViolation {
  std::string field;
  std::string description;

  bool operator==(const FieldViolation&) const = default;
};

// INVALID_ARGUMENT whose message is "field: description".
absl::Status InvalidField(std::string_view field, std::string_view description);

// The violation that InvalidField() attached; none for any other status.
std::optional<FieldViolation> FieldViolationOf(const absl::Status& status);

// The same error with `prefix` before its field's path
// ("schema" + "attributes[0]" = "schema.attributes[0]"). Statuses without a violation are returned unchanged.
absl::Status WithinField(std::string_view prefix, const absl::Status& status);

// One full counter of an account, which cannot take a charge; an account with two appears twice. Amounts are
// in the units of the counter (see dp/accounting/rule.h).
struct FullAccount {
  std::string account;  // e.g. "dataset/census"
  std::string rule;     // e.g. "ZCDP"
  std::string counter;  // e.g. "rho"
  int64_t asked = 0;
  int64_t remaining = 0;

  bool operator==(const FullAccount&) const = default;
};

// RESOURCE_EXHAUSTED that names every full account. A function that returns this has charged nothing.
absl::Status BudgetFull(const std::vector<FullAccount>& accounts);

// The accounts that BudgetFull() attached; empty for any other status.
std::vector<FullAccount> FullAccountsOf(const absl::Status& status);

// RESOURCE_EXHAUSTED because a principal has used up what it may use of the server: no account is full, and
// nothing was done for the request. It may be asked again after `retry_after`.
absl::Status OverQuota(std::string_view message, std::chrono::milliseconds retry_after);

// The delay that OverQuota() attached; none for any other status.
std::optional<std::chrono::milliseconds> QuotaRetryOf(const absl::Status& status);

// UNAVAILABLE because the server is busy: the request was refused before anything was done for it.
absl::Status Overloaded(std::string_view message);

// Whether Overloaded() made the status.
bool IsOverloaded(const absl::Status& status);

// DATA_LOSS for a change of a dataset whose stored history contradicts itself or its anchor. The message
// names the dataset and the remedy, and says nothing about other datasets: any of its users may read it.
absl::Status DatasetReadOnly(std::string_view message);
bool IsDatasetReadOnly(const absl::Status& status);

// ABORTED for a request that was priced from what its dataset was before a change: nothing was charged, and
// the caller reads the dataset again.
absl::Status DatasetChanged();
bool IsDatasetChanged(const absl::Status& status);

// PERMISSION_DENIED because a rule of the dataset's owner refuses the request: nothing was charged. The
// message says nothing but what the caller may know of the rule.
absl::Status RefusedByRule(std::string_view message);
bool IsRefusedByRule(const absl::Status& status);

// PERMISSION_DENIED because the call needs a login of the last `max_age`, and the caller's is older, or none
// is known: nothing was done. Whole seconds.
absl::Status LoginTooOld(std::string_view message, std::chrono::seconds max_age);
// The age that LoginTooOld() attached; none for any other status.
std::optional<std::chrono::seconds> MostLoginAgeOf(const absl::Status& status);

// FAILED_PRECONDITION for what is done only when the request accepts it: nothing was done. `reason` is a
// constant that names what is to be accepted: "SAME_FILE", "EQUAL_CONTENT", "NO_RECORDS",
// "DOMAIN_FROM_RECORDS".
absl::Status NeedsAcceptance(std::string_view reason, std::string_view message);
// The reason that NeedsAcceptance() attached; none for any other status.
std::optional<std::string> AcceptanceNeededBy(const absl::Status& status);

// The same error, of this dataset among those that a request names. The name is as the client wrote it.
absl::Status ConcerningDataset(absl::Status status, std::string_view dataset);
// What ConcerningDataset() attached; none for any other status.
std::optional<std::string> DatasetConcernedBy(const absl::Status& status);

// What a client gets of an error whose own message names hosts, files or statements of the store.
struct PublicError {
  std::string message;
  std::string reason;  // a constant that names the cause ("STORE_FULL"); empty for the name of the code

  bool operator==(const PublicError&) const = default;
};

// The same error, whose message is for operators alone (the log, the server's own commands).
absl::Status ForOperators(absl::Status status, const PublicError& instead);

// What ForOperators() attached; none for any other status.
std::optional<PublicError> PublicErrorOf(const absl::Status& status);

// The message of a status that a client may read: what ForOperators() attached, or else its own.
std::string PublicMessageOf(const absl::Status& status);

}  // namespace curator
