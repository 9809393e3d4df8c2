// Steps that changes of datasets, parts and accounts share.
//
// Thread-safe: functions over one transaction or one change.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/history/entry_payload.h"
#include "ledger/ledger.h"
#include "ledger/sql/database.h"
#include "ledger/sql/write_set.h"

namespace curator::ledger::sql {

// The key under which a client may repeat a change of a dataset: it finds what the first request did.
struct RequestKey {
  std::string principal;
  std::string request_id;
  std::string fingerprint;  // distinguishes a retry from another request under the same id
};

// The id of the dataset that an earlier run of the same request created or changed; empty when there was
// none. Errors: ALREADY_EXISTS when another request has used the id.
absl::StatusOr<std::string> FindByRequest(Transaction& transaction, const RequestKey& key);
absl::Status RecordRequest(Transaction& transaction, const RequestKey& key, const std::string& dataset_id);

// datasets.name of a deleted dataset: no name that a dataset can have, and after all of them.
std::string NameOfDeleted(std::string_view dataset_id);

// Appends an entry whose payload is one text. The dataset's chain is locked.
void AppendNote(WriteSet& change, std::string_view dataset_id, const char* kind, std::string_view note,
                std::string_view actor);

// Appends the entry of the rules that hold from now on. The dataset's chain is locked.
void AppendRules(WriteSet& change, std::string_view dataset_id, const RulesSet& rules,
                 std::string_view actor);

// Draws the id of a new account, another one in each run of a transaction.
using NewAccountId = std::function<int64_t()>;

// Writes the account under an id that was drawn, its counters and its members. The caller appends the entry.
// An id that is taken is a conflict of the transaction, which then runs again.
absl::StatusOr<OpenedAccount> OpenAccount(WriteSet& change, int64_t id, const AccountSpec& spec,
                                          const std::string& dataset_id, const std::string& lineage_id);

// ABORTED unless `request` posts to the dataset's own account, to its principal's and to that of each group
// that the principal belongs to, as far as the lineage has them: a charge is priced before its transaction
// begins, and an account may have been opened in between.
absl::Status CheckPostsToAllAccounts(WriteSet& change, const LockedDataset& dataset,
                                     const ChargeRequest& request);

}  // namespace curator::ledger::sql
