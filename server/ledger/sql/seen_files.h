// What owners have seen of files, in rows that are never changed or deleted.
//
// A row has the file and what the schema said about values; the latter is empty for a look at the file
// itself. Of an owner with kMostSeenFiles rows a further file becomes a row without the file; of one with
// kMostSeenSchemas more, a row with neither, which stands for anything. So the rows never stand for less than
// what was seen.
//
// Thread-safe: functions over transactions.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/sql/database.h"
#include "ledger/types.h"

namespace curator::ledger::sql {

absl::Status InsertSeen(Transaction& transaction, const std::string& owner,
                        const std::vector<SeenFile>& seen);

// Whether a row stands for a look of the owner at this file.
absl::StatusOr<bool> IsLookRemembered(Transaction& transaction, const std::string& owner,
                                      const std::string& file_hash);

}  // namespace curator::ledger::sql
