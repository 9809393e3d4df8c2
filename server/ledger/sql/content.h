// What the history says about the sealed content of a dataset or a part.
//
// Thread-safe: functions over one change, which has the dataset's chain locked.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "ledger/sql/change.h"

namespace curator::ledger::sql {

// Appends an entry that is a note of one text.
void AppendNote(Change& change, std::string_view dataset_id, const char* kind, std::string_view note,
                std::string_view actor);

// Notes each dataset of another lineage that has the same content, whole or in one of its parts: the same
// people under another name.
absl::Status NoteEqualContent(Change& change, const LockedDataset& dataset, std::string_view content_hash,
                              std::string_view actor);

}  // namespace curator::ledger::sql
