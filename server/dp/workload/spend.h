// What a request offers to pay, and what it may buy with it under the rule of its dataset.
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

namespace curator::dp {

// As the caller wrote it: which of the three are set says what is bought.
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

// The spend as one event: what its owner agreed to lose. The price of whatever is bought with it never
// exceeds CostOf() of this event, counter by counter.
Event EventOf(const Budget& budget);

// What is charged for `draws`, fixed beforehand, which `budget` bought: the draws; under a promise of
// (epsilon, delta) the cheapest certified form of them (certification.h). `charged` is what the
// same request was charged with before, if it was: a certificate that this has for the same draws is kept.
// Errors: INVALID_ARGUMENT ("spend...") when they are not certified to keep the promise, or when they cost
// more than EventOf(budget) in some counter of `rule`: computed by the accountant, not believed.
absl::StatusOr<Event> ChargeFor(const RuleSpec& rule, const Budget& budget,
                                const std::vector<CountedEvent>& draws, const std::optional<Event>& charged);

}  // namespace curator::dp
