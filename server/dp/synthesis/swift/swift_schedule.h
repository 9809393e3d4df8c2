// The draws of SWIFT and their price, from public facts.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/noise/noise_spec.h"
#include "dp/synthesis/loop/loop_forecast.h"
#include "dp/synthesis/loop/loop_schedule.h"
#include "dp/synthesis/settings.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

struct SwiftSettings {
  int64_t measurements = 1;
  int64_t looks = 1;
  int64_t one_way_percent = 20;
  int64_t look_percent = 10;
  CandidateSets candidates = CandidateSets::kPairs;
  int64_t sweeps = 10;
};

// One noisy count of the records, then every one-way marginal, then, as many times as there are looks (none
// where everything is measured), the noisy errors of all candidates, and after each its share of the counts
// of one candidate.
struct SwiftSchedule {
  SwiftSettings settings;
  LoopSchedule loop;
  int64_t looks = 0;
  NoiseSpec error_noise;
};

const std::vector<Setting>& SwiftSettingsTable();

// The budget: 2% (at least one unit) for the number of records, of the rest `one_way_percent` for the one-way
// marginals, of what is left `look_percent` for the looks, and the rest for the measurements; what does not
// divide is not spent. Errors: INVALID_ARGUMENT with a field ("workload", "settings...", "spend...").
absl::StatusOr<SwiftSchedule> MakeSwiftSchedule(const SynthesisInput& input);

// One line for each kind of draw, and one for the form.
std::vector<std::string> DescribeSchedule(const SwiftSchedule& schedule);

// What it does beside drawing and its last fit.
LoopWork WorkOfSwift(const SwiftSchedule& schedule);

}  // namespace curator::dp
