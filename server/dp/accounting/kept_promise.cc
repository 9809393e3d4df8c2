#include "dp/accounting/kept_promise.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/rules/rule_definition.h"
#include "dp/accounting/units.h"

namespace curator::dp {
namespace {

// The limit of the counter that epsilon decides; -1 for an epsilon that leaves none or is out of range.
int64_t LimitAt(const RuleSpec& promise, int64_t epsilon_units) {
  RuleSpec rule = promise;
  rule.epsilon = Epsilon(epsilon_units);
  const absl::StatusOr<std::vector<CounterAmount>> limits = LimitsOf(rule);
  return limits.ok() ? limits->front().amount : -1;
}

// The epsilon, in units, that the search starts from; one where there is none.
int64_t Near(const RuleSpec& promise, int64_t limit) {
  const RuleDefinition* rule = DefinitionOf(promise.kind);
  const absl::StatusOr<int64_t> near = rule->epsilon_units_of_sum(promise, limit).RoundedUp();
  return near.ok() ? std::max<int64_t>(*near, 1) : 1;
}

// An epsilon, in units, whose limit reaches `limit`, and the next to none that does.
absl::StatusOr<int64_t> ReachingUnits(const RuleSpec& promise, int64_t limit) {
  constexpr int64_t kMost = int64_t{1} << 62;
  int64_t units = Near(promise, limit);
  for (int64_t step = 1; LimitAt(promise, units) < limit; step *= 2) {
    if (units > kMost - step) return absl::DataLossError("an account has a limit that no epsilon gives");
    units += step;
  }
  return units;
}

// The roundest number at or above `units` whose limit is `limit` as well; `units` when there is none.
int64_t Rounded(const RuleSpec& promise, int64_t units, int64_t limit) {
  constexpr int kMostDigits = 15;
  int64_t rounded = units;
  int some = 0;  // digits that can be dropped
  int too_many = kMostDigits + 1;
  while (too_many - some > 1) {
    const int digits = some + (too_many - some) / 2;
    int64_t step = 1;
    for (int i = 0; i < digits; ++i) step *= 10;
    const int64_t candidate = (units - 1) / step * step + step;
    if (LimitAt(promise, candidate) == limit) {
      rounded = candidate;
      some = digits;
    } else {
      too_many = digits;
    }
  }
  return rounded;
}

bool HasCountersOf(const RuleDefinition& rule, const std::vector<CounterAmount>& amounts) {
  return std::equal(amounts.begin(), amounts.end(), rule.counters.begin(), rule.counters.end(),
                    [](const CounterAmount& a, const CounterUnit& b) { return a.counter == b.name; });
}

}  // namespace

absl::StatusOr<RuleSpec> KeptPromise(const RuleSpec& opened, const std::vector<CounterAmount>& limits) {
  ASSIGN_OR_RETURN(const std::vector<CounterAmount> opening, LimitsOf(opened));
  if (limits == opening) return opened;
  if (!HasCountersOf(*DefinitionOf(opened.kind), limits))
    return absl::DataLossError("an account has other counters than its rule");
  RuleSpec promise = opened;
  if (opened.kind == RuleKind::kAdvanced && limits.at(1) != opening.at(1)) {
    promise.delta_slack = DeltaSlackOf(opened);
    ASSIGN_OR_RETURN(const int64_t delta, CheckedAdd(promise.delta_slack->units(), limits.at(1).amount));
    promise.delta = Delta(delta);
  }
  const int64_t limit = limits.front().amount;
  if (limit == opening.front().amount) return promise;
  ASSIGN_OR_RETURN(const int64_t units, ReachingUnits(promise, limit));
  promise.epsilon = Epsilon(Rounded(promise, units, limit));
  return promise;
}

absl::StatusOr<Epsilon> EpsilonUsed(const RuleSpec& promise, const std::vector<CounterAmount>& limits,
                                    const std::vector<CounterAmount>& spent) {
  const RuleDefinition* rule = DefinitionOf(promise.kind);
  if (!HasCountersOf(*rule, limits) || !HasCountersOf(*rule, spent))
    return absl::DataLossError("an account has other counters than its rule");
  const bool is_delta_kept = spent.size() == 1 || spent.at(1).amount <= limits.at(1).amount;
  if (!is_delta_kept) return absl::DataLossError("an account has spent more than the delta of its promise");
  if (spent.front().amount <= 0) return Epsilon();
  const absl::StatusOr<int64_t> units = rule->epsilon_units_of_sum(promise, spent.front().amount).RoundedUp();
  if (!units.ok()) return absl::DataLossError("an account has spent more than any epsilon allows");
  const Epsilon used(*units);
  return spent.front().amount <= limits.front().amount ? std::min(used, promise.epsilon) : used;
}

absl::StatusOr<RuleSpec> WithEpsilon(const RuleSpec& opened, Epsilon epsilon) {
  RuleSpec promise = opened;
  promise.epsilon = epsilon;
  RETURN_IF_ERROR(LimitsOf(promise).status());
  return promise;
}

absl::StatusOr<RuleSpec> WithDelta(const RuleSpec& opened, Delta delta) {
  if (opened.kind != RuleKind::kAdvanced) {
    return InvalidField("delta", absl::StrCat("is fixed under ", std::string(RuleName(opened.kind)),
                                              ": change the promise by its epsilon"));
  }
  RuleSpec promise = opened;
  promise.delta_slack = DeltaSlackOf(opened);
  promise.delta = delta;
  if (delta < *promise.delta_slack) {
    return InvalidField("delta", absl::StrCat("must be at least ", promise.delta_slack->ToString(),
                                              ", the part that this account reserves for composition"));
  }
  RETURN_IF_ERROR(LimitsOf(promise).status());
  return promise;
}

}  // namespace curator::dp
