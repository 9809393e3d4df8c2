#include "records/combine.h"

#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"

namespace curator::records {
namespace {

// Numbers units or groups in the order of their first records, and limits the records of each.
class UnitBounds {
 public:
  UnitBounds(int64_t max_records, const ByUnit<uint32_t>& elsewhere)
      : max_records_(max_records), elsewhere_(elsewhere) {}

  // The number of the unit, or none when it is full.
  std::optional<uint32_t> Admit(const UnitKey& key) {
    const auto known = numbers_.find(key);
    const int64_t here = known == numbers_.end() ? 0 : units_.records[known->second];
    const auto other = elsewhere_.find(key);
    const int64_t there = other == elsewhere_.end() ? 0 : other->second;
    if (here + there >= max_records_) return std::nullopt;
    if (known != numbers_.end()) {
      ++units_.records[known->second];
      return known->second;
    }
    const auto number = static_cast<uint32_t>(units_.keys.size());
    numbers_.emplace(key, number);
    units_.keys.push_back(key);
    units_.records.push_back(1);
    return number;
  }

  UnitCounts TakeUnits() && { return std::move(units_); }

 private:
  int64_t max_records_;
  const ByUnit<uint32_t>& elsewhere_;
  ByUnit<uint32_t> numbers_;
  UnitCounts units_;  // of each number, so far
};

void AppendWhole(const RowBlock& block, CombinedRecords& combined) {
  for (size_t i = 0; i < block.codes.size(); ++i) combined.columns.AppendCodes(i, block.codes[i]);
}

void AppendWithinBounds(const RowBlock& block, RowChoice& choice, UnitBounds& bounds,
                        CombinedRecords& combined) {
  std::vector<size_t> kept;
  for (size_t row = 0; row < block.rows; ++row) {
    if (!choice.Keeps(block, row)) continue;
    const std::optional<uint32_t> unit = bounds.Admit(block.groups[row]);
    if (!unit) continue;
    kept.push_back(row);
    combined.group_of_row.push_back(*unit);
  }
  combined.records_dropped += static_cast<int64_t>(block.rows - kept.size());
  if (kept.size() == block.rows) return AppendWhole(block, combined);

  std::vector<std::byte> kept_codes;
  for (size_t i = 0; i < block.codes.size(); ++i) {
    const size_t width = dp::BytesOf(combined.columns.width(i));
    kept_codes.resize(kept.size() * width);
    for (size_t k = 0; k < kept.size(); ++k) {
      std::memcpy(kept_codes.data() + k * width, block.codes[i].data() + kept[k] * width, width);
    }
    combined.columns.AppendCodes(i, kept_codes);
  }
}

// How many records are kept of a unit, or of a group of records that are units of their own: none of them may
// make way for another.
int64_t BoundOf(const dp::Schema& schema, dp::RowOwner owner) {
  if (owner == dp::RowOwner::kItselfInGroup) return dp::kNoRecordBound;
  return dp::UnitBoundOf(schema, dp::NeighbourRelation::kAddRemove).max_records;
}

absl::Status ReadBlocks(const std::filesystem::path& folder, const Manifest& manifest,
                        const TableShape& shape, const std::function<absl::Status(const RowBlock&)>& take) {
  for (const ImportEntry& entry : manifest.imports) {
    ASSIGN_OR_RETURN(const std::unique_ptr<SegmentReader> segment,
                     SegmentReader::Open(folder / entry.request_id, shape));
    while (true) {
      ASSIGN_OR_RETURN(const RowBlock* const block, segment->Next());
      if (block == nullptr) break;
      RETURN_IF_ERROR(take(*block));
    }
    RETURN_IF_ERROR(segment->Finish(entry.segment_digest));
  }
  return absl::OkStatus();
}

// Where rows have no order: limits the units that have more records than `bound`, and looks at all rows.
absl::Status Choose(const std::filesystem::path& folder, const Manifest& manifest, const TableShape& shape,
                    int64_t bound, const ByUnit<uint32_t>& elsewhere, RowChoice& choice) {
  ByUnit<int64_t> counts;
  RETURN_IF_ERROR(ReadBlocks(folder, manifest, shape, [&](const RowBlock& block) {
    for (const UnitKey& unit : block.groups) ++counts[unit];
    return absl::OkStatus();
  }));
  for (const auto& [unit, count] : counts) {
    const auto other = elsewhere.find(unit);
    const int64_t kept = bound - (other == elsewhere.end() ? 0 : int64_t{other->second});
    if (count > kept) choice.Limit(unit, kept);
  }
  if (!choice.HasLimits()) return absl::OkStatus();
  return ReadBlocks(folder, manifest, shape, [&](const RowBlock& block) {
    choice.See(block);
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status CheckGroupSizes(const std::filesystem::path& folder, const Manifest& manifest,
                             const TableShape& shape, int64_t most) {
  ByUnit<int64_t> sizes;
  return ReadBlocks(folder, manifest, shape, [&](const RowBlock& block) {
    for (const UnitKey& group : block.groups) {
      if (++sizes[group] <= most) continue;
      return InvalidField("csv", absl::StrCat("brings more than ", most,
                                              " records into one group, which schema.nesting.max_group_size "
                                              "rules out; the whole file is refused"));
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<CombinedRecords> CombineSegments(const std::filesystem::path& folder, const Manifest& manifest,
                                                const dp::Schema& schema, const RowHash& hash,
                                                const ByUnit<uint32_t>& elsewhere) {
  if (manifest.RowsAccepted() > dp::kMaxRows) {
    return absl::FailedPreconditionError(absl::StrCat("a dataset holds at most ", dp::kMaxRows, " records"));
  }
  const TableShape shape = ShapeOf(schema);
  CombinedRecords combined{.columns = dp::CodedColumns(shape.sizes),
                           .owner = shape.owner,
                           .group_of_row = {},
                           .units = {},
                           .records_dropped = 0};
  for (size_t i = 0; i < shape.sizes.size(); ++i) {
    combined.columns.Reserve(
        i, static_cast<size_t>(manifest.RowsAccepted()) * dp::BytesOf(combined.columns.width(i)));
  }
  const int64_t bound = BoundOf(schema, shape.owner);
  RowChoice choice(hash, shape);
  if (bound != dp::kNoRecordBound && shape.owner == dp::RowOwner::kUnit && !manifest.RowsHaveOrder())
    RETURN_IF_ERROR(Choose(folder, manifest, shape, bound, elsewhere, choice));
  UnitBounds bounds(bound, elsewhere);
  RETURN_IF_ERROR(ReadBlocks(folder, manifest, shape, [&](const RowBlock& block) {
    if (shape.owner == dp::RowOwner::kItself) {
      AppendWhole(block, combined);
    } else {
      AppendWithinBounds(block, choice, bounds, combined);
    }
    return absl::OkStatus();
  }));
  combined.units = std::move(bounds).TakeUnits();
  return combined;
}

}  // namespace curator::records
