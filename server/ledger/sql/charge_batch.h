// T1 for many charges in one transaction: each is decided by itself, in order, and the commit is shared.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ledger/ledger.h"
#include "ledger/sql/change.h"

namespace curator::ledger::sql {

struct WantedCharge {
  const ChargeRequest* request = nullptr;  // outlives the batch; no two of a batch have the same key
  std::string charge_id;                   // for the case that it is new
  std::string token;
};

// What became of each of `wanted`: an attempt, or why it was refused; a refusal does not touch its
// neighbours. The attempt of a COMMITTED charge has charge.release_id and no release: reading it is no part
// of T1. An error of the function itself is the store's, and nothing was decided.
absl::StatusOr<std::vector<absl::StatusOr<Attempt>>> DecideBatch(Change& change,
                                                                 const std::vector<WantedCharge>& wanted);

}  // namespace curator::ledger::sql
