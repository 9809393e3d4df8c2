// Combines all imports of a dataset into one table. Thread-safe: pure functions but for reading files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/data/coded_columns.h"
#include "dp/data/sealed_table.h"
#include "dp/domain/domain.h"
#include "records/manifest.h"
#include "records/row_choice.h"
#include "records/segment.h"
#include "records/unit_counts.h"

namespace curator::records {

struct CombinedRecords {
  dp::CodedColumns columns;
  dp::RowOwner owner = dp::RowOwner::kItself;
  // Each row's unit or group, numbered from 0 in the order of their first records; empty where rows have
  // none.
  std::vector<uint32_t> group_of_row;
  UnitCounts units;  // or groups, by number; empty where rows have none
  int64_t records_dropped = 0;
};

// Reads the segments of `manifest` from `folder` in their order. Of each unit records are kept up to its
// bound across all imports: the first ones where all imports come from files, and else those that RowChoice
// chooses with `hash` among the records of all imports. Of a group whose records are units, all are kept.
// `elsewhere` are the numbers of records that units already have in other parts, which count towards the
// bound. Errors: DATA_LOSS when a segment is missing or is not the one that was imported; FAILED_PRECONDITION
// when one was imported under another schema, or there are more than dp::kMaxRows records.
absl::StatusOr<CombinedRecords> CombineSegments(const std::filesystem::path& folder, const Manifest& manifest,
                                                const dp::Schema& schema, const RowHash& hash,
                                                const ByUnit<uint32_t>& elsewhere = {});

// INVALID_ARGUMENT (field "csv"), for the owner, when a group has more than `most` records in the segments of
// `manifest`, all of which are read; other errors as above.
absl::Status CheckGroupSizes(const std::filesystem::path& folder, const Manifest& manifest,
                             const TableShape& shape, int64_t most);

}  // namespace curator::records
