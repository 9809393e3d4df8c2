// What a request offers to spend, the budget and the noise that this buys under the rule of its dataset, and
// what is charged for it: from public facts alone.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/accounting/rule.h"
#include "dp/accounting/units.h"
#include "dp/noise/noise_spec.h"
#include "dp/sensitivity/part_cost.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {

// The offer as the caller wrote it. Which of the three fields are set decides what is bought.
struct Spend {
  std::optional<Epsilon> epsilon = std::nullopt;
  std::optional<Delta> delta = std::nullopt;
  std::optional<Rho> rho = std::nullopt;

  bool operator==(const Spend&) const = default;
};

// Mechanisms whose epsilons sum to at most `epsilon`: discrete Laplace noise and the exponential mechanism.
struct PureBudget {
  Epsilon epsilon;
  bool operator==(const PureBudget&) const = default;
};

// Mechanisms whose rhos sum to at most `rho`: discrete Gaussian noise and the exponential mechanism. When
// `promise` is set, the account counts deltas: the whole of the mechanisms is to be (epsilon, delta)-DP, of
// which `rho` is the tight conversion, rounded down, and it is charged with what is certified for it.
struct ZcdpBudget {
  Rho rho;
  std::optional<ApproximateEvent> promise = std::nullopt;
  bool operator==(const ZcdpBudget&) const = default;
};

using Budget = std::variant<PureBudget, ZcdpBudget>;

// What `spend` buys under `rule`:
//
//   PURE       epsilon            PureBudget
//   ZCDP, RDP  epsilon            PureBudget, counted at its tight cost
//              rho                ZcdpBudget
//   ADVANCED   epsilon            PureBudget
//              epsilon and delta  ZcdpBudget of the largest rho whose tight conversion at delta is at most
//                                 epsilon (Canonne, Kamath, Steinke 2020), with (epsilon, delta) as promise
//
// Errors: INVALID_ARGUMENT with a field ("spend", "spend.epsilon", "spend.delta", "spend.rho") for anything
// else: nothing set, a combination that the rule does not know, an amount that is zero or negative.
absl::StatusOr<Budget> BudgetOf(const RuleSpec& rule, const Spend& spend);

// The spend as one event: the loss that was agreed to. The price of whatever is bought with it never
// exceeds CostOf() of this event, counter by counter.
Event EventOf(const Budget& budget);

// The event to charge for `draws`, which `budget` bought and which are fixed before the first is made: their
// composition; under a promise of (epsilon, delta) the cheapest certified form
// (dp/accounting/certification.h). `charged` is the event that an earlier attempt of this request was
// charged, if any; its certificate for the same draws is reused.
// Errors: INVALID_ARGUMENT ("spend...") when they are not certified to keep the promise, or when they cost
// more than EventOf(budget) in some counter of `rule`, by the accountant's own computation.
absl::StatusOr<Event> ChargeFor(const RuleSpec& rule, const Budget& budget,
                                const std::vector<CountedEvent>& draws, const std::optional<Event>& charged);

// The noise that a spend buys for one vector of answers: one draw of `noise` on the whole vector.
struct NoisePurchase {
  NoiseSpec noise;
  std::vector<CountedEvent> draws;  // what the kernel's meter admits
  Event event;                      // what is charged and recorded
  // For the accounts of dataset parts; none where the draws are not linear.
  std::optional<LinearDraws> linear = std::nullopt;
};

// INVALID_ARGUMENT ("mechanism") unless a spend that buys noise of `bought` buys what is `wanted`.
absl::Status CheckBuys(Mechanism bought, Mechanism wanted);

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
