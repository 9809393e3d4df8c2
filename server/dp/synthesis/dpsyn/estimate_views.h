// Estimates views that agree and have no negative counts from noisy ones.
//
// Functions of public noisy answers; thread-safe.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/synthesis/dpsyn/consistency.h"
#include "dp/synthesis/dpsyn/view_table.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

enum class Estimator {
  kShrunk,  // consistent, shrunk towards independence (ShrinkView()), raked until all agree
  kRipple,  // the paper's: consistency and Ripple in turns
};

struct ViewEstimation {
  Estimator estimator = Estimator::kShrunk;
  double threshold = 1;  // of Ripple
  int rounds = 20;       // of consistency and Ripple, or sweeps of raking, at most
};

// Estimates the views: each cell is 0 or more, and all agree on every shared set, up to rounding. Both hold
// exactly, whatever the number of rounds: a last pass of consistency restores agreement, and cells that it
// leaves below 0 are lifted by mixing each view with its uniform table, all in the same proportion, which
// keeps them in agreement. When the total of the views is not positive, all cells are 0. `shared` are
// SharedSets() of their sets. Errors: CANCELLED as in Pacer.
absl::StatusOr<std::vector<ViewTable>> EstimateViews(const ViewEstimation& rule,
                                                     const std::vector<SharedSet>& shared,
                                                     std::vector<ViewTable> noisy, Pacer& pacer);

// Ripple (Qardaji, Yang, Li 2014; DPSyn 2018, 3.1.4): removes negative counts from a view without changing
// its total. While a cell is below -threshold: it becomes 0, and its deficit is taken in equal parts from its
// h neighbours, the cells that differ from it in one attribute (h is the sum of the attributes' sizes less
// 1). The total stays what it was. Where the total is not positive, or after four times as many steps as
// there are cells, the nearest non-negative counts of that total (of 0 when it is negative) are taken.
// Errors: CANCELLED as in Pacer.
absl::Status Ripple(double threshold, ViewTable& view, Pacer& pacer);

// Shrinkage of noisy views towards what their smaller marginals imply.
//
// A large view has many cells with little in them but noise. Empirical Bayes: a cell is its expectation from
// smaller marginals (for a pair of attributes: their independence) plus a deviation, whose variance is
// estimated over all cells of the view with about the same expectation, from the noisy deviations themselves.
// The estimate is the posterior mean: expectation + v / (v + sigma^2) * deviation. Where deviations are
// beyond what noise explains (by two standard errors), they are kept; where not, they are removed. Pairs are
// shrunk towards independence, and a view of more attributes towards the largest entropy with its pairs. Then
// the nearest table is sought that is not negative and has the well-known counts of single attributes
// (ProjectOnto()).

// Shrinks `view` (noise of view.variance on each cell) towards `expected`, cell by cell; results may be
// negative. `freedom` of the noise's dimensions are left when what both have in common is taken away.
void ShrinkTowards(const std::vector<double>& expected, double freedom, ViewTable& view);

// Shrinks a view of any number of attributes as above, to cells of 0 or more; `singles[a]` are the counts of
// attribute a, 0 or more, all with the same total. Views of fewer than two attributes become those counts.
// Errors: CANCELLED as in Pacer.
absl::Status ShrinkView(const std::vector<std::vector<double>>& singles, ViewTable& view, Pacer& pacer);

}  // namespace curator::dp
