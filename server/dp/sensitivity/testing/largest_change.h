// The sensitivity of small examples by brute force.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {

// How far two vectors of the same length are apart.
inline Sensitivity ChangeBetween(const std::vector<int64_t>& one, const std::vector<int64_t>& other) {
  Sensitivity moved;
  for (size_t i = 0; i < one.size(); ++i) {
    const int64_t change = std::abs(one[i] - other[i]);
    moved.l1 += change;
    moved.l2_squared += change * change;
    moved.linf = std::max(moved.linf, change);
  }
  return moved;
}

// The larger of both, norm by norm.
inline Sensitivity Largest(const Sensitivity& one, const Sensitivity& other) {
  return {.l1 = std::max(one.l1, other.l1),
          .l2_squared = std::max(one.l2_squared, other.l2_squared),
          .linf = std::max(one.linf, other.linf)};
}

// The largest change of `answers_of(unit)` over all pairs of `units` in which neighbouring tables may differ:
// one of them is empty under ADD_REMOVE, any two under REPLACE_ONE. `answers_of` returns the same number of
// integers for each unit.
template <typename Unit, typename AnswersOf>
Sensitivity LargestChange(const std::vector<Unit>& units, NeighbourRelation relation, AnswersOf answers_of) {
  Sensitivity largest;
  for (const Unit& before : units) {
    for (const Unit& after : units) {
      if (relation == NeighbourRelation::kAddRemove && !before.empty() && !after.empty()) continue;
      largest = Largest(largest, ChangeBetween(answers_of(before), answers_of(after)));
    }
  }
  return largest;
}

}  // namespace curator::dp
