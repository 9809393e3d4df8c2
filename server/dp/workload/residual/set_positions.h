// Finds the positions of attribute sets, and of all subsets of one, in a list that is closed under subsets.
//
// In the order of sizes, and of one size in lexicographic order, the sets that add one last attribute to a
// set follow one another, and those of the next set follow them: a tree whose nodes know where their children
// begin. A look-up takes a step for each attribute where a set's children are nearly all that there could be,
// as in "all k-way", and a binary search for each attribute otherwise.
//
// Immutable: thread-safe. Public facts alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dp/domain/attribute_set.h"

namespace curator::dp {

// The number of subsets of a set of so many attributes.
constexpr size_t SubsetsOfSize(size_t attributes) {
  return size_t{1} << attributes;
}

class SetPositions {
 public:
  // Of no sets.
  SetPositions() = default;

  // None unless each set occurs once and all subsets of each are there. In any order; positions are those in
  // `sets`.
  static std::optional<SetPositions> Create(std::span<const AttributeSet* const> sets);

  std::optional<uint32_t> Find(const AttributeSet& set) const;

  // For each number that chooses a subset of `set`, which is there, its position: the first attribute is
  // chosen by the lowest bit.
  std::vector<uint32_t> SubsetsOf(const AttributeSet& set) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  bool IsClosed(std::span<const AttributeSet* const> sets) const;
  // The node whose set has this attribute behind those of `node`'s; kNone where there is none.
  uint32_t ChildOf(uint32_t node, uint32_t attribute) const;

  std::vector<uint32_t> last_;      // the last attribute of each node's set; that of the first has no meaning
  std::vector<uint32_t> children_;  // where each node's children begin, and where the last node's end
  std::vector<uint32_t> position_;  // of each node's set
};

}  // namespace curator::dp
