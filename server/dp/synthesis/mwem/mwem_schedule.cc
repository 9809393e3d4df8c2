#include "dp/synthesis/mwem/mwem_schedule.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/models/clique_tree.h"
#include "dp/synthesis/models/product_model.h"
#include "dp/synthesis/models/structural_zeros.h"
#include "dp/synthesis/mwem/mwem_memory.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

// Cells of all boxes that are measured together: a fit holds each as an entry of 8 bytes.
constexpr int64_t kMostMeasuredBoxCells = int64_t{1} << 26;

// Numbers of 8 bytes in the factors of all iterates that an average is made of.
constexpr int64_t kMostIterateCells = int64_t{1} << 27;

absl::Status CheckBoxes(const SynthesisInput& input, int64_t stages, int64_t rounds) {
  const int64_t cells = BoxCellsOfAStage(input, rounds);
  if (cells <= kMostMeasuredBoxCells / stages) return absl::OkStatus();
  return InvalidField(
      "workload", absl::StrCat("has boxes of up to ", cells, " cells in the ", rounds, " rounds of each of ",
                               stages, " stages; at most ", kMostMeasuredBoxCells,
                               " are held in all: take fewer rounds or smaller boxes"));
}

absl::Status CheckIterates(const SynthesisInput& input, const MwemSchedule& schedule, int64_t all_rounds) {
  if (schedule.settings.iterate != MwemIterate::kAverage) return absl::OkStatus();
  int64_t cells = CellsOfLargest(input.domain, SetsOf(input.workload), all_rounds, kMostIterateCells);
  for (const AttributeSet& set : SetsOf(schedule.initial))
    cells += CellsUpTo(input.domain, set, kMostIterateCells);
  const int64_t iterates = all_rounds + (schedule.initial.empty() ? 0 : 1);
  if (cells <= kMostIterateCells / iterates) return absl::OkStatus();
  return InvalidField("settings.iterate", absl::StrCat("average would keep ", iterates, " iterates of up to ",
                                                       cells, " numbers each; at most ", kMostIterateCells,
                                                       " are held in all: take fewer rounds or last"));
}

// `schedule` has its attributes, settings, stages and what is measured beforehand. Errors: INVALID_ARGUMENT
// ("workload") when the marginals that are selected from, or counted beforehand, have more cells together
// than one question to the kernel may count, or boxes more than kMostMeasuredBoxCells; ("settings.iterate")
// when an average would keep more than kMostIterateCells.
absl::Status CheckMemory(const SynthesisInput& input, const MwemSchedule& schedule) {
  // A selection counts the cells of all candidates at once.
  const bool selects = std::ranges::any_of(
      schedule.stages, [](const MwemStage& stage) { return stage.selection.has_value(); });
  if (selects) RETURN_IF_ERROR(TotalCells(input.domain, SetsOf(input.workload)).status());
  RETURN_IF_ERROR(TotalCells(input.domain, SetsOf(schedule.initial)).status());
  const auto stages = static_cast<int64_t>(schedule.stages.size());
  RETURN_IF_ERROR(CheckBoxes(input, stages, schedule.settings.rounds));
  return CheckIterates(input, schedule, stages * schedule.settings.rounds);
}

constexpr int64_t kMwemRecordParts = 20;  // see RecordCountUnits()

// The units of the budget, split.
struct MwemSplit {
  int64_t records = 0;
  int64_t initial = 0;  // 0 when nothing is measured beforehand
  struct Round {
    int64_t selection = 0;  // 0 when nothing is selected
    int64_t measurement = 0;
  };
  std::vector<Round> rounds;  // one of each stage
};

absl::StatusOr<MwemSplit> SplitBudget(const BudgetShare& whole, const MwemSettings& settings, bool selects) {
  const int64_t stages = settings.adaptive == MwemRounds::kAdaptive ? kAdaptiveStages : 1;
  MwemSplit split;
  split.records = RecordCountUnits(whole.units, kMwemRecordParts);
  int64_t left = whole.units - split.records;
  if (settings.init != MwemInit::kUniform) split.initial = PercentOf(left, settings.init_percent);
  left -= split.initial;
  const int64_t first = left / settings.rounds / ((int64_t{1} << stages) - 1);
  for (int64_t stage = 0; stage < stages; ++stage) {
    const int64_t round = first << stage;
    const int64_t selection = selects ? PercentOf(round, settings.selection_percent) : 0;
    split.rounds.push_back({selection, round - selection});
  }
  const MwemSplit::Round& least = split.rounds.front();
  if (least.measurement < 1 || (selects && least.selection < 1) ||
      (settings.init != MwemInit::kUniform && split.initial < 1)) {
    return whole.TooSmallFor(absl::StrCat(settings.rounds, " rounds"));
  }
  return split;
}

// The sensitivities of the three kinds of measurements.
struct Sensitivities {
  Sensitivity records;
  std::optional<Sensitivity> initial;
  Sensitivity candidate;
};

absl::StatusOr<Sensitivities> SensitivitiesUnder(const SynthesisInput& input, const UnitBound& unit,
                                                 const std::vector<QueryGroup>& initial) {
  Sensitivities sensitivities;
  ASSIGN_OR_RETURN(sensitivities.records, RecordCountSensitivity(unit));
  if (!initial.empty()) {
    ASSIGN_OR_RETURN(sensitivities.initial, QueriesSensitivity(input.domain, unit, initial));
  }
  ASSIGN_OR_RETURN(sensitivities.candidate, CandidateSensitivity(input, unit));
  return sensitivities;
}

// Fills in noises and selections.
absl::Status BuyNoise(const Budget& budget, bool selects, const Sensitivities& sensitivities,
                      MwemSchedule& schedule) {
  const BudgetShare whole = WholeOf(budget);
  ASSIGN_OR_RETURN(const MwemSplit split, SplitBudget(whole, schedule.settings, selects));
  ASSIGN_OR_RETURN(schedule.record_noise, NoiseFor(whole.Of(split.records), sensitivities.records));
  if (sensitivities.initial) {
    ASSIGN_OR_RETURN(schedule.initial_noise, NoiseFor(whole.Of(split.initial), *sensitivities.initial));
  }
  for (const MwemSplit::Round& round : split.rounds) {
    MwemStage stage{.rounds = schedule.settings.rounds, .selection = std::nullopt, .noise = {}};
    ASSIGN_OR_RETURN(stage.noise, NoiseFor(whole.Of(round.measurement), sensitivities.candidate));
    if (selects) {
      ASSIGN_OR_RETURN(stage.selection,
                       SelectionEpsilonFor(whole.Of(round.selection), "a selection in each round"));
    }
    schedule.stages.push_back(stage);
  }
  return absl::OkStatus();
}

// Every draw, as seen under the relation of `sensitivities`, where a selection's range is `share` of that
// which was bought.
std::vector<CountedEvent> DrawsOf(const MwemSchedule& schedule, const Sensitivities& sensitivities,
                                  Rational share) {
  std::vector<CountedEvent> draws = {{NoiseEvent(schedule.record_noise, sensitivities.records), 1}};
  if (sensitivities.initial) draws.push_back({NoiseEvent(schedule.initial_noise, *sensitivities.initial), 1});
  for (const MwemStage& stage : schedule.stages) {
    if (stage.selection) {
      const int64_t units = stage.selection->units();
      const int64_t whole = units / share.denominator * share.numerator;
      const int64_t rest =
          (units % share.denominator * share.numerator + share.denominator - 1) / share.denominator;
      draws.push_back({{ExponentialMechanismEvent{Epsilon(whole + rest)}}, stage.rounds});
    }
    draws.push_back({NoiseEvent(stage.noise, sensitivities.candidate), stage.rounds});
  }
  return draws;
}

// How far one candidate's error moves, in records.
int64_t ErrorMovement(const SynthesisInput& input, const Sensitivity& candidate) {
  return AreWholeMarginals(input.workload) ? candidate.l1 : candidate.linf;
}

// Draws that are linear in the records that change (dp/sensitivity/part_cost.h): noise on marginals and on
// their number, and selections whose scores' bound is a sum over the records that change.
//
// Proof for noise on one query that is not a marginal's cell, with weights of at most w in absolute value, s
// apart, when J records leave and I enter, p = min(J, I), e = |J - I|, p + e <= m. Paired records move it by
// at most s, others by w. Under REPLACE_ONE L1 is m s <= 2 m w, and p s + e w <= (J + I) w is at most the
// share (J + I)/(2m) of 2 r = 2 m w. With B = max(s^2, 2 w^2),
//   (p s + e w)^2 <= (p + e)(p s^2 + e w^2) <= (m/2) B (2p + e),
// which is that share of max(c, 2r) = m^2 B.
//
// None where candidates that a replacement moves alike are moved apart by records that only leave: then a
// choice would decide what a part pays.
std::optional<LinearDraws> LinearDrawsOf(const SynthesisInput& input, const MwemSchedule& schedule,
                                         const Sensitivities& own) {
  const absl::StatusOr<Sensitivities> removal =
      SensitivitiesUnder(input, UnderAddRemove(input.unit_bound), schedule.initial);
  if (!removal.ok()) return std::nullopt;
  const Rational share =
      Reduced({ErrorMovement(input, removal->candidate), ErrorMovement(input, own.candidate)});
  return LinearDraws{.draws = schedule.draws, .removals = DrawsOf(schedule, *removal, share)};
}

std::vector<QueryGroup> InitialGroups(const MwemSettings& settings, const AttributeSet& attributes) {
  if (settings.init == MwemInit::kUniform) return {};
  if (settings.init == MwemInit::kDomain) return {{.attributes = attributes, .queries = EveryCell()}};
  std::vector<QueryGroup> groups;
  for (const uint32_t attribute : settings.one_ways)
    groups.push_back({.attributes = {attribute}, .queries = EveryCell()});
  return groups;
}

// The tables that the workload can make, by public structure alone: its sets join attributes into components,
// and cliques lie within these.
void FillInCells(const SynthesisInput& input, MwemSchedule& schedule) {
  const int64_t most = schedule.settings.max_cells;
  std::vector<AttributeSet> components;
  if (schedule.settings.form == MwemForm::kDense) components = {schedule.attributes};
  int64_t single = 0;  // the tables of attributes that nothing joins
  for (const uint32_t attribute : schedule.attributes) {
    single += input.domain.attributes()[attribute].size();
    schedule.model_cells = std::max(schedule.model_cells, input.domain.attributes()[attribute].size());
  }
  std::vector<AttributeSet> sets = PairsOf(input.domain, schedule.constraints);
  std::ranges::move(SetsOf(input.workload), std::back_inserter(sets));
  for (AttributeSet joined : sets) {
    std::erase_if(components, [&joined](const AttributeSet& component) {
      if (Intersection(component, joined).empty()) return false;
      joined = Union(joined, component);
      return true;
    });
    components.push_back(std::move(joined));
  }
  int64_t all = 0;
  for (const AttributeSet& component : components) {
    const int64_t cells = CellsUpTo(input.domain, component, most);
    schedule.model_cells = std::max(schedule.model_cells, cells);
    all = std::min(most, all + cells);
  }
  schedule.all_cells =
      schedule.settings.form == MwemForm::kDense ? all : std::max(single, std::min(most, all + single));
}

// Whether all candidates can be measured.
bool HoldsAll(const SynthesisInput& input, const MwemSchedule& schedule) {
  if (schedule.settings.form == MwemForm::kDense || input.is_of_version_1) return true;
  CliqueGraph graph(input.domain, schedule.attributes);
  for (const AttributeSet& pair : PairsOf(input.domain, schedule.constraints)) graph.Connect(pair);
  for (const AttributeSet& set : SetsOf(input.workload)) {
    if (graph.Connects(set)) continue;
    if (graph.SizeWith(set).cliques > schedule.settings.max_cells) return false;
    graph.Connect(set);
  }
  return true;
}

absl::Status CheckDenseFits(const SynthesisInput& input, const MwemSchedule& schedule) {
  if (schedule.settings.form != MwemForm::kDense) return absl::OkStatus();
  return DenseLayout::Create(input.domain, schedule.attributes, schedule.settings.max_cells).status();
}

// What decides the sensitivity of a single query: its largest weight, how far its weights are apart with 0,
// and whether one is negative.
using QueryShape = std::tuple<int64_t, int64_t, bool>;

constexpr QueryShape kShapeOfABox = {1, 1, false};

QueryShape ShapeOf(const LinearQuery& query) {
  int64_t least = 0;
  int64_t most = 0;
  for (const WeightedCell& term : query) {
    least = std::min<int64_t>(least, term.weight);
    most = std::max<int64_t>(most, term.weight);
  }
  return {std::max(most, -least), most - least, least < 0};
}

}  // namespace

int64_t NumberOfCandidates(const SynthesisInput& input) {
  int64_t candidates = 0;
  for (const QueryGroup& group : input.workload) {
    candidates += IsWholeMarginal(group) ? 1 : NumberOfQueries(input.domain, group);
  }
  return candidates;
}

absl::StatusOr<Sensitivity> CandidateSensitivity(const SynthesisInput& input, const UnitBound& unit) {
  std::optional<Sensitivity> common;
  const auto add = [&common](const absl::StatusOr<Sensitivity>& one) {
    if (!one.ok()) return one.status();
    if (common && *common != *one) {
      return InvalidField(
          "workload",
          "mixes queries that one unit moves by different amounts; ask for them one kind at a "
          "time, so that each round has one price");
    }
    common = *one;
    return absl::OkStatus();
  };
  std::set<QueryShape> seen;
  for (const QueryGroup& group : input.workload) {
    if (IsWholeMarginal(group)) {
      RETURN_IF_ERROR(add(MarginalsSensitivity(unit, 1)));
      continue;
    }
    const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries);
    const auto count = static_cast<size_t>(NumberOfQueries(input.domain, group));
    for (size_t i = 0; i < count; ++i) {
      if (!seen.insert(queries != nullptr ? ShapeOf((*queries)[i]) : kShapeOfABox).second) continue;
      const QueryGroup single = SingleQuery(group, i);
      RETURN_IF_ERROR(add(QueriesSensitivity(input.domain, unit, std::span(&single, 1))));
    }
  }
  return *common;
}

absl::StatusOr<MwemSchedule> MakeMwemSchedule(const SynthesisInput& input) {
  RETURN_IF_ERROR(ValidateWorkload(input.domain, input.workload));
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(input.rule, input.spend));
  MwemSchedule schedule;
  const std::vector<AttributeSet> sets = SetsOf(input.workload);
  schedule.attributes = Union(sets);
  schedule.candidates = NumberOfCandidates(input);
  ASSIGN_OR_RETURN(ReadMwemSettings read, ReadSettings(input, budget, schedule.candidates));
  schedule.settings = read.settings;
  schedule.used_settings = std::move(read.used);
  RETURN_IF_ERROR(CheckDenseFits(input, schedule));
  if (schedule.settings.iterate == MwemIterate::kLast) {
    schedule.constraints =
        HeldConstraints(input.domain, schedule.attributes, schedule.settings.max_cells, kMostSeparatorCells);
  }
  const bool adaptive = schedule.settings.adaptive == MwemRounds::kAdaptive;
  schedule.initial = InitialGroups(schedule.settings, schedule.attributes);
  ASSIGN_OR_RETURN(const Sensitivities sensitivities,
                   SensitivitiesUnder(input, input.unit_bound, schedule.initial));
  const bool selects = schedule.candidates > 1 && (schedule.settings.rounds < schedule.candidates ||
                                                   adaptive || !HoldsAll(input, schedule));
  RETURN_IF_ERROR(BuyNoise(budget, selects, sensitivities, schedule));
  schedule.draws = DrawsOf(schedule, sensitivities, {1, 1});
  RETURN_IF_ERROR(CheckMemory(input, schedule));
  schedule.linear = LinearDrawsOf(input, schedule, sensitivities);
  FillInCells(input, schedule);
  return schedule;
}

std::vector<std::string> DescribeSchedule(const MwemSchedule& schedule) {
  std::vector<std::string> lines;
  lines.push_back(absl::StrCat("once: the number of records, ", Describe(schedule.draws.front().event)));
  size_t next = 1;
  if (!schedule.initial.empty()) {
    lines.push_back(absl::StrCat(
        "once: ",
        schedule.settings.init == MwemInit::kDomain ? "every cell, "
        : schedule.initial.size() == schedule.attributes.size()
            ? "every one-way marginal, "
            : absl::StrCat("the one-way marginals of ", schedule.initial.size(), " attributes, "),
        Describe(schedule.draws[next++].event)));
  }
  for (size_t i = 0; i < schedule.stages.size(); ++i) {
    const MwemStage& stage = schedule.stages[i];
    const std::string times =
        schedule.stages.size() == 1
            ? absl::StrCat(stage.rounds, " times: ")
            : absl::StrCat("stage ", i + 1, ", at most ", stage.rounds, " times, all of them charged: ");
    if (stage.selection) {
      lines.push_back(absl::StrCat(times, "choose among ", schedule.candidates,
                                   " candidates the one that is approximated worst, ",
                                   Describe(schedule.draws[next++].event)));
    }
    lines.push_back(
        absl::StrCat(times, "the answers of one candidate, ", Describe(schedule.draws[next++].event)));
  }
  lines.push_back(schedule.settings.form == MwemForm::kDense
                      ? absl::StrCat("held in memory: one table of ", schedule.model_cells, " cells")
                      : absl::StrCat("held in memory: cliques of at most ", schedule.all_cells,
                                     " cells together; candidates that would need more are not chosen"));
  return lines;
}

}  // namespace curator::dp
