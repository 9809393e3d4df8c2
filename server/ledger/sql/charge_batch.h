// T1 for many charges in one transaction: each is decided by itself, in order, and the commit is shared.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ledger/ledger.h"
#include "ledger/sql/admission.h"
#include "ledger/sql/change.h"

namespace curator::ledger::sql {

struct WantedCharge {
  const ChargeRequest* request = nullptr;  // outlives the batch; no two of a batch have the same key
  ChargeIdentity identity;                 // for the case that it is new
  EncodedCharge encoded;                   // until a guess takes it; empty: encoded when needed
};

// What became of each of `wanted`: an attempt, or why it was refused; a refusal does not touch its
// neighbours. The attempt of a fresh charge tells no more than that and when; Complete() adds the rest. The
// attempt of a COMMITTED charge has charge.release_id and no release: reading it is no part of T1. An error
// of the function itself is the store's, and nothing was decided.
absl::StatusOr<std::vector<absl::StatusOr<Attempt>>> DecideBatch(Change& change,
                                                                 const std::vector<WantedCharge>& wanted);

// Adds to the attempt of a fresh charge what `request` and the charge's identity say.
Attempt Complete(Attempt attempt, const ChargeRequest& request, const ChargeIdentity& identity);

// The same for a change that is a guess: every one is taken for new and has to fit. ABORTED when one does
// not, because nobody is refused on a guess; that none is known the store's unique key has to say. Takes what
// was encoded out of `wanted`.
absl::StatusOr<std::vector<absl::StatusOr<Attempt>>> DecideGuess(Change& guess,
                                                                 std::vector<WantedCharge>& wanted);

// The chains and accounts that a batch concerns.
struct Concerned {
  std::set<std::string> dataset_ids;
  std::set<int64_t> account_ids;
};
Concerned ConcernedBy(const std::vector<WantedCharge>& wanted);

}  // namespace curator::ledger::sql
