// Counting a few joints once and summing them up is cheaper than counting each marginal from the rows: the
// choice of joints.
//
// Thread-safe: pure functions of public sizes. Greedy: neighbouring sets are covered together where they fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

struct Joint {
  AttributeSet attributes;
  std::vector<size_t> members;  // which of the sets are summed from it; each lies within `attributes`
};

// Joints that cover each set exactly once. A joint has at most `max_cells` cells, or is one of the sets
// itself. `sets` are valid for `domain` and have cell counts. Takes time proportional to the number of sets
// times a constant, whatever the sets.
std::vector<Joint> PlanJoints(const Domain& domain, const std::vector<AttributeSet>& sets, int64_t max_cells);

}  // namespace curator::dp
