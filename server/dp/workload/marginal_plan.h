// A marginal workload as it will be answered and priced, made from public facts alone.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/accounting/rule.h"
#include "dp/domain/domain.h"
#include "dp/workload/marginals.h"
#include "dp/workload/noise_spec.h"
#include "dp/workload/part_cost.h"
#include "dp/workload/spend.h"

namespace curator::dp {

// The kernel draws Kernel::NoisyCounts(marginals, noise) once.
struct MarginalPlan {
  std::vector<AttributeSet> marginals;
  NoiseSpec noise;
  std::vector<CountedEvent> draws;  // what the kernel's meter admits
  Event event;                      // what is charged and recorded
  int64_t total_cells = 0;
  LinearDraws linear;  // for the accounts of parts
};

// Answers all of `marginals` as one vector query: the budget is split equally over the marginals, which is
// the same as one draw at the sensitivity of the whole vector (see sensitivity.h). A pure budget buys
// discrete Laplace noise of scale L1 / epsilon, a zCDP budget discrete Gaussian noise of sigma^2 = L2^2 / (2
// rho), both exactly; under a promise of (epsilon, delta) the least discrete Gaussian noise that is certified
// to keep it. The price of `event` under `rule` never exceeds that of the spend. `mechanism`, when given,
// must be the one that the spend buys. Errors: INVALID_ARGUMENT with a field ("spend...", "workload...",
// "mechanism").
absl::StatusOr<MarginalPlan> PlanMarginals(const Domain& domain, const UnitBound& unit, const RuleSpec& rule,
                                           std::vector<AttributeSet> marginals, const Spend& spend,
                                           std::optional<Mechanism> mechanism);

}  // namespace curator::dp
