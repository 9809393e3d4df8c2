// The plan of a workload that is measured by residuals (residual_measurement.h): which queries over each
// attribute, and how much noise on each set of attributes, from public facts alone.
//
// Thread-safe: plain values and pure functions; the same input gives the same plan on one machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/units.h"
#include "dp/domain/domain.h"
#include "dp/workload/accuracy.h"
#include "dp/workload/measurement.h"
#include "dp/workload/residual/residual_measurement.h"
#include "dp/workload/strategy_choice.h"

namespace curator::dp {

// A plan for every budget: all variances are inversely proportional to rho.
struct ResidualShape {
  ProductQueries queries;          // with multipliers of 1
  std::vector<double> parameters;  // of the noise on each group's answers, at rho = 1
  double error = 0;                // by the measure that it was planned for, at rho = 1
  // How far `error` may be above the least that is possible with these offsets: the solved axes' gaps, and
  // that of the parameters. An error of answers over several attributes has the gap of each.
  double gap = 0;
  std::vector<ErrorClasses> classes;  // of each set, with variances in records^2 at rho = 1
  int64_t measured_values = 0;
};

// The limits of what is planned.
inline constexpr size_t kMostResidualSets = size_t{1} << 18;
struct ResidualLimits {
  size_t most_sets = kMostResidualSets;     // of attributes, subsets of those asked included
  int64_t most_cells = int64_t{1} << 26;    // of all sets
  int64_t most_factors = int64_t{1} << 18;  // of the worst answer: of errors that differ, one for each subset
};

// None where the sets cannot be measured by residuals: queries of other forms (CanReadFromResiduals()),
// attributes that are not fit (ChooseAxes()), or more than the limits; FAILED_PRECONDITION where a unit may
// own any number of records; CANCELLED soon after `stop` is requested. `sets` valid.
absl::StatusOr<std::optional<ResidualShape>> ResidualShapeOf(const Domain& domain, const UnitBound& unit,
                                                             std::span<const QuerySet> sets,
                                                             ErrorMeasure measure,
                                                             const std::stop_token& stop,
                                                             const ResidualLimits& limits = {});

// The measurement whose CostOfProducts() is `rho`, or below it by a few billionths of it: every parameter is
// at least GaussianErrors::kLeastParameter after the multipliers, so that no lattice shows. Errors:
// INVALID_ARGUMENT (no field) for noise that is too small or too large for that.
absl::StatusOr<ResidualMeasurement> MeasurementFor(const Domain& domain, const UnitBound& unit,
                                                   const ResidualShape& shape, Rho rho);

// Of all groups together.
int64_t NumberOfValues(const Domain& domain, const ProductQueries& queries);

}  // namespace curator::dp
