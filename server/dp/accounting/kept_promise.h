// The promise that an account keeps after its limits were changed.
//
// Thread-safe: pure functions.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/rule.h"

namespace curator::dp {

// A promise, in epsilon and delta, close to the least one of an account opened under `opened` whose counters
// are limited by `limits` (in the rule's order, with its counters). Rounded up: to the fewest decimals that
// give the same limits, so that a limit which was set from "epsilon 2.5" reads as 2.5 again.
//
// Claim: everything that this account admits is (epsilon, delta)-DP for the returned epsilon and delta.
// Proof: the returned promise P has LimitsOf(P) >= limits, counter by counter, under the same rule, order and
// slack. So what the account admits, an account opened under P would admit too, and that one keeps P (the
// filter theorems of rules/). The proof does not depend on how P was found.
//
// Errors: DATA_LOSS when the counters are not the rule's, or when no promise has limits this high.
absl::StatusOr<RuleSpec> KeptPromise(const RuleSpec& opened, const std::vector<CounterAmount>& limits);

// What an account has used of `promise`, which KeptPromise() gave for `limits`: an epsilon, close to the
// least one and rounded up, such that everything that was charged to it is (epsilon, promise.delta)-DP
// together. 0 while the counter that epsilon decides is at 0; never above promise.epsilon while `spent` is
// within `limits`. `limits` and `spent` are in the rule's order, with its counters.
//
// Claim and proof: an account with `spent` as its limits would have admitted the same charges, so the theorem
// of the rule (rules/) holds with these sums in place of limits. Takes less than a millisecond.
// Errors: DATA_LOSS when the counters are not the rule's, when more delta was spent than the limit, or when
// the epsilon is out of range.
absl::StatusOr<Epsilon> EpsilonUsed(const RuleSpec& promise, const std::vector<CounterAmount>& limits,
                                    const std::vector<CounterAmount>& spent);

// `opened` with another epsilon, or with another delta: order and slack are unchanged, so at most one
// counter's limit changes. Errors: INVALID_ARGUMENT (epsilon, delta) when the rule cannot keep it, or
// when delta has no limit of its own under the rule (every rule but ADVANCED).
absl::StatusOr<RuleSpec> WithEpsilon(const RuleSpec& opened, Epsilon epsilon);
absl::StatusOr<RuleSpec> WithDelta(const RuleSpec& opened, Delta delta);

}  // namespace curator::dp
