// The whole truth of a lineage: recounted from its entries alone, then compared with tables and anchor.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "ledger/anchor/anchor_state.h"
#include "ledger/ledger.h"
#include "ledger/sql/database.h"

namespace curator::ledger::sql {

// What Ledger::Verify() answers. `anchored` was read before the transaction began.
absl::StatusOr<Verification> VerifyDataset(Transaction& transaction, const AnchorState& anchored,
                                           std::string_view dataset_id);

}  // namespace curator::ledger::sql
