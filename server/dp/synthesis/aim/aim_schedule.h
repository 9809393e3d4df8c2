// The draws of AIM and their price, from public facts.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/units.h"
#include "dp/synthesis/loop/candidates.h"
#include "dp/synthesis/loop/loop_forecast.h"
#include "dp/synthesis/loop/loop_schedule.h"
#include "dp/synthesis/settings.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

struct AimSettings {
  int64_t rounds = 1;
  int64_t one_way_percent = 20;
  int64_t selection_percent = 15;
  CandidateSets candidates = CandidateSets::kWorkload;
  CandidateWeights weights = CandidateWeights::kNone;
  int64_t sweeps = 10;
};

// One noisy count of the records, then every one-way marginal, then as many times as there are measurements a
// selection (when there is more to choose from than is measured) and the counts of one candidate. A round
// that takes a public marginal leaves its counts for after the last round.
struct AimSchedule {
  AimSettings settings;
  LoopSchedule loop;
  std::optional<Epsilon> selection;
  // Whether the request names a public table, from which marginals may be taken instead.
  bool uses_public = false;
};

// How many forests of marginals are taken from a public table before the rounds, and after them again.
inline constexpr int64_t kPublicForests = 3;

const std::vector<Setting>& AimSettingsTable();

// The budget: 2% (at least one unit) for the number of records, of the rest `one_way_percent` for the one-way
// marginals, and what is left for the rounds, each of them split between its selection and its measurement;
// what does not divide is not spent. Errors: INVALID_ARGUMENT with a field ("workload", "settings...",
// "spend...").
absl::StatusOr<AimSchedule> MakeAimSchedule(const SynthesisInput& input);

// One line for each kind of draw, and one for the form.
std::vector<std::string> DescribeSchedule(const AimSchedule& schedule);

// What it does beside drawing and its last fit.
LoopWork WorkOfAim(const AimSchedule& schedule);

}  // namespace curator::dp
