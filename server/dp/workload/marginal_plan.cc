#include "dp/workload/marginal_plan.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/workload/sensitivity.h"

namespace curator::dp {
namespace {

absl::StatusOr<NoiseSpec> NoiseFor(const Budget& budget, const Sensitivity& sensitivity) {
  if (const auto* pure = std::get_if<PureBudget>(&budget)) return LaplaceNoiseFor(sensitivity, pure->epsilon);
  return GaussianNoiseFor(sensitivity, std::get<ZcdpBudget>(budget).rho);
}

// A charged (epsilon, delta) names its own price; every other budget is charged as the draw that was bought.
Event ChargeFor(const Budget& budget, const Event& draw) {
  const auto* zcdp = std::get_if<ZcdpBudget>(&budget);
  if (zcdp != nullptr && zcdp->charged_as) return {*zcdp->charged_as};
  return draw;
}

}  // namespace

absl::StatusOr<MarginalPlan> PlanMarginals(const Domain& domain, const UnitBound& unit, const RuleSpec& rule,
                                           std::vector<AttributeSet> marginals, const Spend& spend,
                                           std::optional<Mechanism> mechanism) {
  RETURN_IF_ERROR(ValidateMarginals(domain, marginals));
  ASSIGN_OR_RETURN(const int64_t total_cells, TotalCells(domain, marginals));
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(rule, spend));
  ASSIGN_OR_RETURN(const Sensitivity sensitivity,
                   MarginalsSensitivity(unit, static_cast<int64_t>(marginals.size())));
  ASSIGN_OR_RETURN(const NoiseSpec noise, NoiseFor(budget, sensitivity));
  if (mechanism && *mechanism != noise.mechanism) {
    return InvalidField("mechanism",
                        absl::StrCat("this spend buys ", std::string(MechanismName(noise.mechanism)),
                                     " noise, not ", std::string(MechanismName(*mechanism)),
                                     "; change the spend or leave the mechanism to us"));
  }
  const Event draw = NoiseEvent(noise, sensitivity);
  return MarginalPlan{.marginals = std::move(marginals),
                      .noise = noise,
                      .draws = {CountedEvent{.event = draw, .count = 1}},
                      .event = ChargeFor(budget, draw),
                      .total_cells = total_cells};
}

}  // namespace curator::dp
