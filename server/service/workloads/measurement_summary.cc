#include "service/workloads/measurement_summary.h"

#include "absl/strings/str_cat.h"
#include "dp/workload/residual/residual_plan.h"

namespace curator::service {

MeasurementSummary SummaryOf(const dp::Domain& domain, const dp::Measurement& measurement) {
  MeasurementSummary summary{.strategy = measurement.plan.strategy,
                             .description = dp::Describe(domain, measurement)};
  for (const dp::QueryGroup& group : measurement.measured)
    summary.measured_values += dp::NumberOfQueries(domain, group);
  return summary;
}

MeasurementSummary SummaryOf(const dp::Domain& domain, const dp::ProductQueries& residuals) {
  const int64_t values = dp::NumberOfValues(domain, residuals);
  return {.strategy = dp::Strategy::kResidual,
          .description = absl::StrCat("the residuals of ", residuals.groups.size(), " sets of attributes, ",
                                      values, " values"),
          .measured_values = values};
}

MeasurementSummary SummaryOfParities(size_t parities) {
  return {.strategy = dp::Strategy::kParity,
          .description = absl::StrCat(parities, " weighted parities"),
          .measured_values = static_cast<int64_t>(parities)};
}

}  // namespace curator::service
