// T1 for many charges in one transaction. Each charge is decided by itself, in order; the commit is shared.
//
// Belongs to one transaction and one thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ledger/sql/admission.h"
#include "ledger/sql/rows.h"
#include "ledger/sql/write_set.h"
#include "ledger/types.h"

namespace curator::ledger::sql {

// A request, with the identity that its charge gets unless the request's key exists already.
struct ProposedCharge {
  const ChargeRequest* request = nullptr;  // outlives the batch; no two of a batch have the same key
  ChargeIdentity identity;
  EncodedCharge encoded;  // DecideOptimistically() moves it out; empty: encoded when needed
};

// The result of each of `proposed`: an attempt, or the reason for refusal; a refusal does not affect the
// others. An error of the function itself is the store's, and then nothing was decided.
//   new charge        newly_charged and created_at_us only; CompleteNewAttempt() adds the rest
//   COMMITTED charge  charge.release_id, and no release: reading it is not part of T1
//   STARTED charge    the stored charge and sealed key, under the new token
absl::StatusOr<std::vector<absl::StatusOr<Attempt>>> DecideBatch(WriteSet& change,
                                                                 const std::vector<ProposedCharge>& proposed);

// The attempt of a request whose key exists. Errors: ALREADY_EXISTS (another request), FAILED_PRECONDITION (a
// reservation, or forfeited).
absl::StatusOr<Attempt> Resume(StoredCharge stored, const ProposedCharge& proposed);

// Adds to the attempt of a new charge what `request` and the charge's identity determine. Returns other
// attempts unchanged.
Attempt CompleteNewAttempt(Attempt attempt, const ChargeRequest& request, const ChargeIdentity& identity);

// DecideBatch() for an optimistic change: every charge is assumed to be new and must fit. ABORTED when one
// does not, because stale values are no reason to refuse a charge; the store's unique key refuses known keys.
absl::StatusOr<std::vector<absl::StatusOr<Attempt>>> DecideOptimistically(
    WriteSet& change, std::vector<ProposedCharge>& proposed);

// The chains and accounts that a batch locks.
struct LockSet {
  std::set<std::string> dataset_ids;
  std::set<int64_t> account_ids;
};
LockSet LocksFor(const std::vector<ProposedCharge>& proposed);

}  // namespace curator::ledger::sql
