// Which pairs or triples of attributes are wanted, and how many blocks hold each.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

class TargetIndex {
 public:
  // Targets of two attributes each, or of three each, all below `attributes`.
  TargetIndex(size_t attributes, const std::vector<AttributeSet>& targets);

  // How many blocks hold the target.
  int32_t Count(const AttributeSet& target) const { return counts_[At(target)]; }

  // A block comes (+1) or goes (-1).
  void AddBlock(const AttributeSet& block, int32_t change);

  // Wanted targets in no block so far that `attribute` and others of `block` make up.
  int64_t Uncovered(const AttributeSet& block, uint32_t attribute) const {
    return WithCount(block, attribute, 0);
  }

  // Targets that `attribute`, of `block`, and others of it make up and that are in this block only.
  int64_t OnlyThrough(const AttributeSet& block, uint32_t attribute) const {
    return WithCount(block, attribute, 1);
  }

  // Targets in this block only.
  int64_t OnlyIn(const AttributeSet& block) const;

  // Adds `change` to the targets that `attribute` and others of `block` make up.
  void AddThrough(const AttributeSet& block, uint32_t attribute, int32_t change);

 private:
  static constexpr int32_t kUnwanted = 1 << 20;  // far from 0 and 1, whatever is added

  size_t At(const AttributeSet& target) const {
    return target.size() == 2 ? At(target[0], target[1]) : At(target[0], target[1], target[2]);
  }
  size_t At(uint32_t a, uint32_t b) const { return a * attributes_ + b; }
  size_t At(uint32_t a, uint32_t b, uint32_t c) const { return (a * attributes_ + b) * attributes_ + c; }

  // Visits the places of the targets that `attribute` and others of `block` make up.
  template <typename Visit>
  void Through(const AttributeSet& block, uint32_t attribute, Visit visit) const;

  int64_t WithCount(const AttributeSet& block, uint32_t attribute, int32_t count) const;

  size_t attributes_;
  size_t strength_;
  std::vector<int32_t> counts_;
};

}  // namespace curator::dp
