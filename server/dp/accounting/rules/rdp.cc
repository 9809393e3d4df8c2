// RDP: the sum of Renyi divergences at ONE order alpha, fixed when the account is made, stays at or below
//   epsilon_B - ln(1/(alpha delta_B))/(alpha - 1) - ln(1 - 1/alpha).
//
// Claim: every adaptive sequence of admitted mechanisms is (epsilon_B, delta_B)-DP. Sources: adaptive RDP
// composition at a fixed order with an individual or global filter (Feldman, Zrnic 2021); the conversion of
// Canonne, Kamath, Steinke 2020. "Some order of a grid fits" is not offered: choosing the order after seeing
// the answers is not covered by the theorem.
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/divergence.h"
#include "dp/accounting/event.h"
#include "dp/accounting/rules/rule_definition.h"

namespace curator::dp {
namespace {

constexpr int64_t kRdpUnitsPerOne = 1'000'000'000'000;

absl::Status CheckOrder(const RuleSpec& spec) {
  if (!spec.order) return InvalidField("order", "is required under RDP");
  if (spec.order->denominator <= 0 || spec.order->numerator <= spec.order->denominator) {
    return InvalidField("order", "must be above 1");
  }
  return absl::OkStatus();
}

Interval OrderMinusOne(const RuleSpec& spec) {
  return Quotient({spec.order->numerator - spec.order->denominator}, {spec.order->denominator});
}

absl::StatusOr<Amounts> RdpLimits(const RuleSpec& spec) {
  RETURN_IF_ERROR(CheckEpsilon(spec));
  RETURN_IF_ERROR(CheckDelta(spec));
  RETURN_IF_ERROR(CheckOrder(spec));
  RETURN_IF_ERROR(CheckNoSlack(spec, "RDP"));
  const Interval budget =
      Interval::Of(spec.epsilon) - ConversionPenalty(OrderMinusOne(spec), Interval::Of(spec.delta));
  ASSIGN_OR_RETURN(const int64_t units,
                   UsableLimit((budget * Interval(kRdpUnitsPerOne)).RoundedDown(), "order"));
  return Amounts{units};
}

Interval RdpEpsilonOf(const RuleSpec& spec, int64_t divergence) {
  const Interval penalty = ConversionPenalty(OrderMinusOne(spec), Interval::Of(spec.delta));
  return (Quotient({divergence}, {kRdpUnitsPerOne}) + penalty) * Interval(kEpsilonUnitsPerOne);
}

absl::StatusOr<Interval> RdpUnits(const RuleSpec& spec, const Event& mechanism) {
  const Interval one(kRdpUnitsPerOne);
  const Interval x = OrderMinusOne(spec);
  const auto [alpha, per] = *spec.order;
  using Result = absl::StatusOr<Interval>;
  return std::visit(
      Overloaded{
          [&](const DiscreteGaussianEvent& e) -> Result {
            return Quotient({alpha, e.l2_sensitivity_squared, e.sigma_squared.denominator, kRdpUnitsPerOne},
                            {per, 2, e.sigma_squared.numerator});
          },
          [&](const GaussianEvent& e) -> Result {
            return Quotient(
                {alpha, e.l2_sensitivity_squared.numerator, e.sigma_squared.denominator, kRdpUnitsPerOne},
                {per, 2, e.l2_sensitivity_squared.denominator, e.sigma_squared.numerator});
          },
          [&](const ZcdpEvent& e) -> Result {
            return Quotient({alpha, e.rho.units()}, {per});
          },
          [&](const DiscreteLaplaceEvent& e) -> Result { return RenyiOfDiscreteLaplace(x, e) * one; },
          [&](const LaplaceEvent&) -> Result {
            return RenyiOfLaplace(x, *PureEpsilonUnits(mechanism) / Interval(kEpsilonUnitsPerOne)) * one;
          },
          [&](const ExponentialMechanismEvent& e) -> Result {
            return RenyiOfBoundedRange(x, Interval::Of(e.range)) * one;
          },
          [&](const PureEvent& e) -> Result { return RenyiOfPure(x, Interval::Of(e.epsilon)) * one; },
          [&](const auto&) -> Result {
            return CannotCount("RDP", mechanism, "Gaussian, Laplace, exponential, pure and zCDP mechanisms",
                               "(epsilon, delta) mechanisms need a dataset under ADVANCED");
          }},
      mechanism.what);
}

absl::StatusOr<Amounts> RdpCost(const RuleSpec& spec, const Event& mechanism) {
  RETURN_IF_ERROR(CheckOrder(spec));
  ASSIGN_OR_RETURN(const Interval divergence, RdpUnits(spec, mechanism));
  ASSIGN_OR_RETURN(const int64_t units, divergence.RoundedUp());
  return Amounts{units};
}

}  // namespace

const RuleDefinition& RdpRule() {
  static const RuleDefinition rule = {RuleKind::kRdp, "RDP",         {{"rdp", 12}},
                                      &RdpLimits,     &RdpEpsilonOf, &RdpCost};
  return rule;
}

}  // namespace curator::dp
