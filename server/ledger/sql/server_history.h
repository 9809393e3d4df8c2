// The server's own history (ledger.h) in the store: principals, credentials and roles, as a hash chain like a
// dataset's, in a table of its own. It has no counters and no lineage.
//
// Thread-safe: functions over transactions.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/anchor/anchor_state.h"
#include "ledger/sql/database.h"
#include "ledger/sql/verify.h"
#include "ledger/types.h"

namespace curator::ledger::sql {

// The place of the newest entry; seq 0 before the first one.
absl::StatusOr<EntryPlace> ReadServerHead(Transaction& transaction);

// Entries with seq > `after_seq`, ascending, at most `limit`.
absl::StatusOr<std::vector<Entry>> ReadServerEntries(Transaction& transaction, int64_t after_seq,
                                                     int64_t limit);

// DATA_LOSS unless the history whose newest entry is `head` continues what the anchor knows of it, or has an
// entry REPAIRED that says that this was lost.
absl::Status CheckServerHead(Transaction& transaction, const EntryPlace& head, const AnchorView& anchored);

// Recomputes the chain and compares it with the anchor, which was read before. Contradictions are findings;
// errors are the store's.
absl::StatusOr<Verification> VerifyServerEntries(const ReadTransaction& read, const AnchorState& anchored);

}  // namespace curator::ledger::sql
