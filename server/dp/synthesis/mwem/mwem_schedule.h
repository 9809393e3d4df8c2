// The draws of MWEM and their price, from public facts.
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
#include "dp/sensitivity/sensitivity.h"
#include "dp/sensitivity/spend.h"
#include "dp/synthesis/mwem/mwem_settings.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// Rounds of one price: a selection (when there is more to choose from than is measured), and the answers of
// one candidate.
struct MwemStage {
  int64_t rounds = 1;
  std::optional<Epsilon> selection;
  NoiseSpec noise;
};

// One noisy count of the records, then the measurements beforehand, then the stages.
struct MwemSchedule {
  MwemSettings settings;
  std::map<std::string, std::string> used_settings;
  AttributeSet attributes;  // of the workload
  int64_t candidates = 0;
  std::vector<size_t> constraints;  // positions among those of the domain: what the cliques keep to
  NoiseSpec record_noise;
  std::vector<QueryGroup> initial;  // empty: nothing is measured beforehand
  NoiseSpec initial_noise;
  std::vector<MwemStage> stages;
  std::vector<CountedEvent> draws;
  std::optional<LinearDraws> linear;  // for the accounts of parts, as in SynthesisPlan
  int64_t model_cells = 1;            // of the largest table that may be held in memory
  int64_t all_cells = 1;              // of all tables together
};

// The budget: 5% (at least one unit) for the number of records, of the rest `init_percent` for the
// measurements beforehand, and what is left for the rounds, each of them split between its selection and its
// measurement; what does not divide is not spent. A pure budget is split in epsilon: discrete Laplace noise
// of scale L1/epsilon. A zCDP budget is split in rho: discrete Gaussian noise, and the exponential mechanism
// of the largest epsilon whose exact cost fits. Errors: INVALID_ARGUMENT with a field ("workload",
// "settings...", "spend...").
absl::StatusOr<MwemSchedule> MakeMwemSchedule(const SynthesisInput& input);

// The sensitivity of one candidate: a whole marginal, or a query of a group. Errors: INVALID_ARGUMENT
// ("workload") when they differ, because then the price would depend on the choice; those of
// QueriesSensitivity().
absl::StatusOr<Sensitivity> CandidateSensitivity(const SynthesisInput& input, const UnitBound& unit);

// How many candidates a valid workload has: one for each whole marginal, one for each query of other groups.
int64_t NumberOfCandidates(const SynthesisInput& input);

// One line for each kind of draw, and one for the form.
std::vector<std::string> DescribeSchedule(const MwemSchedule& schedule);

}  // namespace curator::dp
