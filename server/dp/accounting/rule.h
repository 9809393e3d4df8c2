// How an account counts: a rule is a set of additive integer counters with limits (a privacy filter).
//
// Limits are computed once, when the account is made, with outward rounding and rounded down; costs round up,
// and a nonzero cost is at least one unit. Admission is `cost <= limit - spent - held` for each counter and
// nothing else, so it is the same on every machine, O(1), and valid when analysts choose mechanisms and
// parameters adaptively.
//
//   rule      counter (unit)           limit, when (epsilon_B, delta_B) is promised
//   PURE      epsilon (1e-12)          epsilon_B: basic composition (Dwork, McSherry, Nissim, Smith 2006)
//   ADVANCED  epsilon_squared (1e-12)  the largest S2 with sqrt(2 ln(1/d') S2) + S2/2 <= epsilon_B
//             delta (1e-18)            delta_B - d', where d' is `delta_slack`
//                                      (Whitehouse, Ramdas, Rogers, Wu 2023, Theorem 1)
//   ZCDP      rho (1e-12)              the largest rho whose tight conversion at delta_B is <= epsilon_B
//                                      (Canonne, Kamath, Steinke 2020)
//   RDP       rdp (1e-12)              epsilon_B less what the conversion at delta_B adds, at ONE order
//                                      alpha, fixed when the account is made (rules/rdp.cc)
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/accounting/units.h"

namespace curator::dp {

enum class RuleKind { kPure, kAdvanced, kZcdp, kRdp };

// The owner's promise: all answers together are (epsilon, delta)-DP.
struct RuleSpec {
  RuleKind kind = RuleKind::kPure;
  Epsilon epsilon;
  Delta delta;                       // zero under kPure
  std::optional<Rational> order;     // RDP only: alpha > 1
  std::optional<Delta> delta_slack;  // ADVANCED only: d'; delta / 2 (rounded down) unless set
  bool operator==(const RuleSpec&) const = default;
};

struct CounterAmount {
  std::string counter;
  int64_t amount = 0;  // in units of the counter
  bool operator==(const CounterAmount&) const = default;
};

// "PURE", "ADVANCED", "ZCDP", "RDP"; and back (INVALID_ARGUMENT for anything else).
std::string_view RuleName(RuleKind kind);
absl::StatusOr<RuleKind> RuleFromName(std::string_view name);

// The limits of an account under `spec`, in the rule's fixed order of counters.
// Errors: INVALID_ARGUMENT with a field (epsilon, delta, order, delta_slack, rule) when the promise is empty,
// contradictory or out of range.
absl::StatusOr<std::vector<CounterAmount>> LimitsOf(const RuleSpec& spec);

// What `event` costs under `spec`, counter by counter, rounded up. A counter that the event does not affect
// has cost 0. Errors: FAILED_PRECONDITION when the rule cannot count the event; INVALID_ARGUMENT for a
// malformed event; OUT_OF_RANGE when the cost does not fit an int64 (it is refused, never wrapped).
absl::StatusOr<std::vector<CounterAmount>> CostOf(const RuleSpec& spec, const Event& event);

// A counter's amount as an exact decimal, e.g. FormatCounter("rho", 100000000000) = "0.1".
std::string FormatCounter(std::string_view counter, int64_t amount);

}  // namespace curator::dp
