#include "dp/workload/spend.h"

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/certification.h"

namespace curator::dp {
namespace {

template <typename Amount>
absl::Status RequirePositive(const std::optional<Amount>& amount, std::string_view field) {
  if (amount && amount->units() <= 0) {
    return InvalidField(field, "must be greater than 0: nothing can be bought for nothing");
  }
  return absl::OkStatus();
}

// "ZCDP takes rho or epsilon, not delta".
absl::Status Unaccepted(std::string_view field, RuleKind rule, std::string_view right) {
  return InvalidField(field, absl::StrCat("is not accepted by the rule ", std::string(RuleName(rule)),
                                          "; give ", std::string(right)));
}

absl::StatusOr<Budget> ApproximateBudget(Epsilon epsilon, Delta delta) {
  RuleSpec promise;
  promise.kind = RuleKind::kZcdp;
  promise.epsilon = epsilon;
  promise.delta = delta;
  auto limits = LimitsOf(promise);
  if (!limits.ok()) return WithinField("spend", limits.status());
  const Rho rho((*limits)[0].amount);
  if (rho.units() <= 0) {
    return InvalidField("spend.epsilon", "is too small to buy any noise at this delta; raise one of them");
  }
  return ZcdpBudget{.rho = rho, .promise = ApproximateEvent{.epsilon = epsilon, .delta = delta}};
}

// What the draws cost may not exceed what was offered, counter by counter.
absl::Status CheckPrice(const RuleSpec& rule, const Event& event, const Event& offer) {
  ASSIGN_OR_RETURN(const std::vector<CounterAmount> cost, CostOf(rule, event));
  ASSIGN_OR_RETURN(const std::vector<CounterAmount> most, CostOf(rule, offer));
  for (size_t i = 0; i < cost.size(); ++i) {
    if (cost[i].amount > most[i].amount) {
      return InvalidField("spend",
                          "is too small to be split: every draw costs at least one unit of the account");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Budget> BudgetOf(const RuleSpec& rule, const Spend& spend) {
  RETURN_IF_ERROR(RequirePositive(spend.epsilon, "spend.epsilon"));
  RETURN_IF_ERROR(RequirePositive(spend.delta, "spend.delta"));
  RETURN_IF_ERROR(RequirePositive(spend.rho, "spend.rho"));
  switch (rule.kind) {
    case RuleKind::kPure:
      if (spend.rho) return Unaccepted("spend.rho", rule.kind, "epsilon alone");
      if (spend.delta) return Unaccepted("spend.delta", rule.kind, "epsilon alone");
      if (!spend.epsilon) return InvalidField("spend.epsilon", "is missing: PURE is paid in epsilon");
      return PureBudget{*spend.epsilon};
    case RuleKind::kZcdp:
    case RuleKind::kRdp:
      if (spend.delta) {
        return Unaccepted("spend.delta", rule.kind,
                          "rho or epsilon: the rule's own delta is spent when the account is made");
      }
      if (spend.rho && spend.epsilon) {
        return InvalidField("spend",
                            "give rho (discrete Gaussian noise) or epsilon (a pure mechanism), not both");
      }
      if (spend.rho) return ZcdpBudget{.rho = *spend.rho, .promise = std::nullopt};
      if (spend.epsilon) return PureBudget{*spend.epsilon};
      return InvalidField("spend", absl::StrCat("is empty: ", std::string(RuleName(rule.kind)),
                                                " is paid in rho or epsilon"));
    case RuleKind::kAdvanced:
      if (spend.rho) return Unaccepted("spend.rho", rule.kind, "epsilon, or epsilon with delta");
      if (!spend.epsilon) {
        return InvalidField("spend.epsilon",
                            "is missing: ADVANCED is paid in epsilon, or epsilon with delta");
      }
      if (spend.delta) return ApproximateBudget(*spend.epsilon, *spend.delta);
      return PureBudget{*spend.epsilon};
  }
  return absl::FailedPreconditionError("unknown rule");
}

Event EventOf(const Budget& budget) {
  if (const auto* pure = std::get_if<PureBudget>(&budget)) return {PureEvent{pure->epsilon}};
  const auto& zcdp = std::get<ZcdpBudget>(budget);
  if (zcdp.promise) return {*zcdp.promise};
  return {ZcdpEvent{zcdp.rho}};
}

absl::StatusOr<Event> ChargeFor(const RuleSpec& rule, const Budget& budget,
                                const std::vector<CountedEvent>& draws, const std::optional<Event>& charged) {
  const auto* zcdp = std::get_if<ZcdpBudget>(&budget);
  if (zcdp != nullptr && zcdp->promise) {
    const auto& [epsilon, delta] = *zcdp->promise;
    if (charged) {
      if (std::optional<Event> before = CertifiedBefore(*charged, draws, epsilon, delta))
        return *std::move(before);
    }
    absl::StatusOr<Event> certified = CheapestCertified(draws, epsilon, delta);
    if (!certified.ok()) return WithinField("spend", certified.status());
    return certified;
  }
  Event charge =
      draws.size() == 1 && draws.front().count == 1 ? draws.front().event : Event{ComposedEvent{draws}};
  RETURN_IF_ERROR(CheckPrice(rule, charge, EventOf(budget)));
  return charge;
}

}  // namespace curator::dp
