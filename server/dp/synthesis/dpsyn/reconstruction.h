// Reconstructs any marginal from known smaller ones (Qardaji, Yang, Li 2014, section 4).
//
// Functions of public noisy answers; thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/dpsyn/view_table.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// The largest sets that views share with `set`, each with the position of the view that has the least noise
// in its cells. In the order of the sets.
std::vector<std::pair<AttributeSet, size_t>> KnownSets(std::span<const ViewTable> views,
                                                       const AttributeSet& set);

// The known marginals of `set`: those over KnownSets().
std::vector<ViewTable> KnownMarginals(std::span<const ViewTable> views, const AttributeSet& set);

// Multiplies `start` (cells from 0 on upwards) by factors of the cells of `known`, each a marginal of it, in
// turns, until no cell of any of them moves by more than `tolerance` of the total, at most `most_sweeps`
// times: iterative proportional fitting. From a uniform start the limit is the distribution of the largest
// entropy with these marginals. A cell of a marginal that is 0 in the table but not in the goal gets it
// evenly. Errors: CANCELLED as in Pacer.
absl::Status FitProportionally(std::span<const ViewTable> known, double tolerance, int most_sweeps,
                               ViewTable& start, Pacer& pacer);

// Brings `table` to the marginals `known` by adding and taking away, which leaves large counts as they are
// where many small ones are noise: in turns, the cells that fall into one cell of a marginal become the
// nearest ones that are not negative and have its sum (alternating projections, von Neumann; the limit meets
// all marginals, and is near the start). Until no cell of a marginal moves by more than `tolerance` of the
// total, at most `most_sweeps` times. Afterwards no cell is negative. Errors: CANCELLED as in Pacer.
absl::Status ProjectOnto(std::span<const ViewTable> known, double tolerance, int most_sweeps,
                         ViewTable& table, Pacer& pacer);

// The table of the least sum of squares with the marginals `known`, which must agree where they overlap: the
// sum over the sets below them of their interactions (what a marginal's averages add to those of its
// subsets), then the nearest that is not negative. Errors: CANCELLED as in Pacer.
absl::Status FitLeastSquares(std::span<const ViewTable> known, ViewTable& table, Pacer& pacer);

}  // namespace curator::dp
