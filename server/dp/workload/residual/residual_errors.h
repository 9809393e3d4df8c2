// The errors of answers that are read from measured residuals (residual_measurement.h), from public facts.
//
// The values of a group are divided by its multiplier first, so that a parameter of the measurement is that
// of the noise in them, but for the variance factors of the axes.
//
// Immutable: thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"
#include "dp/workload/residual/axis_readings.h"
#include "dp/workload/residual/residual_measurement.h"
#include "dp/workload/residual/set_positions.h"

namespace curator::dp {

// The error of one answer: a sum of independent discrete Gaussian values with known weights.
struct ResidualError {
  // records^2: the sum of the parameters of the noise times the squared weights. At least the true variance,
  // and above it by less than 1e-14 of it where the parameters are at least 2.
  double variance = 0;
  double largest_weight = 0;   // at least that of each measured value, as it was measured
  double least_parameter = 0;  // at most that of the noise of each measured value
  bool operator==(const ResidualError&) const = default;
};

// Whether queries of this form can be answered from residuals: every cell, boxes over any attributes, and
// linear queries over one.
bool CanReadFromResiduals(const QueryGroup& group);

class ResidualErrors {
 public:
  // All parameters positive. Takes a few hash lookups a group, and what AxisReadings::Create() takes. Errors:
  // those of ValidateProducts() and AxisReadings::Create(); INVALID_ARGUMENT where the number of parameters
  // is not that of the groups, or the sets are not closed under subsets.
  static absl::StatusOr<ResidualErrors> Create(const Domain& domain, const ResidualMeasurement& measurement);

  // Whether all subsets of the group's attributes were measured and CanReadFromResiduals().
  bool CanRead(const QueryGroup& group) const;

  // One for each answer of a valid group that can be read, or a single one that holds for all: of every cell
  // where all axes are Helmert contrasts. Takes some 2^(attributes) steps for each answer.
  std::vector<ResidualError> ErrorsOf(const QueryGroup& group) const;

  // The mean over its answers.
  double MeanVarianceOf(const QueryGroup& group) const;

  const AxisReadings& readings() const { return readings_; }

  // The positions of the groups of all subsets of a measured set: SetPositions::SubsetsOf().
  std::vector<uint32_t> SubsetsOf(const AttributeSet& attributes) const {
    return positions_.SubsetsOf(attributes);
  }

  // A bound of the half width of an interval around an answer with this error that holds the true one with
  // probability `level`, 0 < level < 1; at least the probability that the error exceeds `error_bound` >= 0.
  // Those of noise_combination.h for Gaussian values: TailOf() the half width is at most 1 - level.
  static double HalfWidthOf(const ResidualError& error, double level);
  static double TailOf(const ResidualError& error, double error_bound);

 private:
  // What of a group's error does not depend on the query.
  struct Noise {
    double variance = 0;         // the parameter
    double weight = 0;           // 1 / multiplier
    double least_parameter = 0;  // of the values
  };
  explicit ResidualErrors(AxisReadings readings) : readings_(std::move(readings)) {}
  static ResidualError Combined(std::span<const Noise> noises, std::span<const AxisError> axes);
  absl::Status AddGroups(const ResidualMeasurement& measurement);

  AxisReadings readings_;
  SetPositions positions_;     // of the groups
  std::vector<Noise> noises_;  // of each group
};

// For each subset of the group's attributes (a bit for each position, the first attribute has bit 0) the sum
// over the group's queries of the products of `spread` (attributes of the subset) and `level` (others):
// the sum of the variances of all answers is the sum over the subsets of this times the parameter.
// `axes` has a reading for each of the attributes of the group, which CanReadFromResiduals().
std::vector<double> SummedFactors(const Domain& domain, const QueryGroup& group,
                                  std::span<const AxisReading* const> axes);

}  // namespace curator::dp
