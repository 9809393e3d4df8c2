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

// The largest change of `answers_of(unit)` over all pairs of `units` in which neighbouring tables may differ:
// one of them is empty under ADD_REMOVE, any two under REPLACE_ONE. `answers_of` returns the same number of
// integers for each unit.
template <typename Unit, typename AnswersOf>
Sensitivity LargestChange(const std::vector<Unit>& units, NeighbourRelation relation, AnswersOf answers_of) {
  Sensitivity largest;
  for (const Unit& before : units) {
    for (const Unit& after : units) {
      if (relation == NeighbourRelation::kAddRemove && !before.empty() && !after.empty()) continue;
      const std::vector<int64_t> one = answers_of(before);
      const std::vector<int64_t> other = answers_of(after);
      Sensitivity moved;
      for (size_t i = 0; i < one.size(); ++i) {
        const int64_t change = std::abs(one[i] - other[i]);
        moved.l1 += change;
        moved.l2_squared += change * change;
        moved.linf = std::max(moved.linf, change);
      }
      largest.l1 = std::max(largest.l1, moved.l1);
      largest.l2_squared = std::max(largest.l2_squared, moved.l2_squared);
      largest.linf = std::max(largest.linf, moved.linf);
    }
  }
  return largest;
}

}  // namespace curator::dp
