// The records that a prior-aware estimate may give weight to, with the shares that public data gives them.
//
// Immutable and thread-safe. All of it is public.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/data/coded_columns.h"
#include "dp/data/public_table.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/prior/iterative_estimation.h"

namespace curator::dp {

// The most rows of a prior.
inline constexpr int64_t kMostPriorRows = int64_t{1} << 24;

// The most codes of a prior that are held by row, 4 bytes each.
inline constexpr int64_t kMostPriorCodes = int64_t{1} << 30;

// INVALID_ARGUMENT ("settings.prior") for a table of no rows, of too many, or of other sizes than `domain`.
absl::Status CheckPrior(const Domain& domain, const PublicTable& table);

// INVALID_ARGUMENT ("settings.prior") where rows times attributes exceed kMostPriorCodes.
absl::Status CheckPriorCodes(int64_t rows, size_t attributes);

class PriorRecords {
 public:
  // The distinct rows of `table`, cut to `attributes` (rising, not empty), in lexicographic order. The table
  // is over `domain`. Errors: those of CheckPrior() and CheckPriorCodes(); CANCELLED as in Pacer.
  static absl::StatusOr<PriorRecords> DistinctOf(const Domain& domain, const PublicTable& table,
                                                 AttributeSet attributes, Pacer& pacer);

  // Every cell of the product of `attributes`, in row-major order; those that are not in the table have the
  // share 0. Further errors: INVALID_ARGUMENT ("settings.support") for more than `most_cells` cells.
  static absl::StatusOr<PriorRecords> AllCells(const Domain& domain, const PublicTable& table,
                                               AttributeSet attributes, int64_t most_cells, Pacer& pacer);

  const AttributeSet& attributes() const { return attributes_; }
  int64_t size() const { return columns_.rows(); }
  const CodedColumns& columns() const { return columns_; }  // of attributes(), in that order
  std::span<const double> shares() const { return shares_; }

  // Which cell of the marginal each record lies in. Errors: INVALID_ARGUMENT for a set that is not within
  // attributes() or has 2^32 cells or more; CANCELLED as in Pacer.
  absl::StatusOr<std::vector<uint32_t>> CellsOf(const AttributeSet& set, Pacer& pacer) const;

  // CellsOf(), and which cells have a record.
  absl::StatusOr<MarginalOfRecords> MarginalOf(const AttributeSet& set, Pacer& pacer) const;

 private:
  PriorRecords(AttributeSet attributes, CodedColumns columns)
      : attributes_(std::move(attributes)), columns_(std::move(columns)) {}

  AttributeSet attributes_;
  CodedColumns columns_;
  std::vector<double> shares_;
};

// Which cell of the marginal `set` each of the records lies in; `columns` are those of `attributes`, both in
// that order.
absl::StatusOr<std::vector<uint32_t>> CellsOfRecords(const AttributeSet& attributes,
                                                     const CodedColumns& columns, const AttributeSet& set,
                                                     Pacer& pacer);

// The groups of a prior-aware estimate and the region that each lies in.
struct GroupsInRegions {
  AttributeSet group_key;  // whose cells are the groups
  std::vector<int64_t> region_of_group;
};

// Where the public table has every group's records in one region only (a PUMA lies in one state), the groups
// are the cells of the group attributes, each in that region; a group without public records lies in the
// region that has most of them. Otherwise the groups are the cells of region and group attributes together.
// Holds 8 bytes for each region and each group, and 8 for each of 2^19 rows. Errors: INVALID_ARGUMENT
// ("settings.group", "settings.region") for more than `most_groups`, at most 2^32, groups or regions;
// CANCELLED as in Pacer.
absl::StatusOr<GroupsInRegions> FindNesting(const Domain& domain, const PublicTable& table,
                                            const AttributeSet& region, const AttributeSet& group,
                                            int64_t most_groups, Pacer& pacer);

}  // namespace curator::dp
