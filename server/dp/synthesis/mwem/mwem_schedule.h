// What MWEM will draw and what that costs, from public facts.
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
#include "dp/synthesis/dense/dense_layout.h"
#include "dp/synthesis/synthesizer.h"
#include "dp/workload/noise_spec.h"
#include "dp/workload/spend.h"

namespace curator::dp {

enum class MwemIterate { kLast, kAverage };

struct MwemSettings {
  int64_t rounds = 1;
  int64_t selection_percent = 30;  // of a round's budget; the rest measures
  int64_t sweeps = 10;             // over all measurements, in each round at most
  double slack = 0.1;              // see ReplayRule::prior_weight: prior_weight = slack / sigma
  MwemIterate iterate = MwemIterate::kLast;
};

// One noisy count of the records, then `rounds` times: a selection (when there is more to choose from than is
// measured), and the counts of one marginal.
struct MwemSchedule {
  MwemSettings settings;
  std::map<std::string, std::string> used_settings;
  NoiseSpec record_noise;
  NoiseSpec marginal_noise;
  std::optional<Epsilon> selection;
  std::vector<CountedEvent> draws;
  LinearDraws linear;  // for the accounts of parts
  DenseLayout layout;
};

// The budget: 5% (at least one unit) for the number of records, the rest in equal rounds, each of them split
// between its selection and its measurement; what does not divide is not spent. A pure budget is split in
// epsilon: discrete Laplace noise of scale L1/epsilon. A zCDP budget is split in rho: discrete Gaussian
// noise, and the exponential mechanism of the largest epsilon whose exact cost fits. Errors: INVALID_ARGUMENT
// with a field ("workload", "settings...", "spend...").
absl::StatusOr<MwemSchedule> MakeMwemSchedule(const SynthesisInput& input);

// The number of rounds unless it is set: few when noise is large, all marginals when they are not many more
// than that. `records` is a public guess.
int64_t DefaultRounds(const Budget& budget, size_t attributes, size_t marginals, int64_t records);

// The settings of the method, for people.
const std::vector<Setting>& MwemSettingsForPeople();

// One line for each kind of draw.
std::vector<std::string> DescribeSchedule(const MwemSchedule& schedule);

}  // namespace curator::dp
