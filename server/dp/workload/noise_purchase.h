// The noise that a spend buys for one vector of answers, and what is charged for it: from public facts alone.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/accounting/rule.h"
#include "dp/workload/noise_spec.h"
#include "dp/workload/part_cost.h"
#include "dp/workload/sensitivity.h"
#include "dp/workload/spend.h"

namespace curator::dp {

// One draw of `noise` on the whole vector.
struct NoisePurchase {
  NoiseSpec noise;
  std::vector<CountedEvent> draws;  // what the kernel's meter admits
  Event event;                      // what is charged and recorded
  LinearDraws linear;               // for the accounts of parts
};

// A pure budget buys discrete Laplace noise of scale L1 / epsilon, a zCDP budget discrete Gaussian noise of
// sigma^2 = L2^2 / (2 rho), both exactly; under a promise of (epsilon, delta) the least discrete Gaussian
// noise that is certified to keep it. The price of `event` under `rule` never exceeds that of the spend.
// `sensitivity` is the vector's under the dataset's relation, `removal` the same under ADD_REMOVE.
// `mechanism`, when given, must be the one that the spend buys. Errors: INVALID_ARGUMENT with a field
// ("spend...", "mechanism").
absl::StatusOr<NoisePurchase> BuyNoise(const RuleSpec& rule, const Spend& spend,
                                       const Sensitivity& sensitivity, const Sensitivity& removal,
                                       std::optional<Mechanism> mechanism);

}  // namespace curator::dp
