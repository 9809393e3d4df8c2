// PURE: the sum of epsilons stays at or below epsilon_B.
//
// Claim: every adaptive sequence of admitted mechanisms is epsilon_B-DP. Source: basic composition (Dwork,
// McSherry, Nissim, Smith 2006); as a filter, Rogers, Roth, Ullman, Vadhan 2016: at every prefix the product
// of likelihood ratios is at most e to the sum, however the parameters were chosen from earlier results.
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/rules/rule_definition.h"

namespace curator::dp {
namespace {

absl::StatusOr<Amounts> PureLimits(const RuleSpec& spec) {
  RETURN_IF_ERROR(CheckEpsilon(spec));
  RETURN_IF_ERROR(CheckNoOrder(spec, "PURE"));
  RETURN_IF_ERROR(CheckNoSlack(spec, "PURE"));
  if (spec.delta.units() != 0) return InvalidField("delta", "must be zero under PURE");
  return Amounts{spec.epsilon.units()};
}

Interval PureEpsilonOf(const RuleSpec&, int64_t epsilon_units) {
  return Interval(epsilon_units);
}

absl::StatusOr<Amounts> PureCost(const RuleSpec&, const Event& mechanism) {
  const std::optional<Interval> epsilon = PureEpsilonUnits(mechanism);
  if (!epsilon) {
    return CannotCount(
        "PURE", mechanism,
        "mechanisms with a finite epsilon at delta = 0 (discrete Laplace, Laplace, exponential, pure)",
        "use one of these, or a dataset under ZCDP or ADVANCED");
  }
  ASSIGN_OR_RETURN(const int64_t units, epsilon->RoundedUp());
  return Amounts{units};
}

}  // namespace

const RuleDefinition& PureRule() {
  static const RuleDefinition rule = {RuleKind::kPure, "PURE",         {{"epsilon", 12}},
                                      &PureLimits,     &PureEpsilonOf, &PureCost};
  return rule;
}

}  // namespace curator::dp
