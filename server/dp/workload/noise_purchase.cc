#include "dp/workload/noise_purchase.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/calculators/schedule.h"

namespace curator::dp {
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

absl::StatusOr<NoisePurchase> BuyNoise(const RuleSpec& rule, const Spend& spend,
                                       const Sensitivity& sensitivity, const Sensitivity& removal,
                                       std::optional<Mechanism> mechanism) {
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(rule, spend));
  ASSIGN_OR_RETURN(const NoiseSpec noise, NoiseFor(budget, sensitivity));
  if (mechanism && *mechanism != noise.mechanism) {
    return InvalidField("mechanism",
                        absl::StrCat("this spend buys ", std::string(MechanismName(noise.mechanism)),
                                     " noise, not ", std::string(MechanismName(*mechanism)),
                                     "; change the spend or leave the mechanism to us"));
  }
  std::vector<CountedEvent> draws = {{.event = NoiseEvent(noise, sensitivity), .count = 1}};
  ASSIGN_OR_RETURN(Event event, ChargeFor(rule, budget, draws, std::nullopt));
  return NoisePurchase{.noise = noise,
                       .draws = draws,
                       .event = std::move(event),
                       .linear = {.draws = std::move(draws), .removals = {{NoiseEvent(noise, removal), 1}}}};
}

}  // namespace curator::dp
