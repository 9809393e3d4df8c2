// ADVANCED: the sum of squared epsilons and the sum of deltas stay at or below limits that are fixed when the
// account is made.
//
// Claim: every adaptive sequence of admitted (epsilon_i, delta_i)-DP mechanisms is (epsilon_B, delta_B)-DP.
// Source: Whitehouse, Ramdas, Rogers, Wu 2023, Theorem 1 (fully adaptive composition): with d' and d'' that
// sum to delta_B, the filter
//   sqrt(2 ln(1/d') S2) + S2/2 <= epsilon_B,  sum delta_i <= d'',  S2 = sum epsilon_i^2
// is valid for mechanisms and parameters chosen adaptively. Its left side grows with S2, so "fits" is "S2 is
// at most the root", and the root is a constant of the account.
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/rules/rule_definition.h"

namespace curator::dp {
namespace {

constexpr int64_t kSquaredUnitsPerOne = 1'000'000'000'000;

// sqrt(2 ln(1/d') S2) + S2/2, enclosed.
Interval FilterValue(const Interval& spread, const Interval& squared) {
  return spread * Sqrt(squared) + squared / Interval(2);
}

// The largest S2, in units, whose filter value is certainly at most `epsilon`. The root of
// x^2/2 + L x = epsilon in x = sqrt(S2), L = sqrt(2 ln(1/d')), is 2 epsilon / (L + sqrt(L^2 + 2 epsilon));
// its floor is then verified.
absl::StatusOr<int64_t> LargestSquaredSum(Epsilon epsilon, Delta slack) {
  const Interval promise = Interval::Of(epsilon);
  const Interval spread_squared = Interval(-2) * Log(Interval::Of(slack));
  const Interval spread = Sqrt(spread_squared);
  const Interval root = Interval(2) * promise / (spread + Sqrt(spread_squared + Interval(2) * promise));
  ASSIGN_OR_RETURN(int64_t units, (root * root * Interval(kSquaredUnitsPerOne)).RoundedDown());
  while (units > 0 &&
         !FilterValue(spread, Quotient({units}, {kSquaredUnitsPerOne})).CertainlyAtMost(promise)) {
    --units;  // not covered: rounded down, the closed form holds
  }
  return units;
}

absl::StatusOr<Amounts> AdvancedLimits(const RuleSpec& spec) {
  RETURN_IF_ERROR(CheckEpsilon(spec));
  RETURN_IF_ERROR(CheckDelta(spec));
  RETURN_IF_ERROR(CheckNoOrder(spec, "ADVANCED"));
  const Delta slack = DeltaSlackOf(spec);
  if (slack.units() <= 0) return InvalidField("delta_slack", "must be positive");
  if (slack > spec.delta) return InvalidField("delta_slack", "must be at most delta");
  ASSIGN_OR_RETURN(const int64_t squared, UsableLimit(LargestSquaredSum(spec.epsilon, slack), "epsilon"));
  return Amounts{squared, spec.delta.units() - slack.units()};
}

Interval AdvancedEpsilonOf(const RuleSpec& spec, int64_t squared) {
  const Interval spread = Sqrt(Interval(-2) * Log(Interval::Of(DeltaSlackOf(spec))));
  return FilterValue(spread, Quotient({squared}, {kSquaredUnitsPerOne})) * Interval(kEpsilonUnitsPerOne);
}

// The square of an epsilon in units of 1e-12, in units of 1e-12.
Interval SquaredUnits(const Interval& epsilon_units) {
  return epsilon_units * epsilon_units / Interval(kEpsilonUnitsPerOne);
}

// The squares are formed from the mechanism's own numbers, so that no rounding happens before the last.
Interval SquaredEpsilonUnits(const Event& mechanism, const Interval& epsilon_units) {
  if (const auto* e = std::get_if<DiscreteLaplaceEvent>(&mechanism.what)) {
    return Quotient({e->l1_sensitivity, e->l1_sensitivity, e->scale.denominator, e->scale.denominator,
                     kSquaredUnitsPerOne},
                    {e->scale.numerator, e->scale.numerator});
  }
  return SquaredUnits(epsilon_units);
}

absl::StatusOr<Amounts> AdvancedCost(const RuleSpec&, const Event& mechanism) {
  if (const auto* e = std::get_if<ApproximateEvent>(&mechanism.what)) {
    ASSIGN_OR_RETURN(const int64_t squared, SquaredUnits(Interval(e->epsilon.units())).RoundedUp());
    return Amounts{squared, e->delta.units()};
  }
  const std::optional<Interval> epsilon = PureEpsilonUnits(mechanism);
  if (!epsilon) {
    return CannotCount("ADVANCED", mechanism, "mechanisms with a stated epsilon, or (epsilon, delta)",
                       "state it as (epsilon, delta), or use a dataset under ZCDP");
  }
  ASSIGN_OR_RETURN(const int64_t squared, SquaredEpsilonUnits(mechanism, *epsilon).RoundedUp());
  return Amounts{squared, 0};
}

}  // namespace

const RuleDefinition& AdvancedRule() {
  static const RuleDefinition rule = {
      RuleKind::kAdvanced,   "ADVANCED",         {{"epsilon_squared", 12}, {"delta", 18}},
      &AdvancedLimits,       &AdvancedEpsilonOf, &AdvancedCost,
      Certificates::kCounted};
  return rule;
}

}  // namespace curator::dp
