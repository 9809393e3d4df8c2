// The errors of answers that are read from measured residuals (residual_measurement.h), from public facts.
//
// Immutable: thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"
#include "dp/workload/residual/axis_reading.h"
#include "dp/workload/residual/residual_measurement.h"

namespace curator::dp {

// The error of one answer: a sum of independent discrete Gaussian values with known weights.
struct ResidualError {
  double variance = 0;        // records^2; with the parameters of the noise, at least its true variance
  double largest_weight = 0;  // of one measured value
  bool operator==(const ResidualError&) const = default;
};

// Whether queries of this form can be answered from residuals: every cell, boxes over any attributes, and
// linear queries over one.
bool CanReadFromResiduals(const QueryGroup& group);

class ResidualErrors {
 public:
  // `axes[i]` is the reading of attribute i of the domain; those that no group has may be missing (any
  // reading). `attributes` lists for each parameter its set; parameters are doubles here.
  // Errors: those of AxisReading::Create(); INVALID_ARGUMENT where the sets are not closed under subsets, or an
  // attribute has several axes.
  static absl::StatusOr<ResidualErrors> Create(const Domain& domain, const ResidualMeasurement& measurement);

  // Whether all subsets of the group's attributes were measured and CanReadFromResiduals().
  bool CanRead(const QueryGroup& group) const;

  // One for each answer of a group that can be read, or a single one that holds for all.
  std::vector<ResidualError> ErrorsOf(const QueryGroup& group) const;

  // The reading of an attribute that some group has.
  const AxisReading& ReadingOf(uint32_t attribute) const;

  // A bound of the half width of an interval around an answer with this error that holds the true one with
  // probability `level`; at least the probability that the error exceeds `error_bound` >= 0.
  double HalfWidthOf(const ResidualError& error, double level) const;
  double TailOf(const ResidualError& error, double error_bound) const;

 private:
  ResidualErrors() = default;
};

// For each subset of the group's attributes (a bit for each position, the first attribute has bit 0) the sum
// over the group's queries of the products of `spread` (attributes of the subset) and `level` (others):
// the sum of the variances of all answers is the sum over the subsets of this times the parameter.
// `axes` has a reading for each of the group's attributes.
std::vector<double> SummedFactors(const Domain& domain, const QueryGroup& group,
                                  std::span<const AxisReading* const> axes);

}  // namespace curator::dp
