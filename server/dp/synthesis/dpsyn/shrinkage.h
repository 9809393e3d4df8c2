// Draws noisy views towards what their smaller marginals say already.
//
// A large view has many cells with little in them but noise. Empirical Bayes: a cell is its expectation from
// smaller marginals (for a pair of attributes: their independence) plus a deviation, whose variance is
// estimated over all cells of the view with about the same expectation, from the noisy deviations themselves.
// The estimate is the posterior mean: expectation + v / (v + sigma^2) * deviation. Where deviations are
// beyond what noise explains (by two standard errors), they stay; where not, they go. Pairs are drawn towards
// independence, and a view of more attributes towards the largest entropy with its pairs. Then the nearest
// table is sought that is not negative and has the well-known counts of single attributes (ProjectOnto()).
//
// Functions of public noisy answers; thread-safe.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "dp/synthesis/dpsyn/view_table.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// Draws `view` (noise of view.variance on each cell) towards `expected`, cell by cell; results may be
// negative. `freedom` of the noise's dimensions are left when what both have in common is taken away.
void ShrinkTowards(const std::vector<double>& expected, double freedom, ViewTable& view);

// Shrinks a view of any number of attributes as above, to cells of 0 or more; `singles[a]` are the counts of
// attribute a, 0 or more, all with the same total. Views of fewer than two attributes become those counts.
// Errors: CANCELLED as in Pacer.
absl::Status ShrinkView(const std::vector<std::vector<double>>& singles, ViewTable& view, Pacer& pacer);

}  // namespace curator::dp
