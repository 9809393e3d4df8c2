#include "dp/synthesis/prior/prior_schedule.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/data/count_marginals.h"
#include "dp/domain/attribute_set.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/sensitivity/spend.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/prior/prior_model.h"
#include "dp/synthesis/prior/prior_records.h"
#include "dp/synthesis/prior/public_dependence.h"
#include "dp/synthesis/synthesis_forecast.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

// How many records a table is thought to have at least when what to measure is chosen.
constexpr int64_t kLeastGuessedRecords = 10'000;
// Cliques may be so large that noise is expected to move this share of the records.
constexpr double kNoiseShare = 0.5;
// Places of records in the marginals of one level, 4 bytes each.
constexpr int64_t kMostPriorPlaces = int64_t{1} << 30;
// Of finding which attributes depend on each other, so that a plan takes about a second: records times pairs
// that are counted, and cells of all these pairs.
constexpr int64_t kMostPairSteps = int64_t{1} << 29;
constexpr int64_t kMostDependenceCells = int64_t{1} << 27;

// A level's share of the budget, split.
struct LevelShares {
  BudgetShare counts;
  BudgetShare marginals;
};

std::vector<LevelShares> SplitBudget(const Budget& budget, const PriorSettings& settings) {
  const BudgetShare whole = WholeOf(budget);
  std::vector<int64_t> levels = {whole.units};
  if (!settings.group.empty()) {
    levels = {PercentOf(whole.units, settings.region_percent)};
    levels.push_back(whole.units - levels[0]);
  }
  std::vector<LevelShares> split;
  for (const int64_t level : levels) {
    const int64_t counts = PercentOf(level, settings.count_percent);
    split.push_back({.counts = whole.Of(counts), .marginals = whole.Of(level - counts)});
  }
  return split;
}

absl::StatusOr<NoiseSpec> LevelNoiseFor(const BudgetShare& share, const Sensitivity& sensitivity) {
  if (share.units < 1) return share.TooSmallFor("what is measured");
  return NoiseFor(share, sensitivity);
}

// How far noise moves one cell, when as many marginals are measured. Square roots only, so that every machine
// chooses the same.
double NoiseOfOneCell(const BudgetShare& share, const Sensitivity& sensitivity) {
  const double units = static_cast<double>(share.units) / 1e12;
  return share.is_pure ? static_cast<double>(sensitivity.l1) / units
                       : std::sqrt(static_cast<double>(sensitivity.l2_squared) / (2 * units));
}

absl::StatusOr<int64_t> CliqueCells(const SynthesisInput& input, const PriorSettings& settings,
                                    const LevelShares& shares, size_t attributes, int64_t keys) {
  if (settings.clique_cells > 0) return settings.clique_cells;
  ASSIGN_OR_RETURN(const Sensitivity sensitivity,
                   MarginalsSensitivity(input.unit_bound, static_cast<int64_t>(attributes)));
  const int64_t guess = std::max<int64_t>(
      1, input.assume_records.value_or(std::max(kLeastGuessedRecords, input.prior->rows())));
  const double affordable = kNoiseShare * static_cast<double>(guess) / static_cast<double>(keys) /
                            std::max(1e-9, NoiseOfOneCell(shares.marginals, sensitivity));
  return static_cast<int64_t>(std::clamp(affordable, 1.0, 1e7));
}

// The request's own sets, without the keys' attributes.
std::vector<AttributeSet> GivenSets(const SynthesisInput& input, const AttributeSet& keys) {
  std::set<AttributeSet> sets;
  for (const AttributeSet& set : SetsOf(input.workload)) {
    AttributeSet left = Difference(set, keys);
    if (!left.empty()) sets.insert(std::move(left));
  }
  return {sets.begin(), sets.end()};
}

// To compare every two attributes counts all rows for each two. A request that was started is not refused.
absl::Status CheckPairs(const SynthesisInput& input, const AttributeSet& attributes) {
  if (input.is_started || attributes.size() > kMostDependent) return absl::OkStatus();
  const int64_t pairs = std::ssize(attributes) * (std::ssize(attributes) - 1) / 2;
  if (input.prior->rows() > kMostPairSteps / std::max<int64_t>(1, pairs)) {
    return InvalidField(
        "settings.measure",
        absl::StrCat("the prior's ", input.prior->rows(), " records would be counted for ", pairs,
                     " pairs of attributes, and at most ", kMostPairSteps,
                     " records and pairs are: take measure=given and a workload, fewer attributes "
                     "or a smaller prior"));
  }
  const int64_t cells = DependenceCells(input.domain, attributes);
  if (cells <= kMostDependenceCells) return absl::OkStatus();
  return InvalidField(
      "settings.measure",
      absl::StrCat("all pairs of ", attributes.size(), " attributes would be counted in ", cells,
                   " cells, and at most ", kMostDependenceCells,
                   " are: take measure=given and a workload, or fewer or smaller attributes"));
}

// What each level measures, from public data alone.
absl::Status ChooseMarginals(const SynthesisInput& input, const std::vector<LevelShares>& shares,
                             PriorSchedule& schedule, Pacer& pacer) {
  const PriorSettings& settings = schedule.settings;
  const bool has_groups = schedule.levels.size() > 1;
  PriorLevel& first = schedule.levels.front();
  const bool is_given = settings.measure == MeasuredSets::kGiven;
  if (is_given) first.measured = GivenSets(input, Difference(schedule.covered, schedule.modelled));
  if (is_given && !has_groups) return absl::OkStatus();
  RETURN_IF_ERROR(CheckPairs(input, schedule.modelled));
  ASSIGN_OR_RETURN(const PublicDependence dependence,
                   PublicDependence::Of(input.domain, *input.prior, schedule.modelled, pacer));
  if (!is_given) {
    const size_t attributes = schedule.modelled.size();
    ASSIGN_OR_RETURN(const int64_t cells,
                     CliqueCells(input, settings, shares.front(), attributes, first.keys));
    first.measured = DependentCliques(input.domain, dependence, settings.threshold, cells,
                                      static_cast<int64_t>(attributes));
  }
  if (has_groups)
    schedule.levels.back().measured = NearlyIndependent(dependence, settings.threshold, settings.roots);
  return absl::OkStatus();
}

absl::StatusOr<Sensitivity> CountSensitivity(const UnitBound& unit, const PriorLevel& level) {
  return level.key.empty() ? RecordCountSensitivity(unit) : MarginalsSensitivity(unit, 1);
}

// Buys the level's noise, and lists its draws and those under ADD_REMOVE.
absl::Status BuyNoise(const SynthesisInput& input, const LevelShares& shares, PriorLevel& level,
                      PriorSchedule& schedule) {
  const UnitBound leaving = UnderAddRemove(input.unit_bound);
  const auto marginals = static_cast<int64_t>(level.measured.size());
  ASSIGN_OR_RETURN(const Sensitivity count, CountSensitivity(input.unit_bound, level));
  ASSIGN_OR_RETURN(const Sensitivity cells, MarginalsSensitivity(input.unit_bound, marginals));
  ASSIGN_OR_RETURN(level.count_noise, LevelNoiseFor(shares.counts, count));
  ASSIGN_OR_RETURN(level.marginal_noise, LevelNoiseFor(shares.marginals, cells));
  schedule.draws.push_back({NoiseEvent(level.count_noise, count), 1});
  schedule.draws.push_back({NoiseEvent(level.marginal_noise, cells), 1});
  ASSIGN_OR_RETURN(const Sensitivity count_leaving, CountSensitivity(leaving, level));
  ASSIGN_OR_RETURN(const Sensitivity cells_leaving, MarginalsSensitivity(leaving, marginals));
  schedule.linear.removals.push_back({NoiseEvent(level.count_noise, count_leaving), 1});
  schedule.linear.removals.push_back({NoiseEvent(level.marginal_noise, cells_leaving), 1});
  return absl::OkStatus();
}

absl::Status CheckCells(const SynthesisInput& input, const PriorLevel& level) {
  std::vector<AttributeSet> counted;
  for (const AttributeSet& set : level.measured) counted.push_back(Union(level.key, set));
  return ValidateMarginals(input.domain, counted);
}

// Which cell each record lies in is held for all marginals of a level at once.
absl::Status CheckPlaces(const PriorSchedule& schedule, const PriorLevel& level) {
  const auto marginals = static_cast<int64_t>(level.measured.size());
  if (schedule.records <= kMostPriorPlaces / std::max<int64_t>(1, marginals)) return absl::OkStatus();
  return InvalidField(
      "workload", absl::StrCat("leads to ", marginals, " marginals of ", schedule.records,
                               " weighted records each; at most ", kMostPriorPlaces,
                               " places of records can be held: ask for fewer marginals or attributes, or "
                               "take a smaller prior"));
}

void DescribeLevels(const SynthesisInput& input, PriorSchedule& schedule) {
  for (size_t i = 0; i < schedule.levels.size(); ++i) {
    const PriorLevel& level = schedule.levels[i];
    const std::string where = level.key.empty() ? std::string()
                                                : absl::StrCat(" for each of the ", level.keys, " values of ",
                                                               NamesOf(input.domain, level.key));
    schedule.lines.push_back(
        absl::StrCat("once: the number of records", where, ", ", Describe(schedule.draws[2 * i].event)));
    std::string sets;
    for (const AttributeSet& set : level.measured)
      absl::StrAppend(&sets, sets.empty() ? "" : "; ", NamesOf(input.domain, set));
    schedule.lines.push_back(absl::StrCat("once: the counts of ", level.measured.size(),
                                          level.measured.size() == 1 ? " marginal" : " marginals", where,
                                          " (", sets, "), ", Describe(schedule.draws[2 * i + 1].event)));
  }
  schedule.lines.push_back(absl::StrCat("from the prior's ", schedule.records, " weighted records"));
}

// The keys of all levels, and which attributes are left to be modelled.
absl::Status DivideAttributes(const SynthesisInput& input, PriorSchedule& schedule, Pacer& pacer) {
  const PriorSettings& settings = schedule.settings;
  const AttributeSet keys = Union(settings.region, settings.group);
  schedule.covered = Union(Union(SetsOf(input.workload)), keys);
  schedule.modelled = Difference(schedule.covered, keys);
  if (schedule.modelled.empty())
    return InvalidField("workload", "has no attribute beside those of region and group");
  schedule.region_of_group = {0};
  schedule.levels.push_back(
      {.key = settings.region, .keys = 1, .measured = {}, .count_noise = {}, .marginal_noise = {}});
  if (settings.group.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(GroupsInRegions nesting, FindNesting(input.domain, *input.prior, settings.region,
                                                        settings.group, settings.max_cells, pacer));
  schedule.levels.front().keys = input.domain.CellCount(settings.region).value_or(0);
  schedule.levels.push_back({.key = std::move(nesting.group_key),
                             .keys = static_cast<int64_t>(nesting.region_of_group.size()),
                             .measured = {},
                             .count_noise = {},
                             .marginal_noise = {}});
  schedule.region_of_group = std::move(nesting.region_of_group);
  return absl::OkStatus();
}

absl::Status BoundWeights(const SynthesisInput& input, PriorSchedule& schedule, Pacer& pacer) {
  const PriorSettings& settings = schedule.settings;
  const auto groups = static_cast<int64_t>(schedule.region_of_group.size());
  if (settings.support == PriorSupport::kFullDomain) {
    schedule.records = input.domain.CellCount(schedule.modelled).value_or(kMostPriorWeights + 1);
  } else {
    ASSIGN_OR_RETURN(const PriorRecords records,
                     PriorRecords::DistinctOf(input.domain, *input.prior, schedule.modelled, pacer));
    schedule.records = records.size();
  }
  // The weights of all regions are held while those of the groups are estimated.
  const int64_t held = std::max(groups, schedule.levels.size() > 1 ? schedule.levels.front().keys : 1);
  if (schedule.records <= settings.max_cells / held) return absl::OkStatus();
  return InvalidField(
      "settings.max_cells",
      absl::StrCat("there would be ", held, held > groups ? " regions with " : " groups with ",
                   schedule.records > kMostPriorWeights ? "more than 2^24" : absl::StrCat(schedule.records),
                   " weights each; at most ", settings.max_cells,
                   " are held in all: take fewer groups or attributes, a smaller prior, or "
                   "support=prior"));
}

// Of one level, in bytes: what the kernel answers, and for each record the cells of all measured marginals.
int64_t BytesOfLevel(const Domain& domain, const PriorLevel& level, int64_t records) {
  constexpr int64_t kPerCell = 56;  // noise, count, the count by key, share, mass, factor and target
  constexpr int64_t kPerMarginalOfAKey = 64;
  int64_t cells = level.keys;
  int64_t largest = level.keys;
  for (const AttributeSet& set : level.measured) {
    const int64_t own = domain.CellCount(Union(level.key, set)).value_or(0);
    cells += own;
    largest = std::max(largest, own);
  }
  const auto marginals = static_cast<int64_t>(level.measured.size());
  return kPerCell * cells + kPerMarginalOfAKey * level.keys * (marginals + 1) + 4 * records * marginals +
         CountingBytes(marginals + 1, cells, largest);
}

// All codes by row, their order, and the distinct ones with their shares, in vectors that grow.
int64_t BytesOfRecords(const Domain& domain, const AttributeSet& attributes, int64_t rows) {
  return rows * (4 * std::ssize(attributes) + 4 + 2 * BytesOfCodes(domain, attributes) + 16);
}

// Of the regions and groups, and of finding which attributes depend on each other.
int64_t BytesOfChoosing(const Domain& domain, const AttributeSet& attributes, const PriorSettings& settings) {
  int64_t bytes = 0;
  if (!settings.group.empty()) {
    bytes += 8 * Pacer::kMostSteps;
    for (const AttributeSet& key :
         {settings.region, settings.group, Union(settings.region, settings.group)}) {
      const int64_t cells = domain.CellCount(key).value_or(settings.max_cells + 1);
      if (cells <= settings.max_cells) bytes += 8 * cells;  // more are refused
    }
  }
  const bool is_chosen = settings.measure == MeasuredSets::kChosen || !settings.group.empty();
  return bytes + (is_chosen ? DependenceBytes(domain, attributes) : 0);
}

SynthesisMemory MemoryOfPrior(const SynthesisInput& input, const PriorSchedule& schedule) {
  const int64_t records = schedule.records;
  const auto groups = static_cast<int64_t>(schedule.region_of_group.size());
  const int64_t stored = records * BytesOfCodes(input.domain, schedule.modelled) +
                         groups * (2 * records + 24 + 8 * std::ssize(schedule.covered)) +
                         16 * std::ssize(schedule.covered) +
                         BytesOfLines(input.domain, 4, std::ssize(schedule.covered));
  MethodMemory memory = PriorModelMemory(input.domain, schedule.modelled, records, groups, stored);
  int64_t of_levels = 0;
  for (const PriorLevel& level : schedule.levels)
    of_levels = std::max(of_levels, BytesOfLevel(input.domain, level, records));
  const int64_t regions = schedule.levels.size() > 1 ? schedule.levels.front().keys : 1;
  constexpr int64_t kPerRecord =
      56;  // its share, a group's weight, and while that is found prior and exponent
  // The plan is made again before anything is estimated.
  memory.working = std::max(BytesOfChoosing(input.domain, schedule.modelled, schedule.settings),
                            memory.model + records * (kPerRecord + 8 * regions) + of_levels) +
                   BytesOfRecords(input.domain, schedule.modelled, input.prior->rows());
  return MemoryOf(memory);
}

// Of finding the distinct public records and what depends on what in them, and of all sweeps.
double SecondsOfPrior(const SynthesisInput& input, const PriorSchedule& schedule) {
  // Of a record's place in one marginal, in a sweep; and of a public record and attribute, in the plan, which
  // is made twice.
  constexpr double kSecondsPerPlace = 16e-9;
  constexpr double kSecondsPerCode = 250e-9;
  // They have converged by then, unless contradictions have to be met exactly.
  constexpr int64_t kUsualSweepsOfAKey = 60;
  const auto attributes = static_cast<double>(schedule.modelled.size());
  const int64_t most = schedule.settings.estimation.most_sweeps;
  const bool converges = schedule.settings.weighting == AnswerWeighting::kByNoise;
  const auto sweeps = static_cast<double>(converges ? std::min(most, kUsualSweepsOfAKey) : most);
  double places = 0;
  double sets = 0;
  for (const PriorLevel& level : schedule.levels) {
    const auto marginals = static_cast<double>(level.measured.size());
    places += static_cast<double>(level.keys) * marginals * static_cast<double>(schedule.records);
    sets += marginals + 1;
  }
  return kSecondsPerPlace * sweeps * places +
         kSecondsPerCode * attributes * static_cast<double>(input.prior->rows() + schedule.records) +
         CountingSeconds(sets, DeclaredRecords(input.assume_records));
}

}  // namespace

int64_t PriorPlanningBytes(const SynthesisInput& input) {
  const AttributeSet covered = Union(SetsOf(input.workload));
  const absl::StatusOr<PriorSettings> settings = ReadPriorSettings(input);
  if (!settings.ok() || input.prior == nullptr) return 0;  // nothing is planned
  const AttributeSet modelled = Difference(covered, Union(settings->region, settings->group));
  return BytesOfRecords(input.domain, modelled, input.prior->rows()) +
         BytesOfChoosing(input.domain, modelled, *settings);
}

absl::StatusOr<PriorSchedule> MakePriorSchedule(const SynthesisInput& input, Pacer& pacer) {
  RETURN_IF_ERROR(ValidateWorkload(input.domain, input.workload));
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(input.rule, input.spend));
  PriorSchedule schedule;
  ASSIGN_OR_RETURN(schedule.settings, ReadPriorSettings(input));
  if (input.prior == nullptr) {
    return InvalidField("settings.prior",
                        "is missing: name a public dataset, or give the id of a synthetic release");
  }
  RETURN_IF_ERROR(CheckPrior(input.domain, *input.prior));
  schedule.trust =
      schedule.settings.trust > 0 ? schedule.settings.trust : static_cast<double>(input.prior->rows());
  RETURN_IF_ERROR(DivideAttributes(input, schedule, pacer));
  // Whatever the support: what only a fit met would be met after the charge.
  RETURN_IF_ERROR(CheckPriorCodes(input.prior->rows(), schedule.modelled.size()));
  RETURN_IF_ERROR(BoundWeights(input, schedule, pacer));
  const std::vector<LevelShares> shares = SplitBudget(budget, schedule.settings);
  RETURN_IF_ERROR(ChooseMarginals(input, shares, schedule, pacer));
  for (size_t i = 0; i < schedule.levels.size(); ++i) {
    RETURN_IF_ERROR(CheckCells(input, schedule.levels[i]));
    RETURN_IF_ERROR(CheckPlaces(schedule, schedule.levels[i]));
    RETURN_IF_ERROR(BuyNoise(input, shares[i], schedule.levels[i], schedule));
  }
  schedule.linear.draws = schedule.draws;
  schedule.memory = MemoryOfPrior(input, schedule);
  schedule.cpu_seconds = SecondsOfPrior(input, schedule);
  DescribeLevels(input, schedule);
  return schedule;
}

}  // namespace curator::dp
