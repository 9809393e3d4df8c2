// What is drawn before a method is chosen, the choice by the number of records, and the price of all that may
// follow.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/noise/noise_spec.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// A method, with its own request and plan.
struct Branch {
  const Synthesizer* method = nullptr;
  SynthesisInput input;
  SynthesisPlan plan;
};

// One noisy count of the records, and what is left for the method.
struct CountFirst {
  NoiseSpec noise;
  Event event;  // of the count
  BudgetShare rest;
};

// A hundredth of the budget for the count, a fiftieth of a pure one, at least one unit. Errors:
// INVALID_ARGUMENT ("spend...").
absl::StatusOr<CountFirst> SplitOffCount(const SynthesisInput& input);

// The number among 64, 256, 1,024, ..., 2^30 to which a noisy number of records is rounded, to within a
// factor of 2; the least and the largest also for what lies beyond. So there are few plans, and all of them
// are known before the count is drawn.
int64_t RoundedRecords(int64_t noisy);

// The first of the chosen methods that can do it, with its plan; `rest` is spent on it, `records` assumed.
// Errors: those of the first method, in the field "workload" where its own settings are too small;
// CANCELLED by the pacer.
absl::StatusOr<Branch> BranchFor(const SynthesisInput& input, const BudgetShare& rest, int64_t records,
                                 std::span<const Synthesizer* const> methods, Pacer& pacer);

// The same where the request declares the number of records, which is not counted then: all is spent.
absl::StatusOr<Branch> DeclaredBranch(const SynthesisInput& input,
                                      std::span<const Synthesizer* const> methods, Pacer& pacer);

// The price of the count and of any branch; memory and time of those that take most. Errors: those of
// BranchFor() for any number of records.
absl::StatusOr<SynthesisPlan> PlanOfBranches(const SynthesisInput& input,
                                             std::span<const Synthesizer* const> methods, Pacer& pacer);

}  // namespace curator::dp
