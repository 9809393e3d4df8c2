// How a query set is measured, in words and numbers, for estimates and answers.
//
// Thread-safe: plain values and pure functions of public facts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "dp/domain/domain.h"
#include "dp/queries/product_queries.h"
#include "dp/workload/measurement.h"

namespace curator::service {

struct MeasurementSummary {
  dp::Strategy strategy = dp::Strategy::kDirect;
  std::string description;  // for display
  int64_t measured_values = 0;
};

// Of one set by itself.
MeasurementSummary SummaryOf(const dp::Domain& domain, const dp::Measurement& measurement);

// Of all sets together.
MeasurementSummary SummaryOf(const dp::Domain& domain, const dp::ProductQueries& residuals);
MeasurementSummary SummaryOfParities(size_t parities);

}  // namespace curator::service
