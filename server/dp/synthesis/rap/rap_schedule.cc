#include "dp/synthesis/rap/rap_schedule.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/data/count_marginals.h"
#include "dp/domain/attribute_set.h"
#include "dp/kernel/selection_score.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/models/portable_math.h"
#include "dp/synthesis/rap/projection.h"
#include "dp/synthesis/rap/projection_loops.h"
#include "dp/synthesis/rap/rap_candidates.h"
#include "dp/synthesis/rap/relaxed_model.h"
#include "dp/synthesis/settings.h"
#include "dp/synthesis/synthesis_forecast.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

constexpr int64_t kRapRecordParts = 50;  // see RecordCountUnits()
constexpr int64_t kRapGuessedRecords = 10'000;
constexpr int64_t kLeastOneWayPercent = 10;
constexpr int64_t kMostOneWayPercent = 40;
constexpr int64_t kSelectionPercent = 10;
constexpr int64_t kSelectionPercentOfSingleQueries = 50;
constexpr double kRate = 0.1;
constexpr double kRateOfSparseMax = 0.01;
constexpr int64_t kMostMeasured = 10'000;
constexpr int64_t kMostTerms = int64_t{1} << 22;  // of all measured queries
constexpr int64_t kMebi = int64_t{1} << 20;
constexpr int64_t kMostQueryBytes = 1024 * kMebi;  // while single queries are chosen and fitted
constexpr int64_t kMostSteps = 100'000;

// The default of RapSettings::work: about five seconds.
constexpr int64_t kDefaultWork = int64_t{45'000'000'000};
constexpr int64_t kDefaultSteps = 1000;
constexpr int64_t kDefaultRows = 256;

// Of kManyAttributes: few rows, and rows that start far apart, by themselves make attributes depend on each
// other.
constexpr int64_t kDefaultRowsForMany = 1024;
constexpr double kDefaultSpread = 3;
constexpr double kDefaultSpreadForMany = 0.5;

constexpr Choices<RapMeasure, 2> kRapMeasures = {
    {{"marginals", RapMeasure::kMarginals}, {"queries", RapMeasure::kQueries}}};
constexpr Choices<Relaxation, 2> kRelaxations = {
    {{"softmax", Relaxation::kSoftmax}, {"sparsemax", Relaxation::kSparseMax}}};
constexpr Choices<RapStart, 2> kStarts = {{{"warm", RapStart::kWarm}, {"cold", RapStart::kCold}}};
enum class Conversion { kTight, kLoose };
constexpr Choices<Conversion, 2> kConversions = {
    {{"tight", Conversion::kTight}, {"loose", Conversion::kLoose}}};

// Whether there is more to choose from than is measured.
enum class Choosing { kMeasuresAll, kSelects };

// The units of the budget, split.
struct RapSplit {
  int64_t records = 0;
  int64_t one_way = 0;    // of one attribute
  int64_t selection = 0;  // one of them; 0 when nothing is selected
  int64_t measurement = 0;
};

absl::StatusOr<RapSplit> SplitBudget(const BudgetShare& whole, const RapSchedule& schedule, Choosing choice) {
  const RapSettings& settings = schedule.settings;
  RapSplit split;
  split.records = RecordCountUnits(whole.units, kRapRecordParts);
  const int64_t one_way = PercentOf(whole.units - split.records, settings.one_way_percent);
  split.one_way = one_way / static_cast<int64_t>(schedule.attributes.size());
  const int64_t each = (whole.units - split.records - one_way) / (settings.rounds * settings.per_round);
  const bool selects = choice == Choosing::kSelects;
  if (selects) split.selection = PercentOf(each, settings.selection_percent);
  split.measurement = each - split.selection;
  if (split.measurement < 1 || (selects && split.selection < 1) ||
      (settings.one_way_percent > 0 && split.one_way < 1)) {
    return whole.TooSmallFor(absl::StrCat(settings.rounds * settings.per_round, " measurements"));
  }
  return split;
}

// The draws of a schedule, as seen by a unit: under its own relation, or as one that only enters or leaves.
struct Sides {
  Sensitivity one_marginal;
  Sensitivity measured;  // one marginal, or one query
  Sensitivity records;
  int64_t selection_divisor = 1;
};

// The limits of the kernel and of the loops, whose errors would otherwise come after the charge. Marginals
// are counted and scored one at a time, so how many cells all of them have together is a matter of time
// alone.
absl::Status CheckKernelAndLoopLimits(const Domain& domain, const std::vector<AttributeSet>& sets) {
  WorkloadLimits limits = kSynthesisLimits;
  limits.max_marginals = WorkloadLimits{}.max_marginals;
  RETURN_IF_ERROR(ValidateMarginals(domain, sets, limits));
  for (const AttributeSet& set : sets) {
    if (set.size() > kMostFactors) {
      return InvalidField("workload", absl::StrCat("has a marginal of ", set.size(),
                                                   " attributes; this method takes at most ", kMostFactors));
    }
  }
  return absl::OkStatus();
}

// Fills in noises and selection.
absl::Status BuyNoise(const Budget& budget, Choosing choice, const Sides& sides, RapSchedule& schedule) {
  const bool one_ways = schedule.settings.one_way_percent > 0;
  const BudgetShare whole = WholeOf(budget);
  ASSIGN_OR_RETURN(const RapSplit split, SplitBudget(whole, schedule, choice));
  ASSIGN_OR_RETURN(schedule.record_noise, NoiseFor(whole.Of(split.records), sides.records));
  if (one_ways) {
    ASSIGN_OR_RETURN(schedule.one_way_noise, NoiseFor(whole.Of(split.one_way), sides.one_marginal));
  }
  ASSIGN_OR_RETURN(schedule.marginal_noise, NoiseFor(whole.Of(split.measurement), sides.measured));
  if (choice == Choosing::kMeasuresAll) return absl::OkStatus();
  ASSIGN_OR_RETURN(schedule.selection, SelectionEpsilonFor(whole.Of(split.selection), "each selection"));
  return absl::OkStatus();
}

// A selection takes no penalties that CheckPenalty() refuses.
absl::Status CheckPenalties(const Domain& domain, const Budget& budget, const RapSchedule& schedule) {
  if (!schedule.selection || !schedule.queries.empty()) return absl::OkStatus();
  const MarginalStream stream(domain, schedule.sets, CellPenalty(schedule.marginal_noise),
                              [](const AttributeSet&) { return std::vector<double>(); });
  for (size_t i = 0; i < stream.size(); ++i) {
    if (CheckPenalty(stream.Candidates(i).penalty).ok()) continue;
    return InvalidField(WholeOf(budget).field(),
                        absl::StrCat("is too small: the noise in all cells of ",
                                     NamesOf(domain, schedule.sets[i]), " exceeds 2^50 records"));
  }
  return absl::OkStatus();
}

std::vector<CountedEvent> DrawsOf(const RapSchedule& schedule, const Sides& sides) {
  const int64_t measured = schedule.settings.rounds * schedule.settings.per_round;
  std::vector<CountedEvent> draws;
  draws.push_back({NoiseEvent(schedule.record_noise, sides.records), 1});
  if (schedule.one_way_noise) {
    draws.push_back({NoiseEvent(*schedule.one_way_noise, sides.one_marginal),
                     static_cast<int64_t>(schedule.attributes.size())});
  }
  if (schedule.selection) {
    const Epsilon range((schedule.selection->units() + sides.selection_divisor - 1) /
                        sides.selection_divisor);
    draws.push_back({{ExponentialMechanismEvent{range}}, measured});
  }
  draws.push_back({NoiseEvent(schedule.marginal_noise, sides.measured), measured});
  return draws;
}

// All draws are linear in the records that change: noise on marginals and on their number, and a selection
// whose score is bounded by an L1 sensitivity, which halves for a unit that only enters or leaves.
absl::StatusOr<LinearDraws> LinearDrawsOf(const RapSchedule& schedule, const UnitBound& unit) {
  const UnitBound leaving = UnderAddRemove(unit);
  Sides sides;
  ASSIGN_OR_RETURN(sides.one_marginal, MarginalsSensitivity(leaving, 1));
  sides.measured = sides.one_marginal;
  ASSIGN_OR_RETURN(sides.records, RecordCountSensitivity(leaving));
  sides.selection_divisor = unit.relation == NeighbourRelation::kReplaceOne ? 2 : 1;
  return LinearDraws{.draws = schedule.draws, .removals = DrawsOf(schedule, sides)};
}

// The cells of the `count` largest of the sets, and of each attribute by itself.
int64_t MostCells(const Domain& domain, const RapSchedule& schedule) {
  if (!schedule.queries.empty()) {
    return OneHotColumns(domain, schedule.attributes) +
           schedule.settings.rounds * schedule.settings.per_round;
  }
  std::vector<int64_t> cells;
  for (const AttributeSet& set : schedule.sets) cells.push_back(domain.CellCount(set).value_or(0));
  std::ranges::sort(cells, std::greater<>());
  const auto count =
      std::min(cells.size(), static_cast<size_t>(schedule.settings.rounds * schedule.settings.per_round));
  int64_t sum = OneHotColumns(domain, schedule.attributes);
  for (size_t i = 0; i < count; ++i) sum += cells[i];
  return sum;
}

// What measured queries hold in memory while they are fitted.
int64_t BytesOfQueries(const TermsTaken& taken, int64_t queries) {
  constexpr int64_t kSmall = int64_t{1} << 15;  // as many terms have twelve more sums each
  // Beside its terms: itself, also while their list grows, the block of its terms, and that it was chosen.
  constexpr auto kQueryBytes = static_cast<int64_t>(3 * sizeof(PolynomialAnswer)) + 32 + 48;
  return taken.bytes + std::min(taken.terms, kSmall) * 12 * 8 + queries * kQueryBytes;
}

// What the fit holds in memory at once: rows (parameters, shares, slopes, two moments, and the shares that
// answer, twice), and for each cell of a measured marginal its answer, slope and sum, and where its columns
// are; and of a shadow the same, but for sums and the shares that answer.
int64_t FitBytes(const Domain& domain, const RapSchedule& schedule, const RelaxedLayout& layout) {
  const bool is_shadowed = AreShadowed(schedule);
  int64_t bytes = static_cast<int64_t>((is_shadowed ? 12 : 7) * sizeof(float) * layout.elements());
  const int64_t measured = schedule.settings.rounds * schedule.settings.per_round;
  if (!schedule.queries.empty()) {
    return bytes + BytesOfQueries(MostTerms(domain, schedule.queries, measured), measured);
  }
  std::vector<int64_t> of_sets;
  for (const AttributeSet& set : schedule.sets) {
    int64_t largest = 1;
    for (const uint32_t attribute : set) largest = std::max(largest, domain.attributes()[attribute].size());
    const int64_t cells = domain.CellCount(set).value_or(0);
    const int64_t places = cells / largest * 4 * std::ssize(set);
    of_sets.push_back(16 * cells + (is_shadowed ? 2 : 1) * places);
  }
  std::ranges::sort(of_sets, std::greater<>());
  of_sets.resize(std::min(of_sets.size(), static_cast<size_t>(measured)));
  for (const int64_t each : of_sets) bytes += each;
  // With more cells there is no work for so many steps that there is a shadow.
  const int64_t most_shadowed = schedule.settings.work / (2 * kLeastStepsOfARound) / schedule.settings.rows;
  return is_shadowed ? bytes + 8 * std::min(schedule.most_cells, most_shadowed) : bytes;
}

// What choosing among marginals, one at a time, and measuring them holds in memory.
int64_t MarginalBytes(const Domain& domain, const std::vector<AttributeSet>& sets) {
  constexpr int64_t kPerScoredCell = 5 * 8;  // count, answer, estimate, the same rounded, and before scaling
  int64_t largest = 0;
  for (const AttributeSet& set : sets) largest = std::max(largest, domain.CellCount(set).value_or(0));
  return kPerScoredCell * largest + CountingBytes(1, largest, largest);
}

// `schedule` has its fit_bytes; `layout` is that of its answers.
SynthesisMemory MemoryOfRap(const Domain& domain, const RapSchedule& schedule, const RelaxedLayout& layout) {
  constexpr int64_t kPerSet = 600;
  constexpr auto kFloat = static_cast<int64_t>(sizeof(float));
  const int64_t measured = schedule.settings.rounds * schedule.settings.per_round;
  const int64_t choosing = schedule.queries.empty() ? MarginalBytes(domain, schedule.sets)
                                                    : SelectionBytes(domain, schedule.queries, measured);
  const auto columns = static_cast<int64_t>(layout.columns());
  const int64_t stored = kFloat * schedule.settings.rows * columns + 8 * 2 * std::ssize(schedule.attributes) +
                         BytesOfLines(domain, measured + schedule.settings.rounds + columns,
                                      std::min<int64_t>(kMostFactors, std::ssize(schedule.attributes)));
  MethodMemory memory = RelaxedModelMemory(layout, stored);
  constexpr int64_t kPerColumn = 64;  // shares of each attribute, and its measured marginal
  memory.working = schedule.fit_bytes + choosing + kPerSet * std::ssize(schedule.sets) + kPerColumn * columns;
  return MemoryOf(memory);
}

int64_t DefaultRows(int64_t columns, size_t attributes) {
  constexpr int64_t kMostElements = int64_t{1} << 22;
  const int64_t most = attributes > kManyAttributes ? kDefaultRowsForMany : kDefaultRows;
  return std::clamp<int64_t>(kMostElements / columns / 16 * 16, 16, most);
}

// What the single queries, such terms of which may be fitted, hold in memory at once.
absl::Status CheckMemory(const Domain& domain, const RapSchedule& schedule, const TermsTaken& most) {
  const int64_t measured = schedule.settings.rounds * schedule.settings.per_round;
  const int64_t choosing = SelectionBytes(domain, schedule.queries, measured);
  if (choosing > kMostQueryBytes) {
    return InvalidField("workload",
                        absl::StrCat("choosing and measuring its single queries takes ", choosing / kMebi,
                                     " MiB of memory; at most ", kMostQueryBytes / kMebi, " are taken"));
  }
  const int64_t fitting = BytesOfQueries(most, measured);
  if (choosing + fitting <= kMostQueryBytes) return absl::OkStatus();
  return InvalidField(
      "settings.per_round",
      absl::StrCat("times rounds makes ", measured, " queries, which may count ", most.terms,
                   " cells together; to choose and fit them takes ", (choosing + fitting) / kMebi,
                   " MiB of memory; at most ", kMostQueryBytes / kMebi, " are taken"));
}

// The budget under the paper's conversion, epsilon = rho + 2 sqrt(rho ln(1/delta)): smaller than under the
// tight one, so what is charged for it keeps the same promise. Errors: INVALID_ARGUMENT when delta was not
// given.
absl::StatusOr<Budget> LooselyConverted(const Budget& budget) {
  const auto* zcdp = std::get_if<ZcdpBudget>(&budget);
  if (zcdp == nullptr || !zcdp->promise)
    return InvalidField("settings.conversion", "loose needs a spend of epsilon and delta");
  const double epsilon = static_cast<double>(zcdp->promise->epsilon.units()) / 1e12;
  const double log_inverse = -PortableLog(static_cast<double>(zcdp->promise->delta.units()) / 1e18);
  const double root = epsilon / (std::sqrt(log_inverse + epsilon) + std::sqrt(log_inverse));  // of rho
  const auto rho = static_cast<int64_t>(root * root * 1e12 * (1 - 1e-9));
  ZcdpBudget converted = *zcdp;
  converted.rho = Rho(std::min(rho, zcdp->rho.units()));
  return converted;
}

// How many marginals there is work for: the smallest, in one round of many steps; and memory, whichever are
// chosen.
int64_t MarginalsWorked(const Domain& domain, const std::vector<AttributeSet>& sets, int64_t rows) {
  constexpr int64_t kSteps = 2 * 100;  // the shadow's, too
  std::vector<int64_t> cells;
  for (const AttributeSet& set : sets) cells.push_back(CellsUpTo(domain, set, kDefaultWork));
  std::ranges::sort(cells);
  int64_t left = kDefaultWork / kSteps / rows;
  int64_t worked = 0;
  for (const int64_t each : cells) {
    if (each > left) break;
    left -= each;
    ++worked;
  }
  constexpr int64_t kMostMeasuredCells = int64_t{1} << 25;
  int64_t room = kMostMeasuredCells;
  int64_t held = 0;
  for (auto each = cells.rbegin(); each != cells.rend() && *each <= room; ++each, ++held) room -= *each;
  return std::min({worked, held, kMostMeasured});
}

// How many marginals the budget measures so that noise moves a sixth of the records at most, or a thirtieth
// where there are many attributes, in marginals of up to 64 cells; at least 64. Where there are hundreds of
// pairs, and each is mostly noise, a fit to all of them is worse than independence.
int64_t LegibleMarginals(const SynthesisInput& input, const Budget& budget, const RapSchedule& schedule) {
  constexpr int64_t kCellsAtMost = 64;
  constexpr int64_t kAlwaysMeasured = 64;
  const BudgetShare whole = WholeOf(budget);
  const double amount = static_cast<double>(whole.units) / 1e12;
  const std::vector<AttributeSet>& sets = schedule.sets;
  double cells = 0;
  for (const AttributeSet& set : sets)
    cells +=
        static_cast<double>(CellsUpTo(input.domain, set, kCellsAtMost)) / static_cast<double>(sets.size());
  const double part = schedule.attributes.size() > kManyAttributes ? 30 : 6;
  const double moved = DeclaredRecords(input.assume_records.value_or(kRapGuessedRecords)) / part / cells;
  const double legible = whole.is_pure ? moved * amount : 2 * amount * moved * moved / 0.64;
  return std::max(kAlwaysMeasured,
                  static_cast<int64_t>(std::min(legible, static_cast<double>(kMostMeasured))));
}

// Of a request that names neither rounds nor what each measures; one that names either gets the simplest of
// the other.
RapRounds AutomaticRounds(const SynthesisInput& input, const Budget& budget, const RapSchedule& schedule,
                          int64_t most) {
  if (schedule.settings.measure == RapMeasure::kQueries)
    return {.rounds = std::min<int64_t>(10, most), .per_round = 10};
  if (input.settings.contains("rounds") || input.settings.contains("per_round"))
    return {.rounds = 1, .per_round = most};
  return DefaultRounds(schedule.attributes, schedule.sets,
                       MarginalsWorked(input.domain, schedule.sets, schedule.settings.rows),
                       LegibleMarginals(input, budget, schedule));
}

// The least share that leaves the one-way marginals more signal than noise, as far as 10,000 records or the
// caller's guess of them have any: they are where the rows start from, and fits that follow are short. The
// least there is where nothing would help; the most there is where there are many attributes.
int64_t DefaultOneWayPercent(const SynthesisInput& input, const Budget& budget,
                             const AttributeSet& attributes) {
  constexpr double kMeanOfDeviation = 0.8;  // the expected noise, of a standard deviation
  constexpr double kHopeless = 100;
  const absl::StatusOr<Sensitivity> one = MarginalsSensitivity(input.unit_bound, 1);
  if (!one.ok()) return kLeastOneWayPercent;  // refused later
  if (attributes.size() > kManyAttributes) return kMostOneWayPercent;
  const BudgetShare whole = WholeOf(budget);
  const auto number = static_cast<double>(attributes.size());
  const double values = static_cast<double>(OneHotColumns(input.domain, attributes)) / number;
  const double records = DeclaredRecords(input.assume_records.value_or(kRapGuessedRecords));
  for (int64_t percent = kLeastOneWayPercent; percent <= kMostOneWayPercent; percent *= 2) {
    const int64_t units = PercentOf(whole.units, percent) / std::ssize(attributes);
    const absl::StatusOr<NoiseSpec> noise = NoiseFor(whole.Of(std::max<int64_t>(1, units)), *one);
    if (!noise.ok()) continue;
    const double mean_noise = values * kMeanOfDeviation * DeviationForFit(*noise);
    if (mean_noise <= records) return percent;
    if (percent == kMostOneWayPercent && mean_noise <= kHopeless * records) return percent;
  }
  return kLeastOneWayPercent;
}

absl::Status ReadSettings(const SynthesisInput& input, RapSchedule& schedule, Budget& budget) {
  SettingsReader reader(RapSettingsTable(), input.settings);
  RapSettings& settings = schedule.settings;
  const int64_t columns = OneHotColumns(input.domain, schedule.attributes);
  ASSIGN_OR_RETURN(settings.measure, reader.Choice("measure", kRapMeasures));
  const bool marginals = settings.measure == RapMeasure::kMarginals;
  ASSIGN_OR_RETURN(settings.at_least, reader.Integer("at_least", static_cast<int64_t>(kMostFactors)));
  if (marginals && settings.at_least != static_cast<int64_t>(kMostFactors)) {
    return InvalidField("settings.at_least",
                        "says what a single query counts; it has no meaning without measure=queries");
  }
  if (!marginals) {
    RETURN_IF_ERROR(ValidateMarginals(input.domain, schedule.sets));  // each cell is a candidate
    ASSIGN_OR_RETURN(schedule.queries, AsSingleQueries(input.workload, settings.at_least));
    const absl::Status valid = ValidateQueries(input.domain, input.workload);
    if (!valid.ok()) return InvalidField("workload", std::string(valid.message()));
  }
  ASSIGN_OR_RETURN(settings.rows, reader.Integer("rows", DefaultRows(columns, schedule.attributes.size())));
  const int64_t candidates =
      marginals ? static_cast<int64_t>(schedule.sets.size()) : CountQueries(input.domain, schedule.queries);
  const int64_t most = std::min(candidates, kMostMeasured);
  const RapRounds automatic = AutomaticRounds(input, budget, schedule, most);
  ASSIGN_OR_RETURN(settings.rounds, reader.Integer("rounds", automatic.rounds, IntegerRange{1, most}));
  const int64_t most_per_round = std::max<int64_t>(1, most / settings.rounds);
  ASSIGN_OR_RETURN(settings.per_round,
                   reader.Integer("per_round", std::min(automatic.per_round, most_per_round),
                                  IntegerRange{1, most_per_round}));
  const TermsTaken terms = MostTerms(input.domain, schedule.queries, settings.rounds * settings.per_round);
  if (terms.terms > kMostTerms) {
    return InvalidField("settings.per_round",
                        absl::StrCat("times rounds makes ", settings.rounds * settings.per_round,
                                     " queries, which may count ", terms.terms, " cells together; at most ",
                                     kMostTerms, " can be fitted"));
  }
  RETURN_IF_ERROR(CheckMemory(input.domain, schedule, terms));
  ASSIGN_OR_RETURN(
      settings.selection_percent,
      reader.Integer("selection_percent", marginals ? kSelectionPercent : kSelectionPercentOfSingleQueries));
  const int64_t one_ways =
      marginals ? DefaultOneWayPercent(input, budget, schedule.attributes) : kLeastOneWayPercent;
  ASSIGN_OR_RETURN(settings.one_way_percent, reader.Integer("one_way_percent", one_ways));
  ASSIGN_OR_RETURN(settings.relaxation, reader.Choice("relaxation", kRelaxations));
  const bool softmax = settings.relaxation == Relaxation::kSoftmax;
  schedule.most_cells = MostCells(input.domain, schedule);
  const int64_t default_steps = std::max(kDefaultSteps, settings.rounds * kLeastStepsOfARound);
  ASSIGN_OR_RETURN(settings.steps, reader.Integer("steps", default_steps));
  if (settings.steps < settings.rounds) {
    return InvalidField("settings.steps",
                        absl::StrCat("is ", settings.steps, " for ", settings.rounds,
                                     " rounds (settings.rounds); each round takes at least one step"));
  }
  if (!input.settings.contains("steps")) settings.work = kDefaultWork;
  ASSIGN_OR_RETURN(settings.rate, reader.Real("rate", softmax ? kRate : kRateOfSparseMax));
  ASSIGN_OR_RETURN(settings.fit, reader.Real("fit"));
  const bool has_many = schedule.attributes.size() > kManyAttributes;
  ASSIGN_OR_RETURN(settings.spread, reader.Real("spread", has_many ? kDefaultSpreadForMany : kDefaultSpread));
  ASSIGN_OR_RETURN(settings.start, reader.Choice("start", kStarts));
  ASSIGN_OR_RETURN(const Conversion conversion, reader.Choice("conversion", kConversions));
  if (conversion == Conversion::kLoose) {
    ASSIGN_OR_RETURN(budget, LooselyConverted(budget));
  }
  RETURN_IF_ERROR(reader.Finish());
  schedule.used_settings = reader.used();
  return absl::OkStatus();
}

// The steps of the optimiser, and the estimates from which rounds choose.
double SecondsOfRap(const SynthesisInput& input, const RapSchedule& schedule) {
  // Of a product of columns in one row, in a step; and of a cell in one row, when it is estimated.
  constexpr double kSecondsPerProduct = 0.3e-9;
  constexpr double kSecondsPerEstimate = 0.6e-9;
  constexpr double kWorkOfAParameter = 20;
  constexpr double kLeastStepsInWork = 20;  // that are taken whatever the limit on work
  const RapSettings& settings = schedule.settings;
  const auto rows = static_cast<double>(settings.rows);
  const auto columns = static_cast<double>(OneHotColumns(input.domain, schedule.attributes));
  const int64_t measured = settings.rounds * settings.per_round;
  const int64_t products = schedule.queries.empty()
                               ? schedule.most_cells
                               : MostTerms(input.domain, schedule.queries, measured).terms;
  const double work_of_a_step = rows * (static_cast<double>(products) + kWorkOfAParameter * columns);
  const double all_steps =
      static_cast<double>(settings.steps) * work_of_a_step * (AreShadowed(schedule) ? 2 : 1);
  const double work =
      std::min(all_steps, std::max(static_cast<double>(settings.work), kLeastStepsInWork * work_of_a_step));
  double candidates = 0;  // their cells
  for (const AttributeSet& set : schedule.sets)
    candidates += static_cast<double>(input.domain.CellCount(set).value_or(0));
  const double estimates = schedule.selection ? static_cast<double>(settings.rounds) * candidates * rows : 0;
  const auto sets =
      static_cast<double>(schedule.selection ? std::ssize(schedule.sets) : 0) + static_cast<double>(measured);
  return kSecondsPerProduct * work + kSecondsPerEstimate * estimates +
         CountingSeconds(sets, DeclaredRecords(input.assume_records));
}

// Its limits follow from how many rows there are.
absl::StatusOr<RelaxedLayout> LayoutInBlocks(const Domain& domain, const RapSchedule& schedule,
                                             size_t most_block_rows) {
  absl::StatusOr<RelaxedLayout> layout =
      RelaxedLayout::Create(domain, schedule.attributes, schedule.settings.rows, most_block_rows);
  if (layout.ok()) return layout;
  return InvalidField("settings.rows",
                      absl::StrCat("does not fit this workload: ", std::string(layout.status().message())));
}

}  // namespace

bool AreShadowed(const RapSchedule& schedule) {
  return schedule.queries.empty() && schedule.settings.work < INT64_MAX;
}

RapRounds DefaultRounds(const AttributeSet& attributes, const std::vector<AttributeSet>& sets, int64_t worked,
                        int64_t legible) {
  constexpr size_t kMostAttributes = 8192;  // a bit for each pair of them
  constexpr int64_t kMostRounds = 5;
  const auto all_at_once =
      RapRounds{.rounds = 1, .per_round = std::min<int64_t>(std::ssize(sets), kMostMeasured)};
  const bool all_are_legible = legible >= std::ssize(sets);
  if (all_are_legible && (attributes.size() > kMostAttributes || worked >= std::ssize(sets)))
    return all_at_once;
  if (attributes.size() > kMostAttributes) return {.rounds = 5, .per_round = (legible + 2) / 5};
  std::vector<bool> seen(attributes.size() * attributes.size());
  int64_t pairs = 0;
  int64_t distinct = 0;
  const auto position_of = [&](uint32_t attribute) { return *PositionIn(attributes, attribute); };
  for (const AttributeSet& set : sets) {
    for (size_t i = 0; i < set.size(); ++i) {
      const size_t row = position_of(set[i]) * attributes.size();
      for (size_t j = i + 1; j < set.size(); ++j) {
        const size_t pair = row + position_of(set[j]);
        ++pairs;
        distinct += seen[pair] ? 0 : 1;
        seen[pair] = true;
      }
    }
  }
  if (pairs == 0) return all_at_once;
  // 2.2 times each, by experiment: marginals that are chosen share pairs more often than others.
  const int64_t worth = (22 * distinct * std::ssize(sets) + 10 * pairs - 1) / (10 * pairs);
  if (all_are_legible && 4 * worth >= 3 * all_at_once.per_round) return all_at_once;
  const int64_t six_times = std::min(6 * distinct * std::ssize(sets) / pairs, all_at_once.per_round);
  const int64_t measured = std::min(legible, std::clamp(worked, worth, std::max(worth, six_times)));
  const int64_t rounds = std::min(measured, kMostRounds);
  return {.rounds = rounds, .per_round = (measured + rounds / 2) / rounds};
}

int64_t MostStepsOf(const RapSettings& settings, int64_t round) {
  return settings.steps / settings.rounds + (round < settings.steps % settings.rounds ? 1 : 0);
}

absl::StatusOr<RapSchedule> MakeRapSchedule(const SynthesisInput& input) {
  RETURN_IF_ERROR(ValidateWorkload(input.domain, input.workload));
  ASSIGN_OR_RETURN(Budget budget, BudgetOf(input.rule, input.spend));
  RapSchedule schedule;
  schedule.sets = SetsOf(input.workload);
  schedule.attributes = Union(schedule.sets);
  RETURN_IF_ERROR(CheckKernelAndLoopLimits(input.domain, schedule.sets));
  RETURN_IF_ERROR(ReadSettings(input, schedule, budget));
  ASSIGN_OR_RETURN(const RelaxedLayout layout, LayoutFor(input.domain, schedule));
  ASSIGN_OR_RETURN(const RelaxedLayout answering, AnsweringLayoutFor(input.domain, schedule));
  schedule.fit_bytes = FitBytes(input.domain, schedule, layout);
  schedule.memory = MemoryOfRap(input.domain, schedule, answering);
  Sides sides;
  ASSIGN_OR_RETURN(sides.one_marginal, MarginalsSensitivity(input.unit_bound, 1));
  ASSIGN_OR_RETURN(sides.records, RecordCountSensitivity(input.unit_bound));
  const bool queries = !schedule.queries.empty();
  sides.measured = sides.one_marginal;
  if (queries) {
    const QueryGroup any = SingleGroup(input.domain, schedule.queries.front(), 0);
    ASSIGN_OR_RETURN(sides.measured, QueriesSensitivity(input.domain, input.unit_bound, std::span(&any, 1)));
  }
  const int64_t candidates =
      queries ? CountQueries(input.domain, schedule.queries) : static_cast<int64_t>(schedule.sets.size());
  const int64_t measured = schedule.settings.rounds * schedule.settings.per_round;
  RETURN_IF_ERROR(
      BuyNoise(budget, measured < candidates ? Choosing::kSelects : Choosing::kMeasuresAll, sides, schedule));
  RETURN_IF_ERROR(CheckPenalties(input.domain, budget, schedule));
  schedule.draws = DrawsOf(schedule, sides);
  schedule.cpu_seconds = SecondsOfRap(input, schedule);
  // A selection among single queries does not get cheaper for a unit that only enters or leaves: parts pay
  // more.
  if (queries) return schedule;
  ASSIGN_OR_RETURN(schedule.linear, LinearDrawsOf(schedule, input.unit_bound));
  return schedule;
}

absl::StatusOr<RelaxedLayout> LayoutFor(const Domain& domain, const RapSchedule& schedule) {
  return LayoutInBlocks(domain, schedule, schedule.queries.empty() ? kMarginalBlockRows : kCellBlockRows);
}

absl::StatusOr<RelaxedLayout> AnsweringLayoutFor(const Domain& domain, const RapSchedule& schedule) {
  return LayoutInBlocks(domain, schedule, kMarginalBlockRows);
}

const std::vector<Setting>& RapSettingsTable() {
  static const auto* const settings = new std::vector<Setting>{
      ChoiceSetting("measure",
                    "marginals: whole ones, each at the price of one query; queries: the workload's cells or "
                    "queries one by one, as in the paper",
                    kRapMeasures),
      IntegerSetting(
          "at_least",
          "with measure=queries: each cell of a marginal stands for the records that share at least "
          "this many of its values; all of them is the cell itself; refused with measure=marginals",
          "all", IntegerRange{1, static_cast<int64_t>(kMostFactors)}),
      IntegerSetting(
          "rounds", "how often the rows are fitted and the worst answered chosen",
          "1, or up to 5 where marginals overlap much and there is no work for all; 10 for queries"),
      IntegerSetting(
          "per_round",
          "how many marginals or queries are measured in a round; all marginals, without selection, "
          "when rounds times this is their number",
          "all, or as many as hold each pair of attributes two to six times and there is work for; 10 for "
          "queries"),
      IntegerSetting("one_way_percent",
                     "the share of the budget that measures every attribute by itself first",
                     absl::StrCat(kLeastOneWayPercent, "; for marginals up to ", kMostOneWayPercent,
                                  " where that leaves more noise than records"),
                     IntegerRange{0, 99}),
      IntegerSetting("selection_percent", "the share of a measurement's budget that chooses what to measure",
                     absl::StrCat(kSelectionPercent, "; ", kSelectionPercentOfSingleQueries, " for queries"),
                     IntegerRange{1, 99}),
      ChoiceSetting(
          "relaxation",
          "softmax or sparsemax: how rows become distributions; sparsemax without one_way_percent is "
          "the paper's descent",
          kRelaxations),
      IntegerSetting("rows", "how many relaxed rows represent the data",
                     absl::StrCat(kDefaultRows, ", or ", kDefaultRowsForMany, " of more than ",
                                  kManyAttributes, " attributes; fewer for very many columns"),
                     IntegerRange{1, kMostRelaxedRows}),
      IntegerSetting(
          "steps",
          "how many steps the optimiser takes at most, in all rounds together; at least one for each",
          absl::StrCat(
              kDefaultSteps, ", or ", kLeastStepsOfARound,
              " for each round; fewer where more would follow the noise, and for some seconds of work; "
              "a number in the request is not reduced"),
          IntegerRange{1, kMostSteps}),
      RealSetting("rate", "the step length of the optimiser",
                  absl::StrCat(kRate, "; ", kRateOfSparseMax, " with sparsemax"), RealRange{1e-6, 10}),
      RealSetting(
          "fit",
          "how closely answers are fitted: until the loss is this many squared deviations of their noise",
          0.9, {0, 1000}),
      RealSetting("spread", "how far apart the rows start",
                  absl::StrCat(kDefaultSpread, ", or ", kDefaultSpreadForMany, " of more than ",
                               kManyAttributes, " attributes"),
                  RealRange{0, 100}),
      ChoiceSetting("conversion",
                    "how much noise epsilon and delta buy: tight, or loose, by the paper's formula, for "
                    "comparison",
                    kConversions),
      ChoiceSetting("start", "warm: each round goes on from the last one's rows; cold: it starts again",
                    kStarts)};
  return *settings;
}

std::vector<std::string> DescribeSchedule(const Domain& domain, const RapSchedule& schedule) {
  const std::string measured = schedule.queries.empty() ? "marginal" : "query";
  std::vector<std::string> lines;
  lines.push_back(absl::StrCat("once: the number of records, ", Describe(schedule.draws.front().event)));
  for (size_t i = 1; i < schedule.draws.size(); ++i) {
    const CountedEvent& draw = schedule.draws[i];
    const bool selection = std::holds_alternative<ExponentialMechanismEvent>(draw.event.what);
    const bool one_way = schedule.one_way_noise && i == 1;
    lines.push_back(absl::StrCat(draw.count, " times: ",
                                 selection
                                     ? absl::StrCat("choose the ", measured, " that is approximated worst, ")
                                 : one_way ? "the counts of one attribute, "
                                           : absl::StrCat("the counts of one ", measured, ", "),
                                 Describe(draw.event)));
  }
  if (schedule.selection && !schedule.queries.empty()) {
    const int64_t bytes =
        SelectionBytes(domain, schedule.queries, schedule.settings.rounds * schedule.settings.per_round);
    lines.push_back(absl::StrCat("choices are among ", CountQueries(domain, schedule.queries),
                                 " queries, one marginal's at a time, in at most ", bytes / kMebi + 1,
                                 " MiB of memory"));
  } else if (schedule.selection) {
    lines.push_back(absl::StrCat("choices score one marginal at a time, in at most ",
                                 MarginalBytes(domain, schedule.sets) / kMebi + 1, " MiB of memory"));
  }
  lines.push_back(absl::StrCat("fit ", schedule.settings.rows, " relaxed rows to at most ",
                               schedule.most_cells, " answers in at most ", schedule.settings.steps,
                               " steps, in at most ", schedule.fit_bytes / kMebi + 1, " MiB of memory"));
  return lines;
}

}  // namespace curator::dp
