// What other spends would buy than the one of an estimate, from public facts alone.
//
// Thread-safe: pure functions.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "dp/sensitivity/spend.h"
#include "service/charges/pricing.h"
#include "service/workloads/workloads.h"

namespace curator::service {

// What another spend would buy.
struct SpendChoice {
  dp::Spend spend;
  Price price;
  double standard_deviation = 0;  // the root of the mean variance of all answers
  double max_error = 0;           // that all answers stay within, with the stated confidence
};
struct SpendChoices {
  double max_error = 0;  // at the estimate's own spend
  std::vector<SpendChoice> choices;
};

// A quarter of the estimate's spend, half, the same, double, and four times it: those that buy anything.
// Errors: INVALID_ARGUMENT ("confidence_level") unless 0 < confidence < 1.
absl::StatusOr<SpendChoices> SpendChoicesFor(const WorkloadEstimate& estimate, double confidence);

}  // namespace curator::service
