#include "dp/kernel/meter.h"

#include <cstdint>
#include <optional>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/accounting/rule.h"

namespace curator::dp {

namespace {

absl::Status NotCovered(const Event& draw) {
  return absl::FailedPreconditionError(
      absl::StrCat("the admitted price does not cover this draw: ", Describe(draw)));
}

// In units of epsilon.
absl::StatusOr<int64_t> PureCostOf(const Event& event) {
  RuleSpec pure;
  pure.kind = RuleKind::kPure;
  pure.epsilon = Epsilon(kEpsilonUnitsPerOne);
  ASSIGN_OR_RETURN(const std::vector<CounterAmount> cost, CostOf(pure, event));
  return cost[0].amount;
}

// In units of rho.
absl::StatusOr<int64_t> ZcdpCostOf(const Event& event) {
  RuleSpec zcdp;
  zcdp.kind = RuleKind::kZcdp;
  zcdp.epsilon = Epsilon(kEpsilonUnitsPerOne);
  zcdp.delta = Delta(kDeltaUnitsPerOne / 1'000'000);
  ASSIGN_OR_RETURN(const std::vector<CounterAmount> cost, CostOf(zcdp, event));
  return cost[0].amount;
}

// The entry of least amount that covers `cost`; null where none does.
template <typename Amount>
CountedEvent* LeastCovering(std::vector<CountedEvent>& entries, int64_t cost, Amount amount_of) {
  CountedEvent* least = nullptr;
  int64_t least_amount = 0;
  for (CountedEvent& entry : entries) {
    const std::optional<int64_t> amount = amount_of(entry.event);
    if (entry.count < 1 || !amount || *amount < cost || (least != nullptr && *amount >= least_amount))
      continue;
    least = &entry;
    least_amount = *amount;
  }
  return least;
}

std::optional<int64_t> ZcdpAmount(const Event& event) {
  const auto* charged = std::get_if<ZcdpEvent>(&event.what);
  return charged == nullptr ? std::nullopt : std::optional(charged->rho.units());
}

std::optional<int64_t> PureAmount(const Event& event) {
  const auto* charged = std::get_if<PureEvent>(&event.what);
  return charged == nullptr ? std::nullopt : std::optional(charged->epsilon.units());
}

}  // namespace

absl::Status Meter::Debit(const Event& draw) {
  for (CountedEvent& part : left_) {
    if (part.count >= 1 && part.event == draw) {
      --part.count;
      return absl::OkStatus();
    }
  }
  return NotCovered(draw);
}

absl::Status Meter::DebitCovering(Rho rho) {
  CountedEvent* const least = LeastCovering(left_, rho.units(), ZcdpAmount);
  if (least == nullptr) return NotCovered({ZcdpEvent{rho}});
  --least->count;
  return absl::OkStatus();
}

absl::Status Meter::SpendAs(const std::vector<CountedEvent>& draws) {
  if (draws.empty()) return absl::InvalidArgumentError("a budget is spent as at least one draw");
  const Event all{ComposedEvent{draws}};
  RETURN_IF_ERROR(ValidateEvent(all));
  ASSIGN_OR_RETURN(const int64_t rho, ZcdpCostOf(all));
  CountedEvent* covering = LeastCovering(left_, rho, ZcdpAmount);
  if (covering == nullptr) {
    // Gaussian noise has no cost in epsilon alone.
    const absl::StatusOr<int64_t> epsilon = PureCostOf(all);
    if (epsilon.ok()) covering = LeastCovering(left_, *epsilon, PureAmount);
  }
  if (covering == nullptr) return NotCovered(all);
  --covering->count;
  left_.insert(left_.end(), draws.begin(), draws.end());
  return absl::OkStatus();
}

}  // namespace curator::dp
