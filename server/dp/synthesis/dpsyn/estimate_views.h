// From noisy views to views that agree and have no negative counts.
//
// Functions of public noisy answers; thread-safe.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "dp/synthesis/dpsyn/consistency.h"
#include "dp/synthesis/dpsyn/view_table.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

enum class Estimator {
  kShrunk,  // consistent, drawn towards independence (shrinkage.h), raked until all agree
  kRipple,  // the paper's: consistency and Ripple in turns
};

struct ViewEstimation {
  Estimator estimator = Estimator::kShrunk;
  double threshold = 1;  // of Ripple
  int rounds = 20;       // of consistency and Ripple, or sweeps of raking, at most
};

// The views, estimated: each cell is 0 or more, and all agree on every shared set, up to rounding. Both hold
// exactly whatever the rounds: a last pass of consistency restores agreement, and what it leaves below 0 is
// lifted by mixing each view with its uniform table, all in the same proportion, which keeps them in
// agreement. When the views say that there is no record, all are 0. `shared` are SharedSets() of their sets.
// Errors: CANCELLED as in Pacer.
absl::StatusOr<std::vector<ViewTable>> EstimateViews(const ViewEstimation& rule,
                                                     const std::vector<SharedSet>& shared,
                                                     std::vector<ViewTable> noisy, Pacer& pacer);

}  // namespace curator::dp
