#include "dp/synthesis/budget_split.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/rule.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {
namespace {

// The largest epsilon, up to a part in 2^24, whose exact cost is at most `rho`; none when even the smallest
// costs more.
absl::StatusOr<std::optional<Epsilon>> AffordableSelection(Rho rho) {
  RuleSpec zcdp;
  zcdp.kind = RuleKind::kZcdp;
  zcdp.epsilon = Epsilon(kEpsilonUnitsPerOne);
  zcdp.delta = Delta(kDeltaUnitsPerOne / 1'000'000);
  const auto fits = [&](int64_t units) -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(const std::vector<CounterAmount> cost,
                     CostOf(zcdp, {ExponentialMechanismEvent{Epsilon(units)}}));
    return cost[0].amount <= rho.units();
  };
  // The cost is at most epsilon^2 / 8, so the search starts there.
  auto low = static_cast<int64_t>(std::sqrt(8.0 * static_cast<double>(rho.units()) * 1e12) * (1 - 1e-9));
  ASSIGN_OR_RETURN(const bool starts_below, fits(low));
  if (!starts_below) low = 0;
  int64_t high = 2 * low + 2;
  while (true) {
    ASSIGN_OR_RETURN(const bool affordable, fits(high));
    if (!affordable) break;
    low = high;
    high *= 2;
  }
  while (high - low > std::max<int64_t>(1, low >> 24)) {
    const int64_t middle = low + (high - low) / 2;
    ASSIGN_OR_RETURN(const bool affordable, fits(middle));
    (affordable ? low : high) = middle;
  }
  if (low == 0) return std::optional<Epsilon>();
  return std::optional<Epsilon>(Epsilon(low));
}

}  // namespace

absl::Status BudgetShare::TooSmallFor(std::string_view what) const {
  return InvalidField(field(), absl::StrCat("is too small to be split over ", std::string(what)));
}

BudgetShare WholeOf(const Budget& budget) {
  if (const auto* pure = std::get_if<PureBudget>(&budget))
    return {.is_pure = true, .units = pure->epsilon.units()};
  return {.is_pure = false, .units = std::get<ZcdpBudget>(budget).rho.units()};
}

int64_t RecordCountUnits(int64_t units, int64_t parts) {
  return std::max<int64_t>(1, units / parts);
}

absl::StatusOr<NoiseSpec> NoiseFor(const BudgetShare& share, const Sensitivity& sensitivity) {
  if (share.is_pure) return LaplaceNoiseFor(sensitivity, Epsilon(share.units));
  return GaussianNoiseFor(sensitivity, Rho(share.units));
}

absl::StatusOr<Epsilon> SelectionEpsilonFor(const BudgetShare& share, std::string_view what) {
  std::optional<Epsilon> selection = Epsilon(share.units);
  if (!share.is_pure) {
    ASSIGN_OR_RETURN(selection, AffordableSelection(Rho(share.units)));
  }
  if (selection && selection->units() > 0) return *selection;
  return InvalidField(share.field(), absl::StrCat("is too small to pay for ", std::string(what)));
}

absl::StatusOr<Event> EventToCharge(const SynthesisInput& input, const std::vector<CountedEvent>& draws) {
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(input.rule, input.spend));
  return ChargeFor(input.rule, budget, draws, input.charged);
}

double DeviationForFit(const NoiseSpec& noise) {
  constexpr double kLeastDeviation = 0.05;
  return std::max(kLeastDeviation, ForecastError(noise).standard_deviation);
}

UnitBound UnderAddRemove(const UnitBound& unit) {
  return {.relation = NeighbourRelation::kAddRemove, .max_records = unit.max_records};
}

}  // namespace curator::dp
