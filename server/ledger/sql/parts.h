// The parts of a partitioned dataset: made with it or added later, each sealed on its own.
//
// Thread-safe: functions over one change.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "ledger/ledger.h"
#include "ledger/sql/change.h"

namespace curator::ledger::sql {

// Writes the part with its bins and its account, and appends its entry. The dataset's chain is locked.
// Errors: ALREADY_EXISTS when the name is taken, INVALID_ARGUMENT when a bin lies in another part.
absl::Status InsertPart(Change& change, const PartSpec& part, const std::string& dataset_id,
                        const std::string& lineage_id, const std::string& actor);

}  // namespace curator::ledger::sql
