// Chooses how each query set of a request is measured, so that the error of all of them together is least.
//
// Computed from public facts alone: sizes and structure. Thread-safe: pure functions.
#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/noise/noise_spec.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/workload/measurement.h"

namespace curator::dp {

// The objective.
enum class ErrorMeasure {
  kMean,     // the mean variance of a set's answers times the set's weight, added up over the sets
  kLargest,  // the variance of the worst answer of all, times the weight of its set
};

// For each set one of MeasurementsFor(). All measurements share one noise, whose variance grows
// with the squared L1 sensitivity of all of them together (Laplace) or their squared L2 (Gaussian). Starting
// from the best measurement of each set alone, sets change their measurement one after another while the
// objective improves; groups that several sets measure are counted once. Never worse than every kAuto set
// measured directly, by the same measure and the exact sensitivities. Errors: those of MeasurementsFor(),
// within "workload.query_sets[i]"; those of QueriesSensitivity(); CANCELLED soon after `stop` is requested.
absl::StatusOr<std::vector<Measurement>> ChooseMeasurements(const Domain& domain, const UnitBound& unit,
                                                            Mechanism mechanism,
                                                            std::span<const QuerySet> sets,
                                                            ErrorMeasure measure,
                                                            const std::stop_token& stop = {});

// The objective of these measurements of the sets, in units of the variance of one measured value; from an
// evenly spaced sample of a set's answers where there are many.
double ObjectiveOf(const Domain& domain, std::span<const QuerySet> sets,
                   std::span<const Measurement> measurements, ErrorMeasure measure);

// The distinct groups of several measurements, and each measurement's plan with its sources among them. Whole
// marginals and trees that occur twice are measured once.
struct JointMeasurement {
  std::vector<QueryGroup> measured;
  std::vector<SetPlan> plans;
};
JointMeasurement Join(std::span<const Measurement> measurements);

// The sensitivity of all groups measured together: MarginalsSensitivity() where all are whole marginals, else
// QueriesSensitivity(), whose errors it has.
absl::StatusOr<Sensitivity> MeasuredSensitivity(const Domain& domain, const UnitBound& unit,
                                                std::span<const QueryGroup> measured);

}  // namespace curator::dp
