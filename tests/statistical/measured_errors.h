// Plans, the errors that are forecast of them, and those of answers that a kernel drew for them.
//
// Thread-safe: pure functions, each call with its own BitSource.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/noise/bit_source.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/workload/workload_plan.h"

namespace curator::statistics {

enum class Choice {
  kEachSetByItself,  // as plans were made before there were residuals and parities
  kAuto,
  kJoint,  // residuals, or with Laplace noise parities
};

// Under zCDP and pure differential privacy.
dp::Spend RhoOf(double rho);
dp::Spend EpsilonOf(double epsilon);

// What a spend buys for sets that name no strategy. Errors: those of PlanWorkload().
absl::StatusOr<dp::WorkloadPlan> PlanOf(const dp::Domain& domain, const dp::UnitBound& unit,
                                        std::vector<dp::QuerySet> sets, const dp::Spend& spend, Choice choice,
                                        dp::ErrorMeasure objective = dp::ErrorMeasure::kMean);

// Of all answers of all draws.
struct MeasuredErrors {
  double mean_square = 0;
  double deviation_of_it = 0;  // of the mean over the draws, from how the draws differ
  double held = 0;             // the share of answers whose interval at 95% held the true one
  int64_t answers = 0;
};

// Draws a plan from a table of some records as often as asked: the kernel's values, read and given intervals
// as those of a release are.
MeasuredErrors DrawErrors(const dp::Domain& domain, const dp::UnitBound& unit, const dp::WorkloadPlan& plan,
                          int64_t draws, dp::BitSource& bits);

// The forecast of the mean square of all answers, as an estimate of the request has it.
double ForecastOf(const dp::Domain& domain, const dp::WorkloadPlan& plan);

// What plans of one objective or the other make least, as it is forecast, of any plan: the root of the mean
// over the sets of the mean square of each set's answers, and of the largest of all mean squares. Of sets
// without weights.
double RootMeanErrorOf(const dp::Domain& domain, const dp::WorkloadPlan& plan);
double LargestErrorOf(const dp::Domain& domain, const dp::WorkloadPlan& plan);

}  // namespace curator::statistics
