// Which method, with which settings, by public facts: a rule that was found by experiment on half of the
// tables (docs/results/auto.md).
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// A method by name, with the settings that are not left to it.
struct MethodChoice {
  std::string method;
  std::map<std::string, std::string> settings;
};

// The methods for `input`, best first; a later one is for where an earlier one refuses the request. `whole`
// is the amount to spend, `records` about the number of records, from 1 on. Where the schema has constraints,
// methods that keep to them. Square roots at most, so that every machine finds the same. The workload is
// valid.
std::vector<MethodChoice> ChooseMethods(const SynthesisInput& input, const BudgetShare& whole,
                                        int64_t records);

}  // namespace curator::dp
