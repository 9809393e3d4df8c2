#include "dp/synthesis/aim/aim_schedule.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/models/product_model.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

constexpr int64_t kAimMostRounds = 1000;
constexpr int64_t kAimRecordParts = 50;  // see RecordCountUnits()
constexpr int64_t kAimGuessedRecords = 20'000;
constexpr int64_t kUsualMostCells = int64_t{1} << 18;
// Marginals of at most so many cells are measured whole, of larger ones the pairs.
constexpr int64_t kSmallMarginal = 64;
constexpr int64_t kManyAimCells = int64_t{1} << 40;
// The estimates of all candidates are computed in each round.
constexpr size_t kMostWorkloadCandidates = 2000;
constexpr int64_t kMostAimCandidates = 20'000;
constexpr int64_t kLargestAimWeight = int64_t{1} << 16;

// Without a value the choice follows from the request.
constexpr Choices<std::optional<AimCandidates>, 4> kAimCandidates = {{{"auto", std::nullopt},
                                                                      {"workload", AimCandidates::kWorkload},
                                                                      {"pairs", AimCandidates::kPairs},
                                                                      {"both", AimCandidates::kBoth}}};
constexpr Choices<AimWeights, 2> kAimWeights = {
    {{"none", AimWeights::kNone}, {"overlap", AimWeights::kOverlap}}};

// What the defaults are chosen from.
struct AimFacts {
  double records = 1;  // a public guess
  double attributes = 1;
  double mean_size = 1;        // of the attributes
  double candidate_cells = 1;  // the mean over the candidates
  int64_t candidates = 0;
  BudgetShare budget;
};

// How far noise of the whole budget moves one count, when `counts` marginals share it, in proportion to the
// records. Square roots only, so that every machine finds the same.
double NoiseShare(const AimFacts& facts, double counts) {
  const double amount = static_cast<double>(facts.budget.units) / 1e12;
  const double noise = facts.budget.is_pure ? counts / amount : 0.8 * std::sqrt(counts / (2 * amount));
  return noise / facts.records;
}

// Found by experiment on half of the tables (docs/results/aim.md): the more the one-way marginals suffer from
// noise the more they get, for nothing is known without them; where they do not, the marginals of several
// attributes say them, too.
int64_t DefaultOneWayPercent(const AimFacts& facts) {
  if (facts.candidates == 0) return 99;
  const double lost = facts.mean_size * NoiseShare(facts, facts.attributes);
  return std::clamp<int64_t>(static_cast<int64_t>(180 * std::sqrt(lost)), 2, 80);
}

// Likewise: as many rounds as leave each measurement about as much noise as it has signal, which is less the
// more cells it has.
int64_t DefaultAimRounds(const AimFacts& facts) {
  const double signal = 0.004 / NoiseShare(facts, 1);
  const double narrow = std::sqrt(std::sqrt(8 / std::max(8.0, facts.candidate_cells)));
  const double rounds = 1.5 * facts.attributes * std::sqrt(signal) * narrow;
  return std::max<int64_t>(1, static_cast<int64_t>(std::min(rounds, 1.0 * kAimMostRounds)));
}

std::vector<AttributeSet> PairsIn(const std::vector<AttributeSet>& sets) {
  std::set<AttributeSet> pairs;
  for (const AttributeSet& set : sets) {
    for (size_t i = 0; i < set.size(); ++i) {
      for (size_t j = i + 1; j < set.size(); ++j) pairs.insert({set[i], set[j]});
    }
  }
  return {pairs.begin(), pairs.end()};
}

AimCandidates DefaultCandidates(const Domain& domain, const std::vector<AttributeSet>& sets) {
  const bool small = std::ranges::all_of(
      sets, [&](const AttributeSet& set) { return CellsUpTo(domain, set, kManyAimCells) <= kSmallMarginal; });
  return small && sets.size() <= kMostWorkloadCandidates ? AimCandidates::kWorkload : AimCandidates::kPairs;
}

// How often the attributes of each candidate are in marginals of the workload; in proportion, where these
// are many.
void WeighByOverlap(const Domain& domain, const std::vector<AttributeSet>& sets,
                    std::vector<AimCandidate>& candidates) {
  std::vector<int64_t> uses(domain.size());
  for (const AttributeSet& set : sets) {
    for (const uint32_t attribute : set) ++uses[attribute];
  }
  int64_t largest = 1;
  for (AimCandidate& candidate : candidates) {
    candidate.weight = 0;
    for (const uint32_t attribute : candidate.attributes) candidate.weight += uses[attribute];
    largest = std::max(largest, candidate.weight);
  }
  const int64_t divisor = (largest + kLargestAimWeight - 1) / kLargestAimWeight;
  for (AimCandidate& candidate : candidates)
    candidate.weight = std::max<int64_t>(1, candidate.weight / divisor);
}

// Those of two or more attributes that a clique may hold.
std::vector<AimCandidate> CandidatesOf(const Domain& domain, const std::vector<AttributeSet>& sets,
                                       const AimSettings& settings) {
  std::set<AttributeSet> all;
  if (settings.candidates != AimCandidates::kPairs) all.insert(sets.begin(), sets.end());
  if (settings.candidates != AimCandidates::kWorkload) {
    for (AttributeSet& pair : PairsIn(sets)) all.insert(std::move(pair));
  }
  std::vector<AimCandidate> candidates;
  for (const AttributeSet& set : all) {
    if (set.size() >= 2 && CellsUpTo(domain, set, kManyAimCells) <= settings.max_cells)
      candidates.push_back({.attributes = set, .weight = 1});
  }
  if (settings.weights == AimWeights::kOverlap) WeighByOverlap(domain, sets, candidates);
  return candidates;
}

AimFacts FactsOf(const SynthesisInput& input, const AimSchedule& schedule, const BudgetShare& budget) {
  AimFacts facts{
      .records = static_cast<double>(std::max<int64_t>(1, input.assume_records.value_or(kAimGuessedRecords))),
      .attributes = static_cast<double>(schedule.attributes.size()),
      .mean_size = 0,
      .candidate_cells = 0,
      .candidates = std::ssize(schedule.candidates),
      .budget = budget};
  for (const int64_t size : input.domain.SizesOf(schedule.attributes))
    facts.mean_size += static_cast<double>(size) / facts.attributes;
  for (const AimCandidate& candidate : schedule.candidates) {
    facts.candidate_cells +=
        static_cast<double>(CellsUpTo(input.domain, candidate.attributes, kManyAimCells)) /
        static_cast<double>(facts.candidates);
  }
  return facts;
}

// The cells of one-way marginals by themselves, from which the cliques grow.
absl::Status CheckOneWays(const Domain& domain, const AimSchedule& schedule) {
  int64_t cells = 0;
  for (const int64_t size : domain.SizesOf(schedule.attributes)) cells += size;
  if (cells <= schedule.settings.max_cells) return absl::OkStatus();
  return InvalidField("settings.max_cells",
                      absl::StrCat("the one-way marginals alone have ", cells,
                                   " cells, more than max_cells (", schedule.settings.max_cells, ")"));
}

// Reads what the candidates follow from, then what follows from them.
absl::Status ReadAimSettings(const SynthesisInput& input, const BudgetShare& budget, AimSchedule& schedule) {
  SettingsReader reader(AimSettingsTable(), input.settings);
  AimSettings& settings = schedule.settings;
  const std::vector<AttributeSet> sets = SetsOf(input.workload);
  ASSIGN_OR_RETURN(settings.max_cells, reader.Integer("max_cells"));
  RETURN_IF_ERROR(CheckOneWays(input.domain, schedule));
  ASSIGN_OR_RETURN(const std::optional<AimCandidates> candidates,
                   reader.Choice("candidates", kAimCandidates));
  settings.candidates = candidates.value_or(DefaultCandidates(input.domain, sets));
  ASSIGN_OR_RETURN(settings.weights, reader.Choice("weights", kAimWeights));
  schedule.candidates = CandidatesOf(input.domain, sets, settings);
  const AimFacts facts = FactsOf(input, schedule, budget);
  const int64_t most_rounds = std::clamp<int64_t>(facts.candidates, 1, kAimMostRounds);
  ASSIGN_OR_RETURN(settings.rounds, reader.Integer("rounds", std::min(most_rounds, DefaultAimRounds(facts)),
                                                   IntegerRange{1, most_rounds}));
  ASSIGN_OR_RETURN(settings.one_way_percent, reader.Integer("one_way_percent", DefaultOneWayPercent(facts)));
  ASSIGN_OR_RETURN(settings.selection_percent, reader.Integer("selection_percent"));
  ASSIGN_OR_RETURN(settings.sweeps, reader.Integer("sweeps"));
  ASSIGN_OR_RETURN(settings.last_sweeps, reader.Integer("last_sweeps"));
  ASSIGN_OR_RETURN(settings.slack, reader.Real("slack"));
  RETURN_IF_ERROR(reader.Finish());
  schedule.used_settings = reader.used();
  schedule.used_settings["candidates"] = NameOf(kAimCandidates, std::optional(settings.candidates));
  return absl::OkStatus();
}

// The sensitivities of the three kinds of measurements.
struct AimSensitivities {
  Sensitivity records;
  Sensitivity one_ways;
  Sensitivity candidate;
};

absl::StatusOr<AimSensitivities> AimSensitivitiesUnder(const UnitBound& unit, int64_t attributes) {
  AimSensitivities sensitivities;
  ASSIGN_OR_RETURN(sensitivities.records, RecordCountSensitivity(unit));
  ASSIGN_OR_RETURN(sensitivities.one_ways, MarginalsSensitivity(unit, attributes));
  ASSIGN_OR_RETURN(sensitivities.candidate, MarginalsSensitivity(unit, 1));
  return sensitivities;
}

absl::Status BuyAimNoise(const BudgetShare& whole, const AimSensitivities& sensitivities,
                         AimSchedule& schedule) {
  const AimSettings& settings = schedule.settings;
  const int64_t records = RecordCountUnits(whole.units, kAimRecordParts);
  int64_t left = whole.units - records;
  const int64_t one_ways = schedule.candidates.empty() ? left : PercentOf(left, settings.one_way_percent);
  left -= one_ways;
  if (one_ways < 1) return whole.TooSmallFor("one-way marginals");
  ASSIGN_OR_RETURN(schedule.record_noise, NoiseFor(whole.Of(records), sensitivities.records));
  ASSIGN_OR_RETURN(schedule.one_way_noise, NoiseFor(whole.Of(one_ways), sensitivities.one_ways));
  if (schedule.candidates.empty()) return absl::OkStatus();
  schedule.rounds = settings.rounds;
  const int64_t round = left / schedule.rounds;
  const bool selects = schedule.rounds < std::ssize(schedule.candidates);
  const int64_t selection = selects ? PercentOf(round, settings.selection_percent) : 0;
  if (round - selection < 1) return whole.TooSmallFor(absl::StrCat(schedule.rounds, " rounds"));
  ASSIGN_OR_RETURN(schedule.noise, NoiseFor(whole.Of(round - selection), sensitivities.candidate));
  if (!selects) return absl::OkStatus();
  ASSIGN_OR_RETURN(schedule.selection, SelectionEpsilonFor(whole.Of(selection), "a selection in each round"));
  return absl::OkStatus();
}

// Every draw, as seen under the relation of `sensitivities`, where a selection's range is 1 / `divisor` of
// that which was bought, rounded up.
std::vector<CountedEvent> AimDrawsOf(const AimSchedule& schedule, const AimSensitivities& sensitivities,
                                     int64_t divisor) {
  std::vector<CountedEvent> draws = {{NoiseEvent(schedule.record_noise, sensitivities.records), 1},
                                     {NoiseEvent(schedule.one_way_noise, sensitivities.one_ways), 1}};
  if (schedule.rounds == 0) return draws;
  if (schedule.selection) {
    const Epsilon range((schedule.selection->units() + divisor - 1) / divisor);
    draws.push_back({{ExponentialMechanismEvent{range}}, schedule.rounds});
  }
  draws.push_back({NoiseEvent(schedule.noise, sensitivities.candidate), schedule.rounds});
  return draws;
}

// All draws are noise on marginals and on their number, or selections whose scores are sums over the cells
// of one marginal times a public weight: linear in the records that change (dp/sensitivity/part_cost.h).
std::optional<LinearDraws> AimLinearDraws(const SynthesisInput& input, const AimSchedule& schedule,
                                          const AimSensitivities& own) {
  const absl::StatusOr<AimSensitivities> removal =
      AimSensitivitiesUnder(UnderAddRemove(input.unit_bound), std::ssize(schedule.one_ways));
  if (!removal.ok() || own.candidate.l1 % removal->candidate.l1 != 0) return std::nullopt;
  const int64_t divisor = own.candidate.l1 / removal->candidate.l1;
  return LinearDraws{.draws = schedule.draws, .removals = AimDrawsOf(schedule, *removal, divisor)};
}

// A selection counts the cells of all candidates at once.
absl::Status CheckCandidates(const Domain& domain, const AimSchedule& schedule) {
  if (std::ssize(schedule.candidates) > kMostAimCandidates) {
    return InvalidField("workload",
                        absl::StrCat("has ", schedule.candidates.size(),
                                     " candidates, whose estimates aim computes in each round; at "
                                     "most ",
                                     kMostAimCandidates, "; the method rap takes more"));
  }
  if (!schedule.selection) return absl::OkStatus();
  std::vector<AttributeSet> sets;
  for (const AimCandidate& candidate : schedule.candidates) sets.push_back(candidate.attributes);
  const absl::Status cells = TotalCells(domain, sets).status();
  if (cells.ok()) return cells;
  return InvalidField("settings.candidates",
                      absl::StrCat("the candidates are counted at once, and are too many cells: ",
                                   cells.message(), "; choose candidates=pairs, or the method dpsyn"));
}

}  // namespace

const std::vector<Setting>& AimSettingsTable() {
  static const auto* const settings = new std::vector<Setting>{
      IntegerSetting("rounds", "how many marginals are measured beside the one-way marginals",
                     "chosen from the budget, the domain and the assumed number of records"),
      IntegerSetting("one_way_percent", "the share of the budget that measures the one-way marginals",
                     "chosen from the budget, the domain and the assumed number of records",
                     IntegerRange{1, 99}),
      IntegerSetting("selection_percent", "the share of a round's budget that chooses what to measure", 15,
                     {1, 99}),
      ChoiceSetting("candidates",
                    "what may be measured. workload: its marginals; pairs: the pairs of attributes in them; "
                    "both; auto: workload where none of its marginals has more than 64 cells, else pairs",
                    kAimCandidates),
      ChoiceSetting("weights",
                    "how much the error of a candidate counts in a selection. none: as it is; overlap: as "
                    "often as its attributes are in marginals of the workload",
                    kAimWeights),
      IntegerSetting("max_cells",
                     "cells of all cliques that are held in memory; candidates that would need more are not "
                     "chosen",
                     kUsualMostCells, {1, kMostDenseCells}),
      IntegerSetting("sweeps", "how often all measurements are fitted in a round at most", 10, {1, 1000}),
      IntegerSetting("last_sweeps", "how often all measurements are fitted after the last round at most", 300,
                     {1, 100'000}),
      RealSetting("slack", "how far answers may be missed in favour of uniformity, in units of their noise",
                  0.3, {0.001, 1000})};
  return *settings;
}

absl::StatusOr<AimSchedule> MakeAimSchedule(const SynthesisInput& input) {
  RETURN_IF_ERROR(ValidateWorkload(input.domain, input.workload));
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(input.rule, input.spend));
  const BudgetShare whole = WholeOf(budget);
  AimSchedule schedule;
  schedule.attributes = Union(SetsOf(input.workload));
  for (const uint32_t attribute : schedule.attributes) schedule.one_ways.push_back({attribute});
  RETURN_IF_ERROR(ReadAimSettings(input, whole, schedule));
  ASSIGN_OR_RETURN(const AimSensitivities sensitivities,
                   AimSensitivitiesUnder(input.unit_bound, std::ssize(schedule.one_ways)));
  RETURN_IF_ERROR(BuyAimNoise(whole, sensitivities, schedule));
  RETURN_IF_ERROR(CheckCandidates(input.domain, schedule));
  schedule.draws = AimDrawsOf(schedule, sensitivities, 1);
  schedule.linear = AimLinearDraws(input, schedule, sensitivities);
  schedule.model_cells = std::ranges::max(input.domain.SizesOf(schedule.attributes));
  schedule.all_cells = 0;
  for (const int64_t size : input.domain.SizesOf(schedule.attributes)) schedule.all_cells += size;
  if (schedule.rounds > 0) {
    schedule.model_cells = CellsUpTo(input.domain, schedule.attributes, schedule.settings.max_cells);
    schedule.all_cells = schedule.settings.max_cells;
  }
  return schedule;
}

std::vector<std::string> DescribeSchedule(const AimSchedule& schedule) {
  std::vector<std::string> lines = {
      absl::StrCat("once: the number of records, ", Describe(schedule.draws[0].event)),
      absl::StrCat("once: every one-way marginal, ", Describe(schedule.draws[1].event))};
  size_t next = 2;
  if (schedule.selection) {
    lines.push_back(absl::StrCat(schedule.rounds, " times: choose among ", schedule.candidates.size(),
                                 " marginals the one that is approximated worst, ",
                                 Describe(schedule.draws[next++].event)));
  }
  if (schedule.rounds > 0) {
    lines.push_back(absl::StrCat(schedule.rounds, " times: the counts of one of the marginals, ",
                                 Describe(schedule.draws[next].event)));
  }
  lines.push_back(absl::StrCat("held in memory: cliques of at most ", schedule.all_cells, " cells together"));
  return lines;
}

}  // namespace curator::dp
