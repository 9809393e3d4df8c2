// The settings of MWEM, and their defaults from public facts.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/sensitivity/spend.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

enum class MwemIterate { kLast, kAverage };

// What is measured before the first round: nothing; all one-way marginals of the workload's attributes; all
// cells of their product.
enum class MwemInit { kUniform, kMarginals, kDomain };

// Whether rounds go on as planned, or end when the signal drops below the noise, to begin again with rounds
// of twice the budget.
enum class MwemRounds { kFixed, kAdaptive };

enum class MwemForm { kDense, kFactored };

// MwemSettingsTable() has the defaults and ranges.
struct MwemSettings {
  int64_t rounds = 1;             // of each stage
  int64_t selection_percent = 0;  // of a round's budget; the rest measures
  int64_t sweeps = 0;             // over all measurements, in each round at most
  int64_t last_sweeps = 0;        // likewise, after the last round
  double converged = 0;           // see ReplayRule
  double slack = 0;               // see ReplayRule::prior_weight: prior_weight = slack / sigma
  MwemIterate iterate = MwemIterate::kLast;
  MwemInit init = MwemInit::kUniform;
  AttributeSet one_ways;     // that are measured beforehand with kMarginals
  int64_t init_percent = 0;  // of the budget, when something is measured beforehand
  MwemRounds adaptive = MwemRounds::kFixed;
  MwemForm form = MwemForm::kDense;
  int64_t max_cells = 1;  // of all tables together
};

// The stages of an adaptive schedule; a round of each costs twice what a round of the stage before costs.
inline constexpr int64_t kAdaptiveStages = 4;

// A domain of more cells is held in cliques by default.
inline constexpr int64_t kMostCellsHeldWhole = int64_t{1} << 22;

// The settings in use, and every key with its value; "auto" is replaced by the choice that was made.
// `candidates`: the number that rounds choose among. Errors: INVALID_ARGUMENT ("settings...", "workload" when
// the domain is too large for what was asked).
struct ReadMwemSettings {
  MwemSettings settings;
  std::map<std::string, std::string> used;
};
absl::StatusOr<ReadMwemSettings> ReadSettings(const SynthesisInput& input, const Budget& budget,
                                              int64_t candidates);

// The default number of rounds: few when noise is large, all candidates when they are not many more
// than that. `complexity`: in proportion to the number of attributes of whole marginals, or of binary digits
// of a cell of the domain for other queries, less where these are ranges. `records` is a public guess.
int64_t DefaultRounds(const Budget& budget, double complexity, int64_t candidates, int64_t records);

// The settings of the method.
const std::vector<Setting>& MwemSettingsTable();

}  // namespace curator::dp
