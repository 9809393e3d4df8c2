#include "dp/synthesis/mwem/mwem_schedule.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/synthesis/affordable_selection.h"
#include "dp/synthesis/dense/product_model.h"
#include "dp/synthesis/factored/factored_fit.h"
#include "dp/synthesis/mwem/mwem_limits.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

constexpr int64_t kMwemRecordShare = 20;  // one part in so many buys the number of records

// The budget in its own units, split.
struct MwemSplit {
  int64_t records = 0;
  int64_t initial = 0;  // 0 when nothing is measured beforehand
  struct Round {
    int64_t selection = 0;  // 0 when nothing is selected
    int64_t measurement = 0;
  };
  std::vector<Round> rounds;  // one of each stage
};

int64_t PercentOf(int64_t units, int64_t percent) {
  return units / 100 * percent + units % 100 * percent / 100;
}

absl::StatusOr<MwemSplit> SplitBudget(int64_t units, const MwemSettings& settings, bool selects,
                                      std::string_view field) {
  const int64_t stages = settings.adaptive == MwemRounds::kAdaptive ? kAdaptiveStages : 1;
  MwemSplit split;
  split.records = std::max<int64_t>(1, units / kMwemRecordShare);
  int64_t left = units - split.records;
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
    return InvalidField(field, absl::StrCat("is too small to be split over ", settings.rounds, " rounds"));
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
  const auto* const pure = std::get_if<PureBudget>(&budget);
  const int64_t units = pure != nullptr ? pure->epsilon.units() : std::get<ZcdpBudget>(budget).rho.units();
  const std::string_view field = pure != nullptr ? "spend.epsilon" : "spend.rho";
  ASSIGN_OR_RETURN(const MwemSplit split, SplitBudget(units, schedule.settings, selects, field));
  const auto noise_for = [pure](const Sensitivity& sensitivity, int64_t share) {
    return pure != nullptr ? LaplaceNoiseFor(sensitivity, Epsilon(share))
                           : GaussianNoiseFor(sensitivity, Rho(share));
  };
  ASSIGN_OR_RETURN(schedule.record_noise, noise_for(sensitivities.records, split.records));
  if (sensitivities.initial) {
    ASSIGN_OR_RETURN(schedule.initial_noise, noise_for(*sensitivities.initial, split.initial));
  }
  for (const MwemSplit::Round& round : split.rounds) {
    MwemStage stage{.rounds = schedule.settings.rounds, .selection = std::nullopt, .noise = {}};
    ASSIGN_OR_RETURN(stage.noise, noise_for(sensitivities.candidate, round.measurement));
    if (selects && pure != nullptr) stage.selection = Epsilon(round.selection);
    if (selects && pure == nullptr) {
      ASSIGN_OR_RETURN(stage.selection, AffordableSelection(Rho(round.selection)));
      if (!stage.selection) return InvalidField(field, "is too small to pay for a selection in each round");
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
  const UnitBound leaving{.relation = NeighbourRelation::kAddRemove,
                          .max_records = input.unit_bound.max_records};
  const absl::StatusOr<Sensitivities> removal = SensitivitiesUnder(input, leaving, schedule.initial);
  if (!removal.ok()) return std::nullopt;
  const Rational share =
      Reduced({ErrorMovement(input, removal->candidate), ErrorMovement(input, own.candidate)});
  return LinearDraws{.draws = schedule.draws, .removals = DrawsOf(schedule, *removal, share)};
}

std::vector<QueryGroup> InitialGroups(MwemInit init, const AttributeSet& attributes) {
  if (init == MwemInit::kUniform) return {};
  if (init == MwemInit::kDomain) return {{.attributes = attributes, .queries = EveryCell()}};
  std::vector<QueryGroup> groups;
  for (const uint32_t attribute : attributes)
    groups.push_back({.attributes = {attribute}, .queries = EveryCell()});
  return groups;
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
  schedule.attributes = UnionOf(sets);
  schedule.candidates = NumberOfCandidates(input);
  ASSIGN_OR_RETURN(ReadMwemSettings read, ReadSettings(input, budget, schedule.candidates));
  schedule.settings = read.settings;
  schedule.used_settings = std::move(read.used);
  RETURN_IF_ERROR(CheckDenseFits(input, schedule));
  const bool adaptive = schedule.settings.adaptive == MwemRounds::kAdaptive;
  schedule.initial = InitialGroups(schedule.settings.init, schedule.attributes);
  ASSIGN_OR_RETURN(const Sensitivities sensitivities,
                   SensitivitiesUnder(input, input.unit_bound, schedule.initial));
  const bool selects =
      schedule.settings.rounds < schedule.candidates || (adaptive && schedule.candidates > 1);
  RETURN_IF_ERROR(BuyNoise(budget, selects, sensitivities, schedule));
  schedule.draws = DrawsOf(schedule, sensitivities, {1, 1});
  RETURN_IF_ERROR(CheckWhatIsHeld(input, schedule));
  schedule.linear = LinearDrawsOf(input, schedule, sensitivities);
  std::vector<AttributeSet> joined = sets;
  for (const QueryGroup& group : schedule.initial) joined.push_back(group.attributes);
  if (schedule.settings.form == MwemForm::kDense) joined = {schedule.attributes};
  schedule.model_cells = LargestTable(input.domain, joined, schedule.settings.max_cells);
  return schedule;
}

std::vector<std::string> DescribeSchedule(const MwemSchedule& schedule) {
  std::vector<std::string> lines;
  lines.push_back(absl::StrCat("once: the number of records, ", Describe(schedule.draws.front().event)));
  size_t next = 1;
  if (!schedule.initial.empty()) {
    lines.push_back(absl::StrCat(
        "once: ", schedule.settings.init == MwemInit::kDomain ? "every cell, " : "every one-way marginal, ",
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
                      : absl::StrCat("held in memory: independent tables of at most ",
                                     schedule.settings.max_cells,
                                     " cells together; candidates that would need more are not chosen"));
  return lines;
}

}  // namespace curator::dp
