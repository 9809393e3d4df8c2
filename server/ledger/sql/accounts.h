// Accounts: opened with their dataset or later, and which of them a charge concerns.
//
// Thread-safe: functions over one transaction.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/history/entry_payload.h"
#include "ledger/ledger.h"
#include "ledger/sql/database.h"

namespace curator::ledger::sql {

// Writes the account, its counters and its members. Its entry is the caller's to append.
absl::StatusOr<OpenedAccount> OpenAccount(Transaction& transaction, const AccountSpec& spec,
                                          const std::string& dataset_id, const std::string& lineage_id);

// ABORTED unless `request` posts to the dataset's own account, to its principal's and to that of each group
// that the principal belongs to, as far as the lineage has them: a charge is priced before its transaction
// begins, and an account may have been opened in between.
absl::Status CheckPostsToAllConcerned(Transaction& transaction, const std::string& lineage_id,
                                      const ChargeRequest& request);

}  // namespace curator::ledger::sql
