// What clients get of the store's errors. Its own words name hosts, files, tables and statements, and are for
// operators (base/errors.h).
//
// Thread-safe: pure functions.
#pragma once

#include "absl/status/status.h"

namespace curator::ledger::sql {

// The same error, with words for clients that its code decides.
absl::Status HideStore(absl::Status status);

// The same for a disk without space: the store refused, so nothing was written. Reason STORE_FULL.
absl::Status StoreIsFull(absl::Status status);

}  // namespace curator::ledger::sql
