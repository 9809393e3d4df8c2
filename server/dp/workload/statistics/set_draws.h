// What was drawn for one set of statistics: found by what it is.
//
// Thread-safe: immutable values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/domain/number_column.h"
#include "dp/workload/interval_tree.h"
#include "dp/workload/statistics/asked_statistics.h"
#include "dp/workload/statistics/fieller.h"
#include "dp/workload/statistics/statistics_plan.h"

namespace curator::dp {

// The sum of a column: how it is read from two draws. Of a draw its position in the list.
struct SumParts {
  size_t sum = 0;
  int64_t centre = 0;           // what was subtracted from each value, in steps
  std::optional<size_t> count;  // where the centre is not 0, or where a mean is asked
};

// The levels of a tree, the bins first, which all have the same noise.
struct TreeParts {
  IntervalTree tree;
  std::vector<size_t> levels;
};

class SetDraws {
 public:
  // All must outlive it. Errors: DATA_LOSS unless the set is one that Validate() accepts for some unit, and
  // `draws` and `bought` have the same length, with draws of this set on columns of the domain.
  static absl::StatusOr<SetDraws> Create(const Domain& domain, std::span<const AskedStatistics> sets,
                                         size_t set, std::span<const StatisticsDraw> draws,
                                         std::span<const BoughtDraw> bought);

  // Errors: DATA_LOSS for what was not drawn.
  absl::StatusOr<size_t> Count(std::optional<uint32_t> column) const;
  absl::StatusOr<SumParts> Sum(uint32_t column) const;
  absl::StatusOr<size_t> Squares(uint32_t column, int64_t centre) const;
  absl::StatusOr<size_t> Units() const;
  std::optional<size_t> Selection(uint32_t column, int32_t thousandths) const;
  absl::StatusOr<TreeParts> Tree(uint32_t column) const;

  // The deviations and bounds of a column's moments; the squares' are of a variance alone. Without numbers.
  absl::StatusOr<NoisyMoments> MomentsOf(const Statistic& statistic) const;

  const NoiseSpec& noise(size_t draw) const { return bought_[draw].noise; }
  double Deviation(size_t draw) const;

  // The same for the laws of fieller.h, which know no lattice. Of noise so small that its lattice shows, that
  // of the continuous noise of this parameter, which is larger: a mean times a count moves by whole means.
  double DeviationOfLaw(size_t draw) const;

 private:
  SetDraws(const Domain& domain, size_t set, std::span<const StatisticsDraw> draws,
           std::span<const BoughtDraw> bought)
      : domain_(&domain), set_(set), draws_(draws), bought_(bought) {}
  std::optional<size_t> Find(const std::variant<SumDraw, QuantileDraw, UnitsDraw>& what) const;
  absl::StatusOr<size_t> Needed(const SummedValue& value) const;

  const Domain* domain_;
  size_t set_;
  std::span<const StatisticsDraw> draws_;
  std::span<const BoughtDraw> bought_;
};

absl::Status LacksDraws();  // DATA_LOSS

}  // namespace curator::dp
