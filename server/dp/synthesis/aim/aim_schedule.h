// The draws of AIM and their price, from public facts.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/accounting/units.h"
#include "dp/noise/noise_spec.h"
#include "dp/queries/linear_queries.h"
#include "dp/sensitivity/part_cost.h"
#include "dp/synthesis/settings.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// What may be measured beside the one-way marginals: the marginals of the workload, the pairs of attributes
// in these, or both.
enum class AimCandidates { kWorkload, kPairs, kBoth };

// How much the error of a candidate counts in a selection: as it is, or (McKenna and others 2022) as often as
// its attributes are in marginals of the workload.
enum class AimWeights { kNone, kOverlap };

struct AimSettings {
  int64_t rounds = 1;
  int64_t one_way_percent = 20;
  int64_t selection_percent = 15;
  AimCandidates candidates = AimCandidates::kWorkload;
  AimWeights weights = AimWeights::kNone;
  int64_t max_cells = 1;
  int64_t sweeps = 10;
  int64_t last_sweeps = 300;
  double slack = 0.3;
};

// Of the largest table that the estimate of a candidate takes; one that takes more is not chosen.
inline constexpr int64_t kMostCellsOfAnEstimate = int64_t{1} << 22;

struct AimCandidate {
  AttributeSet attributes;
  int64_t weight = 1;
};

// One noisy count of the records, then every one-way marginal, then `rounds` times a selection (when there is
// more to choose from than is measured) and the counts of one candidate.
struct AimSchedule {
  AimSettings settings;
  std::map<std::string, std::string> used_settings;
  AttributeSet attributes;  // of the workload
  std::vector<AimCandidate> candidates;
  NoiseSpec record_noise;
  std::vector<AttributeSet> one_ways;
  NoiseSpec one_way_noise;
  int64_t rounds = 0;  // none where there are no candidates
  std::optional<Epsilon> selection;
  NoiseSpec noise;
  std::vector<CountedEvent> draws;
  std::optional<LinearDraws> linear;  // for the accounts of parts, as in SynthesisPlan
  int64_t model_cells = 1;            // of the largest clique that may be held in memory
  int64_t all_cells = 1;              // of all cliques together
};

const std::vector<Setting>& AimSettingsTable();

// The budget: 2% (at least one unit) for the number of records, of the rest `one_way_percent` for the one-way
// marginals, and what is left for the rounds, each of them split between its selection and its measurement;
// what does not divide is not spent. Errors: INVALID_ARGUMENT with a field ("workload", "settings...",
// "spend...").
absl::StatusOr<AimSchedule> MakeAimSchedule(const SynthesisInput& input);

// One line for each kind of draw, and one for the form.
std::vector<std::string> DescribeSchedule(const AimSchedule& schedule);

// What the fit and its model take at most.
SynthesisMemory MemoryOfAim(const SynthesisInput& input, const AimSchedule& schedule);

// Of processor time, as synthesis_forecast.h has it.
double SecondsOfAim(const SynthesisInput& input, const AimSchedule& schedule);

}  // namespace curator::dp
