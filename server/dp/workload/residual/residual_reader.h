// Reads the answers of query groups from measured residuals (residual_measurement.h).
//
// The table over a set of attributes A is put together from the values of A's subsets: they are laid into one
// array of the cells of A, with the last place along an axis for the sets without that attribute, and expanded
// along one axis after another (AxisReading::Expand()): the unbiased estimate of all cells, linear in the cells
// for Helmert contrasts.
//
// Not thread-safe. The same groups get the same answers in any order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"
#include "dp/workload/residual/residual_errors.h"
#include "dp/workload/residual/residual_measurement.h"

namespace curator::dp {

class ResidualReader {
 public:
  // Holds references to all of these. `values` has those of each group of the measurement. Errors: those of
  // ResidualErrors::Create(); INVALID_ARGUMENT where a group has not as many values as queries.
  static absl::StatusOr<ResidualReader> Create(const Domain& domain, const ResidualMeasurement& measurement,
                                               std::span<const std::vector<int64_t>> values);

  const ResidualErrors& errors() const;

  // The answers of a group that errors().CanRead().
  std::vector<double> AnswersOf(const QueryGroup& group);

 private:
  ResidualReader() = default;
};

}  // namespace curator::dp
