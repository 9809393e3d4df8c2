// One composition rule: its counters, its limits, and what a single mechanism costs. How costs of parts
// become the cost of a whole (sum, count, maximum, group) is the same for every rule and lives in rule.cc.
//
// A new rule is one file here and one line in AllRules().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

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

// What a rule counts of a schedule with a certificate: the schedule, or the (epsilon, delta) that is
// certified.
enum class Certificates { kIgnored, kCounted };

struct RuleDefinition {
  RuleKind kind;
  std::string_view name;
  std::vector<CounterUnit> counters;
  // The limits, rounded down. INVALID_ARGUMENT with a field for a promise that this rule cannot keep.
  absl::StatusOr<Amounts> (*limits)(const RuleSpec& spec);
  // About the epsilon of the promise whose first limit this is, in units of 1e-12: where a search for the
  // promise starts. Nothing is promised on its strength.
  Interval (*epsilon_units_near)(const RuleSpec& spec, int64_t first_limit);
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

// Every rule there is.
std::span<const RuleDefinition* const> AllRules();

// FAILED_PRECONDITION that names the mechanism, what the rule counts, and what would count it.
absl::Status CannotCount(std::string_view rule, const Event& mechanism, std::string_view counts,
                         std::string_view remedy);

// The epsilon of a mechanism that has one (delta = 0), in units of 1e-12, enclosed; none for a Gaussian, an
// (epsilon, delta) or a zCDP mechanism. Discrete and continuous Laplace: L1 / scale (Dwork, McSherry, Nissim,
// Smith 2006; for integers Ghosh, Roughgarden, Sundararajan 2009). Exponential mechanism of bounded range
// eta: eta (Durfee, Rogers 2019).
std::optional<Interval> PureEpsilonUnits(const Event& mechanism);

}  // namespace curator::dp
