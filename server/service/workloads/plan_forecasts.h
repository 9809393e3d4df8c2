// What the answers of a plan will be off by, from public facts alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/workload/answer_reader.h"
#include "dp/workload/asked_set.h"
#include "dp/workload/half_widths.h"
#include "dp/workload/workload_plan.h"
#include "service/workloads/measurement_summary.h"

namespace curator::service {

// Of one query set.
struct SetForecast {
  bool is_measured_marginals =
      false;  // then each cell has the noise of one measured value, and no more is said
  MeasurementSummary measurement;
  int64_t answers = 0;
  double standard_deviation = 0;          // the root of the mean variance of the answers
  double largest_standard_deviation = 0;  // of the answer with the largest variance,
  double half_width = 0;                  // and the half width of its interval
  double gap = 0;                         // dp::ResidualShape::gap
};

// Of the cells of one marginal that is measured by residuals or parities.
struct JointMarginalForecast {
  size_t set = 0;                      // a position in what is asked,
  size_t group = 0;                    // and in its groups
  double standard_deviation = 0;       // the root of the mean variance of the cells,
  double expected_absolute_error = 0;  // and of a cell with that deviation the mean absolute error
  double half_width = 0;               // and the half width of the interval
};

// Of all sets of one plan: what they share is computed once. Not thread-safe.
class PlanForecasts {
 public:
  // Holds references to the first three. The classes of the plan must be known, and `level` in (0, 1).
  PlanForecasts(const dp::Domain& domain, std::span<const dp::AskedSet> asked, const dp::WorkloadPlan& plan,
                double level, std::stop_token client_left = {});

  // Of a position in what is asked. Errors: CANCELLED when the client has left.
  absl::StatusOr<SetForecast> OfSet(size_t set);

  // Of all marginals of a plan by residuals or parities, or none where they are more than
  // kMostForecastMarginals, or measured in other ways. Errors: CANCELLED when the client has left.
  static constexpr size_t kMostForecastMarginals = 10'000;
  absl::StatusOr<std::vector<JointMarginalForecast>> OfMarginals();

 private:
  SetForecast OfResiduals(size_t set) const;
  absl::StatusOr<double> WorstHalfWidth(size_t set, const dp::AnswerError& worst);
  absl::StatusOr<double> WorstHalfWidthOfParities(size_t set, double largest_factor);
  std::vector<JointMarginalForecast> PlacesOfMarginals() const;
  absl::StatusOr<std::vector<JointMarginalForecast>> OfResidualMarginals() const;
  absl::StatusOr<std::vector<JointMarginalForecast>> OfParityMarginals();
  double MeanAbsoluteError(const dp::AttributeSet& marginal, const dp::AnswerError& error);

  const dp::Domain& domain_;
  const std::span<const dp::AskedSet> asked_;
  const dp::WorkloadPlan& plan_;
  const std::stop_token client_left_;
  dp::HalfWidths half_widths_;
  dp::MeasuredErrors measured_;
  std::map<std::pair<float, float>, double> mean_absolute_errors_;  // by the two factors
};

}  // namespace curator::service
