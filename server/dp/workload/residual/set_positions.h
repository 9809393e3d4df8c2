// Finds the positions of attribute sets, and of all subsets of one, in a list.
//
// Thread-safe once it is filled. Public facts alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/numeric/int128.h"
#include "dp/domain/attribute_set.h"

namespace curator::dp {

// The number of subsets of a set of so many attributes.
constexpr size_t SubsetsOfSize(size_t attributes) {
  return size_t{1} << attributes;
}

class SetPositions {
 public:
  void Reserve(size_t sets) { positions_.reserve(sets); }

  // The bits of `subset` choose attributes of `set`, which has kMostProductAxes attributes at most: the first
  // one by the lowest bit. Add() changes nothing where the set is there.
  void Add(const AttributeSet& set, size_t subset, uint32_t position);
  bool Contains(const AttributeSet& set, size_t subset) const;

  // For each number that chooses a subset of `set`, all of which are there, its position.
  std::vector<uint32_t> SubsetsOf(const AttributeSet& set) const;

 private:
  using Key = absl::uint128;
  static Key KeyOf(const AttributeSet& set, size_t subset);

  absl::flat_hash_map<Key, uint32_t> positions_;
};

// The attributes of `set` that the bits of `subset` choose.
AttributeSet SubsetOf(const AttributeSet& set, size_t subset);

}  // namespace curator::dp
