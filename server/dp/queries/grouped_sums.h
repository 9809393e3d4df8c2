// Integer sums over groups of records, of a number that each record has by itself: what is added, and to
// which sum. How far one privacy unit can move them: dp/sensitivity/sensitivity.h.
//
// Everything here is computed from public facts. Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/domain/number_column.h"

namespace curator::dp {

// Groups of records by the cells that they lie in: disjoint, so each record is in one group or in none.
inline constexpr int32_t kInNoGroup = -1;
struct RecordGroups {
  AttributeSet attributes;
  std::vector<int32_t> group_of_cell;  // of each cell of the marginal, the last attribute varying fastest
  int64_t groups = 1;
  bool operator==(const RecordGroups&) const = default;
};

// The groups by each cell of `by`, of the records in the `cells` (rising) of the marginal over `where`; of
// all records where `where` is empty. Groups are numbered as the cells of `by`. Errors: INVALID_ARGUMENT (no
// field) beyond kMostGroupCells.
inline constexpr int64_t kMostGroupCells = int64_t{1} << 22;
absl::StatusOr<RecordGroups> GroupsBy(const Domain& domain, const AttributeSet& by, const AttributeSet& where,
                                      const std::vector<uint32_t>& cells);

// The number that a record adds. A record without a number in `column` adds 0.
struct SummedValue {
  enum class Kind {
    kOne,     // 1 (without a column: for every record)
    kValue,   // its value in steps minus the centre
    kSquare,  // the square of that, in steps of StepOfSquares(), minus CentreOfSquares()
  };
  Kind kind = Kind::kOne;
  std::optional<uint32_t> column;  // a number column of the table
  int64_t centre = 0;              // in steps, within the column's numbers or 0; 0 for kOne
  bool operator==(const SummedValue&) const = default;
};

// Squares are divided by this, a power of two, and rounded to the nearest of at most 2^20 steps.
int64_t StepOfSquares(const NumberColumn& column, int64_t centre);
// The middle of these integers, which is subtracted.
int64_t CentreOfSquares(const NumberColumn& column, int64_t centre);

// What a record whose column has this code adds. `code` is at most column.steps.
int64_t AddedBy(const SummedValue& value, const NumberColumn& column, int64_t code);

// The least and the largest number that a record adds, of the records that have a number. Errors:
// INVALID_ARGUMENT (no field) for a column that has no numbers, and when a record can add more than
// kLargestSummand in absolute value.
inline constexpr int64_t kLargestSummand = int64_t{1} << 20;
struct SummandRange {
  int64_t low = 0;
  int64_t high = 0;
  bool operator==(const SummandRange&) const = default;
};
absl::StatusOr<SummandRange> RangeOf(const Domain& domain, const SummedValue& value);

// Divides each group by the codes of a column: block b has the codes from b * width on. Records with the code
// for missing values are in no block. The sum of block b of group g is number g * blocks + b.
struct CodeBlocks {
  uint32_t column = 0;  // of a table: an attribute (its run_size() codes) or a measure (its points)
  int64_t width = 1;
  bool operator==(const CodeBlocks&) const = default;
};
// The number of codes that blocks divide.
int64_t CodesOf(const Domain& domain, uint32_t column);
int64_t NumberOfBlocks(const Domain& domain, const CodeBlocks& blocks);

// One sum for each group, or for each block of each group.
struct GroupedSum {
  RecordGroups groups;
  std::optional<CodeBlocks> blocks;
  SummedValue value;
  bool operator==(const GroupedSum&) const = default;
};
int64_t NumberOfSums(const Domain& domain, const GroupedSum& sum);

// The code, of a column's CodesOf(), in which a quantile of each group lies.
struct GroupedQuantile {
  RecordGroups groups;
  uint32_t column = 0;
  int64_t numerator = 1;
  int64_t denominator = 2;  // at most kLargestQuantileDenominator
  bool operator==(const GroupedQuantile&) const = default;
};

// INVALID_ARGUMENT (no field) for malformed groups (not one group number for each cell, numbers outside of
// 0..groups-1, more than kMostGroupCells cells or sums), columns and values.
absl::Status Validate(const Domain& domain, const RecordGroups& groups);
absl::Status Validate(const Domain& domain, const GroupedSum& sum);
absl::Status Validate(const Domain& domain, const GroupedQuantile& quantile);

}  // namespace curator::dp
