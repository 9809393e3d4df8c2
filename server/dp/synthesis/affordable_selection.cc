#include "dp/synthesis/affordable_selection.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/status_macros.h"
#include "dp/accounting/event.h"
#include "dp/accounting/rule.h"

namespace curator::dp {

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

}  // namespace curator::dp
