// The attribute sets of some query groups and all subsets of them: those whose residuals are measured.
//
// Immutable: thread-safe. Public facts alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dp/domain/attribute_set.h"
#include "dp/workload/residual/set_positions.h"

namespace curator::dp {

class ClosedSets {
 public:
  // None for more than `most` sets, or where one of `sets` has more attributes than a product has axes
  // (kMostProductAxes). Each set rises.
  static std::optional<ClosedSets> Create(std::span<const AttributeSet> sets, size_t most);

  // Each once, smaller ones first, those of one size in lexicographic order. The first is the empty one.
  const std::vector<AttributeSet>& sets() const { return sets_; }

  // The positions of all subsets of `set`, which is one of sets(): SetPositions::SubsetsOf().
  std::vector<uint32_t> SubsetsOf(const AttributeSet& set) const { return positions_.SubsetsOf(set); }

 private:
  std::vector<AttributeSet> sets_;
  SetPositions positions_;
};

}  // namespace curator::dp
