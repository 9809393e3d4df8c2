// ZCDP: the sum of rhos stays at or below rho_B, the largest rho whose tight conversion at delta_B is at most
// epsilon_B.
//
// Claim: every adaptive sequence of admitted mechanisms is rho_B-zCDP, hence (epsilon_B, delta_B)-DP.
// Sources: the zCDP filter (Rogers, Roth, Ullman, Vadhan 2016 in spirit; Feldman, Zrnic 2021; Whitehouse et
// al. 2023, for zCDP a sum with a fixed bound is a filter); the conversion of Canonne, Kamath, Steinke 2020,
// charged once, at delta_B, for the whole account.
#include <cmath>

#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/divergence.h"
#include "dp/accounting/event.h"
#include "dp/accounting/rules/rule_definition.h"

namespace curator::dp {
namespace {

// The floor of the safe end, verified once more as an integer. Any order gives a valid conversion; this one
// is the best.
absl::StatusOr<int64_t> LargestRhoUnits(Epsilon epsilon, Delta delta) {
  const Interval promise = Interval::Of(epsilon);
  const Interval x = BestOrderMinusOneForEpsilon(promise, Interval::Of(delta));
  const Interval order = x + Interval(1);
  const Interval penalty = ConversionPenalty(x, Interval::Of(delta));
  ASSIGN_OR_RETURN(int64_t units, ((promise - penalty) / order * Interval(kRhoUnitsPerOne)).RoundedDown());
  while (units > 0 && !(order * Interval::Of(Rho(units)) + penalty).CertainlyAtMost(promise)) --units;
  return units;
}

absl::StatusOr<Amounts> ZcdpLimits(const RuleSpec& spec) {
  RETURN_IF_ERROR(CheckEpsilon(spec));
  RETURN_IF_ERROR(CheckDelta(spec));
  RETURN_IF_ERROR(CheckNoOrder(spec, "ZCDP"));
  RETURN_IF_ERROR(CheckNoSlack(spec, "ZCDP"));
  ASSIGN_OR_RETURN(const int64_t rho, UsableLimit(LargestRhoUnits(spec.epsilon, spec.delta), "epsilon"));
  return Amounts{rho};
}

// BestOrderMinusOneForRho() in floating point, which is a thousand times as fast: the conversion holds at any
// order, and changes little near the best.
double OrderMinusOneNear(double rho, double delta) {
  const double target = -std::log(delta);
  double low = -60;  // of ln(alpha - 1)
  double high = 60;
  constexpr int kSteps = 60;
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (low + high) / 2;
    const double x = std::exp(middle);
    const bool is_below = rho * x * x + std::log1p(x) < target;
    (is_below ? low : high) = middle;
  }
  return std::exp(low);
}

Interval ZcdpEpsilonOf(const RuleSpec& spec, int64_t rho_units) {
  const Interval rho = Interval::Of(Rho(rho_units));
  const Interval delta = Interval::Of(spec.delta);
  const Interval x = Interval::OfDouble(OrderMinusOneNear(rho.Upper(), delta.Upper()));
  const Interval epsilon = (x + Interval(1)) * rho + ConversionPenalty(x, delta);
  return Max(epsilon, Interval(0)) * Interval(kEpsilonUnitsPerOne);
}

absl::StatusOr<Interval> RhoUnits(const Event& mechanism) {
  const Interval one(kRhoUnitsPerOne);
  using Result = absl::StatusOr<Interval>;
  return std::visit(
      Overloaded{
          [&](const DiscreteGaussianEvent& e) -> Result {
            return Quotient({e.l2_sensitivity_squared, e.sigma_squared.denominator, kRhoUnitsPerOne},
                            {2, e.sigma_squared.numerator});
          },
          [&](const GaussianEvent& e) -> Result {
            return Quotient(
                {e.l2_sensitivity_squared.numerator, e.sigma_squared.denominator, kRhoUnitsPerOne},
                {2, e.l2_sensitivity_squared.denominator, e.sigma_squared.numerator});
          },
          [&](const ZcdpEvent& e) -> Result { return Interval(e.rho.units()); },
          [&](const DiscreteLaplaceEvent& e) -> Result { return ZcdpOfDiscreteLaplace(e) * one; },
          [&](const LaplaceEvent&) -> Result {
            return ZcdpOfPure(*PureEpsilonUnits(mechanism) / Interval(kEpsilonUnitsPerOne)) * one;
          },
          [&](const ExponentialMechanismEvent& e) -> Result {
            return TighterUpperBound(ZcdpOfBoundedRange(Interval::Of(e.range)) * one,
                                     Quotient({e.range.units(), e.range.units()}, {8, kEpsilonUnitsPerOne}));
          },
          [&](const PureEvent& e) -> Result { return ZcdpOfPure(Interval::Of(e.epsilon)) * one; },
          [&](const auto&) -> Result {
            return CannotCount("ZCDP", mechanism, "Gaussian, Laplace, exponential, pure and zCDP mechanisms",
                               "(epsilon, delta) mechanisms need a dataset under ADVANCED");
          }},
      mechanism.what);
}

absl::StatusOr<Amounts> ZcdpCost(const RuleSpec&, const Event& mechanism) {
  ASSIGN_OR_RETURN(const Interval rho, RhoUnits(mechanism));
  ASSIGN_OR_RETURN(const int64_t units, rho.RoundedUp());
  return Amounts{units};
}

}  // namespace

const RuleDefinition& ZcdpRule() {
  static const RuleDefinition rule = {RuleKind::kZcdp, "ZCDP",         {{"rho", 12}},
                                      &ZcdpLimits,     &ZcdpEpsilonOf, &ZcdpCost};
  return rule;
}

}  // namespace curator::dp
