#include "dp/sensitivity/spend.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/certification.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {
namespace {

template <typename Amount>
absl::Status RequirePositive(const std::optional<Amount>& amount, std::string_view field) {
  if (amount && amount->units() <= 0) {
    return InvalidField(field, "must be greater than 0");
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

// Checks that the cost of the draws does not exceed the offer, counter by counter.
absl::Status CheckPrice(const RuleSpec& rule, const Event& event, const Event& offer) {
  ASSIGN_OR_RETURN(const std::vector<CounterAmount> cost, CostOf(rule, event));
  ASSIGN_OR_RETURN(const std::vector<CounterAmount> most, CostOf(rule, offer));
  for (size_t i = 0; i < cost.size(); ++i) {
    if (cost[i].amount > most[i].amount) {
      return InvalidField("spend",
                          "is too small to be split: each draw costs at least one unit of the account");
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

namespace {

// Under a promise of (epsilon, delta), the least Gaussian noise that certainly keeps it: the continuous
// Gaussian's, enlarged, if need be, until the discrete Gaussian's own curve keeps it too; never more than
// zCDP asks. All of it in certified arithmetic, so that every machine draws the same noise for the same
// request.
absl::StatusOr<NoiseSpec> PromisedNoise(const ZcdpBudget& budget, const Sensitivity& sensitivity) {
  const Interval epsilon = Interval::Of(budget.promise->epsilon);
  const Interval delta = Interval::Of(budget.promise->delta);
  const int64_t most = LargestGaussianRho(budget.promise->epsilon, budget.promise->delta).units();
  for (const int halvings : {62, 26, 22, 19, 17, 16, 15, 14, 13, 12, 10, 8, 6, 4}) {
    const Rho rho(most - (most >> halvings));
    if (rho <= budget.rho) break;
    const absl::StatusOr<NoiseSpec> noise = GaussianNoiseFor(sensitivity, rho);
    if (!noise.ok()) continue;
    const auto drawn = std::get<DiscreteGaussianEvent>(NoiseEvent(*noise, sensitivity).what);
    if (!HasUnitShifts(drawn)) break;
    const auto spent = UnitShiftsDelta(drawn.sigma_squared, drawn.l2_sensitivity_squared, epsilon);
    if (spent.ok() && spent->CertainlyAtMost(delta)) return noise;
  }
  return GaussianNoiseFor(sensitivity, budget.rho);
}

absl::StatusOr<NoiseSpec> NoiseFor(const Budget& budget, const Sensitivity& sensitivity) {
  if (const auto* pure = std::get_if<PureBudget>(&budget)) return LaplaceNoiseFor(sensitivity, pure->epsilon);
  const auto& zcdp = std::get<ZcdpBudget>(budget);
  return zcdp.promise ? PromisedNoise(zcdp, sensitivity) : GaussianNoiseFor(sensitivity, zcdp.rho);
}

}  // namespace

absl::Status CheckBuys(Mechanism bought, Mechanism wanted) {
  if (bought == wanted) return absl::OkStatus();
  return InvalidField("mechanism", absl::StrCat("this spend buys ", std::string(MechanismName(bought)),
                                                " noise, not ", std::string(MechanismName(wanted)),
                                                "; change the spend or omit the mechanism"));
}

absl::StatusOr<NoisePurchase> BuyNoise(const RuleSpec& rule, const Spend& spend,
                                       const Sensitivity& sensitivity, const Sensitivity& removal,
                                       std::optional<Mechanism> mechanism) {
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(rule, spend));
  ASSIGN_OR_RETURN(const NoiseSpec noise, NoiseFor(budget, sensitivity));
  if (mechanism) RETURN_IF_ERROR(CheckBuys(noise.mechanism, *mechanism));
  std::vector<CountedEvent> draws = {{.event = NoiseEvent(noise, sensitivity), .count = 1}};
  ASSIGN_OR_RETURN(Event event, ChargeFor(rule, budget, draws, std::nullopt));
  return NoisePurchase{
      .noise = noise,
      .draws = draws,
      .event = std::move(event),
      .linear = LinearDraws{.draws = std::move(draws), .removals = {{NoiseEvent(noise, removal), 1}}}};
}

}  // namespace curator::dp
