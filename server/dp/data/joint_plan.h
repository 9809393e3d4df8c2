// Counting a few joints once and summing them up is cheaper than counting each marginal from the rows: the
// choice of joints.
//
// Thread-safe: pure functions of public sizes and of the number of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

// The largest power of two up to `rows`; 0 of 0. What is decided by the number of rows is decided by this, so
// that one record more or less changes it for few tables.
int64_t MagnitudeOf(int64_t rows);

struct Joint {
  AttributeSet attributes;
  std::vector<size_t> members;  // which of the sets are summed from it; each lies within `attributes`
};

// Joints that cover each set exactly once. A joint has at most `max_cells` cells, or is one of the sets
// itself. `sets` are valid for `domain` and have cell counts. Takes time proportional to the number of sets
// times a constant, whatever the sets. Greedy: neighbouring sets are covered together where they fit.
std::vector<Joint> PlanJoints(const Domain& domain, const std::vector<AttributeSet>& sets, int64_t max_cells);

// What it takes to count these joints over so many rows and to sum their members up, in nanoseconds of a
// core: a model of the loops in joint_counter.cc and project_counts.cc, to compare plans by. A joint that
// leaves the first cache costs more per row, and one with many cells more to sum up.
double CountingCost(const Domain& domain, const std::vector<AttributeSet>& sets,
                    const std::vector<Joint>& joints, int64_t rows);

// The cheapest of a few such plans, from small joints to large ones, for a table with MagnitudeOf(rows).
std::vector<Joint> PlanForRows(const Domain& domain, const std::vector<AttributeSet>& sets, int64_t rows);

}  // namespace curator::dp
