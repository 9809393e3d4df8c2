#include "service/workloads/spend_choices.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "dp/workload/accuracy.h"

namespace curator::service {
namespace {

template <typename Units>
std::optional<Units> Scaled(const std::optional<Units>& amount, int64_t times, int64_t divisor) {
  if (!amount || amount->units() > std::numeric_limits<int64_t>::max() / times) return amount;
  return Units(amount->units() * times / divisor);
}

}  // namespace

absl::StatusOr<SpendChoices> SpendChoicesFor(const WorkloadEstimate& estimate, double confidence) {
  ASSIGN_OR_RETURN(const dp::RuleSpec rule, GoverningRule(estimate.scope.accounts));
  const dp::WorkloadShape& shape = estimate.plan.shape;
  const dp::ErrorClasses classes = dp::OfAllSets(estimate.plan.classes);
  SpendChoices result;
  ASSIGN_OR_RETURN(result.max_error, dp::SimultaneousError(estimate.plan.bought.noise, classes, confidence));
  for (const int64_t quarters : {1, 2, 4, 8, 16}) {
    dp::Spend spend = estimate.plan.spend;  // its delta stays: only epsilon and rho are varied
    spend.epsilon = Scaled(spend.epsilon, quarters, 4);
    spend.rho = Scaled(spend.rho, quarters, 4);
    const absl::StatusOr<dp::NoisePurchase> bought =
        dp::BuyNoise(rule, spend, shape.sensitivity, shape.removal, std::nullopt);
    if (!bought.ok()) continue;
    SpendChoice choice{.spend = spend};
    ASSIGN_OR_RETURN(choice.price,
                     PriceOf(estimate.dataset(), estimate.scope.accounts, bought->event, bought->linear));
    choice.standard_deviation = dp::MeanDeviation(bought->noise, classes);
    ASSIGN_OR_RETURN(choice.max_error, dp::SimultaneousError(bought->noise, classes, confidence));
    result.choices.push_back(std::move(choice));
  }
  return result;
}

}  // namespace curator::service
