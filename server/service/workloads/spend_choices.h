// What other spends would buy than the one of an estimate, and what shares of what is left would buy: from
// public facts and the balances of the accounts that pay.
//
// Thread-safe: pure functions.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/noise/noise_spec.h"
#include "dp/sensitivity/spend.h"
#include "dp/workload/statistics/statistics_plan.h"
#include "ledger/ledger.h"
#include "service/charges/pricing.h"
#include "service/workloads/workloads.h"

namespace curator::service {

// What another spend would buy.
struct SpendChoice {
  dp::Spend spend;
  Price price;
  double share_of_left = 0;       // of a ladder (WorkloadEstimate::ladder): 0.01 for 1%
  double standard_deviation = 0;  // the root of the mean variance of all answers; 0 for statistics
  double max_error = 0;  // that all answers stay within, with the stated confidence; 0 for statistics
  std::vector<dp::BoughtDraw> bought_draws = {};  // of statistics, for WorkloadPlan::statistics
};
struct SpendChoices {
  double max_error = 0;  // at the estimate's own spend; 0 for statistics and where it has a ladder
  std::vector<SpendChoice> choices;
};

// The steps of the estimate's ladder, where it has one. Otherwise a quarter of its spend, half, the same,
// double, and four times it: those that buy anything.
// Errors: INVALID_ARGUMENT ("confidence_level") unless 0 < confidence < 1.
absl::StatusOr<SpendChoices> SpendChoicesFor(const WorkloadEstimate& estimate, double confidence);

// ---- Requests that name no spend

// What a request is planned with that names none, on `accounts`: of the kind that its ladder has. That is rho
// where all of them count rho and `mechanism` is not discrete Laplace, else epsilon.
dp::Spend LadderKind(const std::vector<ledger::Account>& accounts, std::optional<dp::Mechanism> mechanism);

// Fills the ladder of an estimate that was planned with LadderKind(), and gives it the spend, the purchase
// and the price of the cheapest step. A step is the largest spend of two significant digits whose price is,
// in every counter of every account that pays, at most this share of what is left there: 1%, 3%, 10% and 30%.
// Steps are left out that buy nothing or cost less than a request has to (ReachesLeastCost()).
// Errors: FAILED_PRECONDITION, naming the account that has the least left, when no step remains; those of
// pricing.
absl::Status SetLadder(WorkloadEstimate& estimate);

}  // namespace curator::service
