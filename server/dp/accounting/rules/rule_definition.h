// A composition rule: its counters, its limits, and the cost of a single mechanism. How the costs of parts
// combine (sum, count, maximum, group) is the same for every rule and is implemented in rule.cc.
//
// A new rule is one file here and one line in AllRules(). Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/accounting/interval.h"
#include "dp/accounting/rule.h"

namespace curator::dp {

struct CounterUnit {
  std::string_view name;
  int decimals;  // one unit is 10^-decimals
};

// Amounts in the order of the rule's counters.
using Amounts = std::vector<int64_t>;

// What a rule charges for a schedule with a certificate: the mechanisms of the schedule (kIgnored), or the
// certified (epsilon, delta) (kCounted).
enum class Certificates { kIgnored, kCounted };

struct RuleDefinition {
  RuleKind kind;
  std::string_view name;
  std::vector<CounterUnit> counters;
  // The limits, rounded down. INVALID_ARGUMENT with a field for a promise that this rule cannot keep.
  absl::StatusOr<Amounts> (*limits)(const RuleSpec& spec);
  // The epsilon, in units of 1e-12, that the rule's theorem gives with spec.delta for charges that add up to
  // `sum` > 0 in the first counter. The upper end holds, and is close to the least that does; spec.epsilon is
  // not used.
  Interval (*epsilon_units_of_sum)(const RuleSpec& spec, int64_t sum);
  // The cost, rounded up, of a mechanism: an event that is not composed, parallel, group or certified, and
  // that is valid. FAILED_PRECONDITION for a mechanism that this rule cannot count.
  absl::StatusOr<Amounts> (*mechanism_cost)(const RuleSpec& spec, const Event& mechanism);
  Certificates certificates = Certificates::kIgnored;
};

const RuleDefinition& PureRule();
const RuleDefinition& AdvancedRule();
const RuleDefinition& ZcdpRule();
const RuleDefinition& RdpRule();

// The definition of `kind`; null when there is none.
const RuleDefinition* DefinitionOf(RuleKind kind);

// All rules.
std::span<const RuleDefinition* const> AllRules();

// FAILED_PRECONDITION with a message that names the mechanism, what the rule counts, and the remedy.
absl::Status CannotCount(std::string_view rule, const Event& mechanism, std::string_view counts,
                         std::string_view remedy);

// The epsilon of a mechanism that has one (delta = 0), in units of 1e-12, enclosed; none for a Gaussian, an
// (epsilon, delta) or a zCDP mechanism. Discrete and continuous Laplace: L1 / scale (Dwork, McSherry, Nissim,
// Smith 2006; for integers Ghosh, Roughgarden, Sundararajan 2009). Exponential mechanism of bounded range
// eta: eta (Durfee, Rogers 2019).
std::optional<Interval> PureEpsilonUnits(const Event& mechanism);

// ---- Checks of an owner's promise, which every rule makes before it computes limits

// INVALID_ARGUMENT unless epsilon > 0.
absl::Status CheckEpsilon(const RuleSpec& spec);
// INVALID_ARGUMENT unless 0 < delta < 1.
absl::Status CheckDelta(const RuleSpec& spec);
// INVALID_ARGUMENT when the promise has an order or a slack: `rule` has none.
absl::Status CheckNoOrder(const RuleSpec& spec, std::string_view rule);
absl::Status CheckNoSlack(const RuleSpec& spec, std::string_view rule);

// The part of delta that an ADVANCED account reserves for composition itself (d' in rule.h).
Delta DeltaSlackOf(const RuleSpec& spec);

// The limit, when it is at least one unit. Otherwise INVALID_ARGUMENT on `field`: no charge could be
// admitted.
absl::StatusOr<int64_t> UsableLimit(absl::StatusOr<int64_t> limit, std::string_view field);

}  // namespace curator::dp
