// A checkpoint: the state that a recount of a lineage had reached without a finding. Verification goes on
// from it, so it reads the newer entries alone. An editor of a checkpoint could hide edits of older entries
// until the next pass over all of them, so it is kept with the anchor and never in the database.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "ledger/history/recount.h"

namespace curator::ledger {

// Canonical bytes (base/canonical_bytes.h), tag "curator.ledger.checkpoint". All datasets of `state` are
// whole.
std::string EncodeCheckpoint(const RecountState& state);

// DATA_LOSS for bytes that EncodeCheckpoint() would not write.
absl::StatusOr<RecountState> ParseCheckpoint(std::string_view bytes);

}  // namespace curator::ledger
