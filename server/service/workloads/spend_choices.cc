#include "service/workloads/spend_choices.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/int128.h"
#include "base/status_macros.h"
#include "codec/accounting_codec.h"
#include "dp/workload/accuracy.h"

namespace curator::service {
namespace {

template <typename Units>
std::optional<Units> Scaled(const std::optional<Units>& amount, int64_t times, int64_t divisor) {
  if (!amount || amount->units() > std::numeric_limits<int64_t>::max() / times) return amount;
  return Units(amount->units() * times / divisor);
}

// What a spend buys of what an estimate measures.
struct Purchase {
  dp::NoisePurchase bought;
  std::vector<dp::BoughtDraw> draws;  // of statistics
  Price price;
};

// Buys the same for one spend after another. Refers to the estimate.
class Shop {
 public:
  static absl::StatusOr<Shop> Of(const WorkloadEstimate& estimate) {
    ASSIGN_OR_RETURN(dp::RuleSpec rule, GoverningRule(estimate.scope.accounts));
    return Shop(estimate, std::move(rule));
  }

  bool SellsStatistics() const { return !statistics_.empty(); }

  // What the errors of the plan are in units of.
  dp::ForecastNoise NoiseOf(const dp::NoisePurchase& bought) const {
    return dp::ForecastNoiseOf(estimate_.plan.shape, bought);
  }

  absl::StatusOr<Purchase> Buy(const dp::Spend& spend) const {
    const DatasetView& dataset = estimate_.dataset();
    const dp::WorkloadPlan& plan = estimate_.plan;
    Purchase purchase;
    if (SellsStatistics()) {
      ASSIGN_OR_RETURN(dp::DrawsPurchase draws, dp::BuyDraws(dataset.schema.domain, dataset.unit_bound, rule_,
                                                             statistics_, plan.statistics, spend));
      purchase.bought = std::move(draws.bought);
      purchase.draws = std::move(draws.draws);
    } else {
      ASSIGN_OR_RETURN(dp::CountsPurchase counts, dp::BuyCounts(dataset.schema.domain, dataset.unit_bound,
                                                                rule_, spend, plan.shape, std::nullopt));
      purchase.bought = std::move(counts.bought);
    }
    ASSIGN_OR_RETURN(purchase.price, PriceOf(dataset, estimate_.scope.accounts, purchase.bought.event,
                                             purchase.bought.linear));
    return purchase;
  }

 private:
  Shop(const WorkloadEstimate& estimate, dp::RuleSpec rule)
      : estimate_(estimate), rule_(std::move(rule)), statistics_(dp::StatisticsOf(estimate.asked)) {}

  const WorkloadEstimate& estimate_;
  const dp::RuleSpec rule_;
  const std::vector<dp::AskedStatistics> statistics_;  // empty where counts are asked
};

absl::StatusOr<SpendChoice> ChoiceFor(const Shop& shop, const dp::ErrorClasses& classes,
                                      const dp::Spend& spend, Purchase purchase, double confidence) {
  SpendChoice choice{.spend = spend, .price = std::move(purchase.price)};
  choice.bought_draws = std::move(purchase.draws);
  if (shop.SellsStatistics()) return choice;
  const dp::ForecastNoise noise = shop.NoiseOf(purchase.bought);
  choice.standard_deviation = dp::MeanDeviation(noise, classes);
  ASSIGN_OR_RETURN(choice.max_error, dp::SimultaneousError(noise, classes, confidence));
  return choice;
}

// ---- The ladder

// The numbers of two significant digits, ascending, in units of a spend: 10, 11, ..., 99, 100, 110, ...
constexpr int64_t kMantissas = 90;
constexpr int64_t kDecades = 17;  // up to 990,000

// The spend of LadderKind().
constexpr int64_t kPlannedUnits = dp::kRhoUnitsPerOne;
static_assert(kPlannedUnits == dp::kEpsilonUnitsPerOne);

int64_t RoundNumber(int64_t index) {
  int64_t number = 10 + index % kMantissas;
  for (int64_t i = 0; i < index / kMantissas; ++i) number *= 10;
  return number;
}

dp::Spend WithUnits(const dp::Spend& kind, int64_t units) {
  dp::Spend spend;
  if (kind.rho) {
    spend.rho = dp::Rho(units);
  } else {
    spend.epsilon = dp::Epsilon(units);
  }
  return spend;
}

// Of integers, so that a step is the same on every machine.
bool IsWithinShare(const Price& price, int64_t percent) {
  return std::ranges::all_of(price.counters, [&](const PricedCounter& counter) {
    const int64_t left = std::max<int64_t>(counter.remaining_before, 0);
    return static_cast<Int128>(counter.cost) * 100 <= static_cast<Int128>(left) * percent;
  });
}

// A spend for each share of what is left, and what it buys.
struct Step {
  dp::Spend spend;
  Purchase purchase;
};

// None where no spend buys anything within the share. Prices grow with the spend, so the largest is found by
// bisection.
absl::StatusOr<std::optional<Step>> StepFor(const Shop& shop, const dp::Spend& kind, int64_t percent) {
  std::optional<Step> step;
  int64_t low = 0;
  int64_t high = kMantissas * kDecades;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const int64_t units = RoundNumber(middle);
    const dp::Spend spend = WithUnits(kind, units);
    absl::StatusOr<Purchase> purchase = shop.Buy(spend);
    // The spend that the estimate was planned with is one that buys noise.
    const bool is_refused = absl::IsInvalidArgument(purchase.status());
    const bool is_too_much = absl::IsOutOfRange(purchase.status()) || (is_refused && units > kPlannedUnits);
    if (!purchase.ok() && !is_refused && !is_too_much) return purchase.status();
    if (is_too_much || (purchase.ok() && !IsWithinShare(purchase->price, percent))) {
      high = middle;
      continue;
    }
    if (purchase.ok() && ReachesLeastCost(purchase->price)) step = Step{spend, *std::move(purchase)};
    low = middle + 1;
  }
  return step;
}

// The counter that has the least left of its limit.
const PricedCounter* ScarcestOf(const Price& price) {
  const PricedCounter* scarcest = nullptr;
  for (const PricedCounter& counter : price.counters) {
    if (counter.cost == 0 || counter.limit <= 0) continue;
    const bool is_scarcer =
        scarcest == nullptr || static_cast<Int128>(counter.remaining_before) * scarcest->limit <
                                   static_cast<Int128>(scarcest->remaining_before) * counter.limit;
    if (is_scarcer) scarcest = &counter;
  }
  return scarcest;
}

absl::Status NothingLeft(const Price& price) {
  std::string words = "too little is left for any choice at a share of it";
  if (const PricedCounter* scarcest = ScarcestOf(price)) {
    const int64_t left = std::max<int64_t>(scarcest->remaining_before, 0);
    absl::StrAppend(&words, ": the account ", scarcest->account, " has ", scarcest->counter, " ",
                    dp::FormatCounter(scarcest->counter, left), " left");
  }
  return absl::FailedPreconditionError(
      absl::StrCat(words, "; with a spend or a target, an estimate shows what it would buy all the same"));
}

}  // namespace

dp::Spend LadderKind(const std::vector<ledger::Account>& accounts, std::optional<dp::Mechanism> mechanism) {
  const bool counts_rho = std::ranges::all_of(accounts, [](const ledger::Account& account) {
    return std::ranges::any_of(account.counters,
                               [](const auto& counter) { return counter.counter == "rho"; });
  });
  if (counts_rho && mechanism != dp::Mechanism::kDiscreteLaplace) return {.rho = dp::Rho(kPlannedUnits)};
  return {.epsilon = dp::Epsilon(kPlannedUnits)};
}

absl::Status SetLadder(WorkloadEstimate& estimate) {
  std::optional<Step> cheapest;
  ASSIGN_OR_RETURN(const Shop shop, Shop::Of(estimate));
  for (const int64_t percent : {1, 3, 10, 30}) {
    ASSIGN_OR_RETURN(std::optional<Step> step, StepFor(shop, estimate.plan.spend, percent));
    if (!step) continue;
    estimate.ladder.push_back({percent, step->spend});
    if (!cheapest) cheapest = std::move(step);
  }
  if (!cheapest) return NothingLeft(estimate.price);
  estimate.plan.spend = cheapest->spend;
  estimate.plan.bought = std::move(cheapest->purchase.bought);
  estimate.plan.bought_draws = std::move(cheapest->purchase.draws);
  estimate.price = std::move(cheapest->purchase.price);
  return absl::OkStatus();
}

absl::StatusOr<SpendChoices> SpendChoicesFor(const WorkloadEstimate& estimate, double confidence) {
  ASSIGN_OR_RETURN(const Shop shop, Shop::Of(estimate));
  const dp::ErrorClasses classes = dp::OfAllSets(estimate.plan.classes);
  SpendChoices result;
  for (const LadderStep& step : estimate.ladder) {
    ASSIGN_OR_RETURN(Purchase purchase, shop.Buy(step.spend));
    ASSIGN_OR_RETURN(SpendChoice choice,
                     ChoiceFor(shop, classes, step.spend, std::move(purchase), confidence));
    choice.share_of_left = static_cast<double>(step.percent_of_left) / 100;
    result.choices.push_back(std::move(choice));
  }
  if (!estimate.ladder.empty()) return result;
  if (!shop.SellsStatistics()) {
    ASSIGN_OR_RETURN(result.max_error,
                     dp::SimultaneousError(shop.NoiseOf(estimate.plan.bought), classes, confidence));
  }
  for (const int64_t quarters : {1, 2, 4, 8, 16}) {
    dp::Spend spend = estimate.plan.spend;  // its delta stays: only epsilon and rho are varied
    spend.epsilon = Scaled(spend.epsilon, quarters, 4);
    spend.rho = Scaled(spend.rho, quarters, 4);
    absl::StatusOr<Purchase> purchase = shop.Buy(spend);
    if (!purchase.ok()) continue;
    ASSIGN_OR_RETURN(SpendChoice choice, ChoiceFor(shop, classes, spend, *std::move(purchase), confidence));
    result.choices.push_back(std::move(choice));
  }
  return result;
}

}  // namespace curator::service
