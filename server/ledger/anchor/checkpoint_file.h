// The checkpoints of a ledger's lineages (history/checkpoint.h), below the anchor's folder, because it is not
// restored together with the database: checkpoints/<ledger uuid>.<lineage id>.checkpoint. They have a folder
// of their own: servers list the anchor's again whenever a file is added to it or renamed.
//
// Any checkpoint of a lineage is as good as a newer one, so a write that a crash loses is no loss, and
// servers that share the folder may replace each other's.
//
// Thread-safe for different lineages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "ledger/history/recount.h"

namespace curator::ledger {

struct CheckpointName {
  std::string directory;  // the anchor's
  std::string ledger_uuid;
  std::string lineage_id;
};

// Replaces the lineage's checkpoint. UNAVAILABLE when it cannot be written; INVALID_ARGUMENT for a lineage
// whose id is not made of letters, digits and dashes.
absl::Status WriteCheckpoint(const CheckpointName& name, const RecountState& state);

// OK also when there is none. UNAVAILABLE when it cannot be removed.
absl::Status RemoveCheckpoint(const CheckpointName& name);

// None when there is none, and when the file is damaged, unreadable or of another lineage: all entries are
// then verified.
std::optional<RecountState> ReadCheckpoint(const CheckpointName& name);

}  // namespace curator::ledger
