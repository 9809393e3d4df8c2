// What every method of the loop plans: the number of records and all one-way marginals first, then more
// marginals, all of which are fitted as a product over cliques (loop/clique_run.h).
//
// Thread-safe: plain values and pure functions of public facts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/noise/noise_spec.h"
#include "dp/sensitivity/part_cost.h"
#include "dp/synthesis/loop/candidates.h"
#include "dp/synthesis/loop/fit_settings.h"
#include "dp/synthesis/loop/purse.h"
#include "dp/synthesis/models/clique_tree.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

struct LoopSchedule {
  FitSettings fit;
  std::map<std::string, std::string> used_settings;
  AttributeSet attributes;  // of the workload
  std::vector<MarginalCandidate> candidates;
  std::vector<size_t> constraints;  // positions among those of the domain: what the cliques keep to
  NoiseSpec record_noise;
  std::vector<AttributeSet> one_ways;
  NoiseSpec one_way_noise;
  int64_t measurements = 0;  // beside the one-way marginals; none where there are no candidates
  NoiseSpec noise;           // of each of them
  std::vector<CountedEvent> draws;
  std::optional<LinearDraws> linear;            // for the accounts of parts, as in SynthesisPlan
  int64_t model_cells = 1;                      // of the largest clique that may be held in memory
  int64_t all_cells = 1;                        // of all cliques together
  int64_t max_separator = kMostSeparatorCells;  // of the cliques
};

// The attributes of the workload and their one-way marginals. Errors: those of ValidateWorkload().
absl::StatusOr<LoopSchedule> StartSchedule(const SynthesisInput& input);

// INVALID_ARGUMENT ("settings.max_cells") unless the one-way marginals, from which cliques grow, fit.
absl::Status CheckOneWays(const Domain& domain, const LoopSchedule& schedule);

// Fills in the largest separator, and the constraints that cliques of at most fit.max_cells hold.
void HoldConstraints(const Domain& domain, LoopSchedule& schedule);

// Reads how measurements are fitted and what may be measured, and fills in the candidates and constraints.
// Returns the kind of candidates in use. Errors: those of SettingsReader and CheckOneWays().
absl::StatusOr<CandidateSets> ReadFitAndCandidates(const SynthesisInput& input, CandidateWeights weights,
                                                   SettingsReader& reader, LoopSchedule& schedule);

// Whether what is measured has to be chosen: there are fewer measurements than candidates, or no cliques hold
// all candidates.
bool HasToChoose(const Domain& domain, const LoopSchedule& schedule);

// Buys the number of records, and one-way marginals for `one_way_percent` of what is left; for all of it
// where there are no candidates. Errors: those of Purse.
absl::Status BuyFirstDraws(int64_t one_way_percent, Purse& purse, LoopSchedule& schedule);

// Fills in what follows from all that was bought.
void FinishSchedule(const SynthesisInput& input, const Purse& purse, LoopSchedule& schedule);

// Lines for display: of the first two draws, and of the cells that are held in memory.
std::vector<std::string> DescribeFirstDraws(const LoopSchedule& schedule);
std::string DescribeCells(const LoopSchedule& schedule);

}  // namespace curator::dp
