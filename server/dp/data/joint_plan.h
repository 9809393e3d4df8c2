// The choice of joints: marginals that are counted from the rows, and from which the requested marginals are
// then summed, because that is cheaper than counting each requested marginal from the rows.
//
// Thread-safe: pure functions of public sizes and of the number of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

// The largest power of two up to `rows`; 0 for 0. Decisions that depend on the number of rows use this value,
// so that for most tables one record more or less does not change them.
int64_t MagnitudeOf(int64_t rows);

struct Joint {
  AttributeSet attributes;
  std::vector<size_t> members;  // which of the sets are summed from it; each lies within `attributes`
};

// Joints that cover each set exactly once. A joint has at most `max_cells` cells, or is one of the sets
// itself. `sets` are valid for `domain` and have cell counts. Takes time proportional to the number of sets
// times a constant, whatever the sets. Greedy: neighbouring sets are covered together where they fit.
std::vector<Joint> PlanJoints(const Domain& domain, const std::vector<AttributeSet>& sets, int64_t max_cells);

// The estimated time, in nanoseconds of a core, to count these joints over `rows` rows and to sum their
// members: a model of the loops in joint_counter.cc, for comparing plans. A joint that leaves the first cache
// costs more per row, and one with many cells more to sum up.
double CountingCost(const Domain& domain, const std::vector<AttributeSet>& sets,
                    const std::vector<Joint>& joints, int64_t rows);

// The cheapest of a few of these plans, from small joints to large ones, for a table with MagnitudeOf(rows).
std::vector<Joint> PlanForRows(const Domain& domain, const std::vector<AttributeSet>& sets, int64_t rows);

}  // namespace curator::dp
