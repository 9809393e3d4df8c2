// One account of each rule, and costs as plain numbers, for tests.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "dp/accounting/rule.h"
#include "dp/accounting/testing/counter_account.h"

namespace curator::dp::testing {

inline RuleSpec SpecOf(RuleKind kind) {
  RuleSpec spec{kind, Epsilon(4 * kEpsilonUnitsPerOne), Delta(1'000'000'000'000), std::nullopt, std::nullopt};
  if (kind == RuleKind::kPure) spec.delta = Delta(0);
  if (kind == RuleKind::kRdp) spec.order = Rational{17, 2};
  return spec;
}

inline std::vector<RuleSpec> EveryRule() {
  return {SpecOf(RuleKind::kPure), SpecOf(RuleKind::kAdvanced), SpecOf(RuleKind::kZcdp),
          SpecOf(RuleKind::kRdp)};
}

// What `event` costs; none when the rule refuses it.
inline std::optional<std::vector<int64_t>> Cost(const RuleSpec& spec, const Event& event) {
  const absl::StatusOr<std::vector<CounterAmount>> cost = CostOf(spec, event);
  if (!cost.ok()) return std::nullopt;
  return CounterAccount::AmountsOf(*cost);
}

inline std::vector<int64_t> Limits(const RuleSpec& spec) {
  return CounterAccount::AmountsOf(*LimitsOf(spec));
}

inline std::vector<int64_t> Plus(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

inline std::vector<int64_t> Times(std::vector<int64_t> a, int64_t n) {
  for (int64_t& amount : a) amount *= n;
  return a;
}

// Every counter of `a` is at least that of `b`.
inline bool AtLeast(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] < b[i]) return false;
  }
  return true;
}

}  // namespace curator::dp::testing
