// The draws of RAP and their price, from public facts.
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
#include "dp/sensitivity/spend.h"
#include "dp/synthesis/rap/projection.h"
#include "dp/synthesis/rap/rap_candidates.h"
#include "dp/synthesis/rap/relaxed_layout.h"
#include "dp/synthesis/synthesis_memory.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// Where each round's projection starts: from the rows of the round before, or from scratch.
enum class RapStart { kWarm, kCold };

// The unit of choosing and measuring: whole marginals, each at the price of one query, or the workload's
// queries one by one as in the paper.
enum class RapMeasure { kMarginals, kQueries };

// The fewest steps of a round, unless the request gives their number.
inline constexpr int64_t kLeastStepsOfARound = 5;

// RapSettingsTable() has the defaults and ranges.
struct RapSettings {
  RapMeasure measure = RapMeasure::kMarginals;
  int64_t rounds = 1;
  int64_t per_round = 1;  // marginals or queries measured in a round
  int64_t rows = 1;       // of the relaxed dataset
  int64_t steps = 1;      // of the optimiser, in all rounds together, at most; at least one for each round
  // About the answers times rows, and twenty times the parameters, that all steps read together; a round may
  // still take kLeastStepsOfARound, unless the request asks for fewer. Without this limit all steps are
  // taken, also those that only fit noise.
  int64_t work = INT64_MAX;
  int64_t selection_percent = 0;  // of what a round costs; the rest measures
  int64_t one_way_percent = 0;    // of the whole; measures the marginal of each attribute first
  double rate = 0;                // of Adam
  double fit = 0;                 // a fit ends at a loss of this many squared standard deviations an answer
  double spread = 0;              // how far apart rows start
  Relaxation relaxation = Relaxation::kSoftmax;
  RapStart start = RapStart::kWarm;
  int64_t at_least = 1;  // with single queries: cells stand for the records that share this many values
};

// One noisy count of the records; the marginal of each attribute; then `rounds` times `per_round` times: a
// selection (when there is more to choose from than is measured), and the counts of one marginal, or of one
// query.
struct RapSchedule {
  RapSettings settings;
  std::map<std::string, std::string> used_settings;
  std::vector<AttributeSet> sets;      // of the workload, to choose from
  std::vector<SingleQueries> queries;  // to choose from instead; empty unless they are measured
  AttributeSet attributes;             // in any of them
  NoiseSpec record_noise;
  std::optional<NoiseSpec> one_way_noise;
  NoiseSpec marginal_noise;  // or of a query
  std::optional<Epsilon> selection;
  std::vector<CountedEvent> draws;
  std::optional<LinearDraws> linear;  // for the accounts of parts; none where draws are not linear
  int64_t most_cells = 0;             // of all answers that a step of the optimiser reads
  int64_t fit_bytes = 0;              // that the fit holds in memory, at most
  SynthesisMemory memory;
  double cpu_seconds = 0;  // as synthesis_forecast.h has it
};

// The default number of rounds and of marginals in each, from the workload alone. A marginal of a pair of
// attributes that others have measured already adds little; so at least as many are measured as hold each
// pair of attributes about twice, and at most as many as hold it six times, if there is work for so many:
// each then has more noise, but where marginals overlap it is averaged out, and less is left out. Where there
// is work for all, or the least is most of them, all are measured at once, and nothing is spent on choosing;
// else they are chosen in up to five rounds, because later choices profit from earlier measurements. No more
// are measured than noise leaves legible.
struct RapRounds {
  int64_t rounds = 1;
  int64_t per_round = 1;
};
// `worked`: how many there is work for. `legible`: how many the budget measures well enough.
RapRounds DefaultRounds(const AttributeSet& attributes, const std::vector<AttributeSet>& sets,
                        int64_t worked = 0, int64_t legible = INT64_MAX);

// Whether its rounds end by what a shadow shows (ProjectionRule::least_gain), if there is work for it.
bool AreShadowed(const RapSchedule& schedule);

// The most steps that the round from 0 on may take: of all rounds together, exactly settings.steps.
int64_t MostStepsOf(const RapSettings& settings, int64_t round);

// Errors: INVALID_ARGUMENT with a field ("workload", "settings...", "spend...").
absl::StatusOr<RapSchedule> MakeRapSchedule(const SynthesisInput& input);

// Where the rows of the fit lie; those of its answers lie as RelaxedLayout::Create() has them. Errors:
// INVALID_ARGUMENT ("settings.rows") where either is too large; never for a schedule that MakeRapSchedule()
// has made.
absl::StatusOr<RelaxedLayout> LayoutFor(const Domain& domain, const RapSchedule& schedule);
absl::StatusOr<RelaxedLayout> AnsweringLayoutFor(const Domain& domain, const RapSchedule& schedule);

// The settings of the method.
const std::vector<Setting>& RapSettingsTable();

// One line for each kind of draw, and what choices and fit take.
std::vector<std::string> DescribeSchedule(const Domain& domain, const RapSchedule& schedule);

}  // namespace curator::dp
