// The attribute sets of some query groups and all subsets of them: those whose residuals are measured.
//
// Immutable: thread-safe. Public facts alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "dp/domain/attribute_set.h"

namespace curator::dp {

class ClosedSets {
 public:
  // None for more than `most` sets, or where one of `sets` has more attributes than a product has axes
  // (kMostProductAxes).
  static std::optional<ClosedSets> Create(std::span<const AttributeSet> sets, size_t most);

  // Each once, smaller ones first, those of one size in lexicographic order. The first is the empty one.
  const std::vector<AttributeSet>& sets() const { return sets_; }

  // The positions of all subsets of `set`, which is one of sets(): at each number the subset whose attributes
  // its bits choose, the first attribute by the lowest bit.
  std::vector<uint32_t> SubsetsOf(const AttributeSet& set) const;

 private:
  struct Hash {
    size_t operator()(const AttributeSet& set) const;
  };

  std::vector<AttributeSet> sets_;
  std::unordered_map<AttributeSet, uint32_t, Hash> positions_;
};

// The attributes of `set` that the bits of `subset` choose.
AttributeSet SubsetOf(const AttributeSet& set, size_t subset);

}  // namespace curator::dp
