// Reads the answers of query groups from measured residuals (residual_measurement.h).
//
// The table over a set of attributes A is put together from the values of A's subsets: they are laid into
// one array of the cells of A, with the last place along an axis for the sets without that attribute, and
// expanded along one axis after another (AxisReading::Expand()): the unbiased estimate of all cells, in time
// linear in the cells for Helmert contrasts.
//
// Not thread-safe. The same groups get the same answers in any order.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"
#include "dp/workload/residual/residual_errors.h"
#include "dp/workload/residual/residual_measurement.h"

namespace curator::dp {

class ResidualReader {
 public:
  // Holds references to all of these. `values` has those of each group of the measurement, as they were
  // measured: times the multiplier of the group. Errors: those of ResidualErrors::Create(); INVALID_ARGUMENT
  // where a group has not as many values as queries.
  static absl::StatusOr<ResidualReader> Create(const Domain& domain, const ResidualMeasurement& measurement,
                                               std::span<const std::vector<int64_t>> values);

  const ResidualErrors& errors() const { return errors_; }

  // The answers of a valid group that errors().CanRead(). Takes the steps and the memory of two tables of the
  // cells of its attributes; the table is kept for groups over the same attributes that follow.
  std::vector<double> AnswersOf(const QueryGroup& group);

 private:
  struct Table {
    AttributeSet attributes;
    std::vector<double> cells;
  };

  ResidualReader(const Domain& domain, const ResidualMeasurement& measurement,
                 std::span<const std::vector<int64_t>> values, ResidualErrors errors)
      : domain_(&domain), measurement_(&measurement), values_(values), errors_(std::move(errors)) {}
  const std::vector<double>& CellsOf(const AttributeSet& attributes);

  const Domain* domain_;
  const ResidualMeasurement* measurement_;
  std::span<const std::vector<int64_t>> values_;
  ResidualErrors errors_;
  Table table_;  // the last one; without cells at first
};

}  // namespace curator::dp
