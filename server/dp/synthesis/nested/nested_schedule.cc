#include "dp/synthesis/nested/nested_schedule.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/kernel/utility/lattice_utility.h"
#include "dp/kernel/utility/record_influence.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/sensitivity/spend.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/nested/nested_model.h"
#include "dp/synthesis/synthesis_forecast.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

// The budget, split.
struct NestedShares {
  BudgetShare sizes;
  BudgetShare joined;
  BudgetShare described;
  BudgetShare each_draw;
};

absl::StatusOr<NestedShares> SplitBudget(const Budget& budget, const NestedSettings& settings) {
  const BudgetShare whole = WholeOf(budget);
  const int64_t sizes = PercentOf(whole.units, settings.size_percent);
  const bool joins = settings.join != "none";
  const int64_t joined = joins ? PercentOf(whole.units, settings.join_percent) : 0;
  const int64_t described = PercentOf(whole.units, settings.group_percent);
  const int64_t each_draw = (whole.units - sizes - joined - described) / settings.draws;
  const bool has_all = (!joins || joined > 0) && (settings.group_attributes.empty() || described > 0);
  if (sizes > 0 && each_draw > 0 && has_all) {
    return NestedShares{.sizes = whole.Of(sizes),
                        .joined = whole.Of(joined),
                        .described = whole.Of(described),
                        .each_draw = whole.Of(each_draw)};
  }
  return InvalidField(
      whole.field(),
      absl::StrCat("leaves nothing for some of sizes (size_percent), ", settings.draws, " draws, ",
                   settings.group_attributes.empty() ? "" : "attributes of groups (group_percent) ",
                   "and the joined method (join_percent)"));
}

absl::Status BuySizes(const SynthesisInput& input, const NestedShares& shares, NestedSchedule& schedule) {
  const Sensitivity sensitivity =
      GroupSizesSensitivity(input.unit_bound.relation, schedule.role, schedule.settings.size_bins.size());
  const absl::StatusOr<NoiseSpec> noise = NoiseFor(shares.sizes, sensitivity);
  if (!noise.ok()) return InvalidField(shares.sizes.field(), std::string(noise.status().message()));
  schedule.size_noise = *noise;
  schedule.draws.push_back({NoiseEvent(*noise, sensitivity), 1});
  schedule.lines.push_back(absl::StrCat(
      "once: the number of groups",
      schedule.settings.sizes == SizeSource::kPublic
          ? absl::StrCat(", each taken to have ", schedule.settings.group_size, " records")
          : absl::StrCat(" in each of ", schedule.settings.size_bins.size(), " classes of sizes"),
      ", ", Describe(schedule.draws.back().event)));
  return absl::OkStatus();
}

absl::Status BuyDraws(const NestedShares& shares, NestedSchedule& schedule) {
  ASSIGN_OR_RETURN(schedule.each_draw, SelectionEpsilonFor(shares.each_draw, "a draw of parameters"));
  schedule.draws.push_back({Event{ExponentialMechanismEvent{schedule.each_draw}}, schedule.settings.draws});
  return absl::OkStatus();
}

// What is left as it was of the attributes that the schema names, and why.
void ExplainOthersOfGroups(const SynthesisInput& input, NestedSchedule& schedule) {
  const AttributeSet others =
      Difference(Intersection(input.nested->group_attributes, Union(SetsOf(input.workload))),
                 schedule.settings.group_attributes);
  if (others.empty()) return;
  schedule.lines.push_back(
      absl::StrCat("attributes of groups that differ between the records of a synthetic group: ",
                   NamesOf(input.domain, others),
                   input.nested->unit == NestedUnit::kRecord
                       ? "; they are counted by group only where the group is the privacy unit"
                       : "; of more than 65536 values, or group_percent is 0"));
}

absl::Status BuyDescription(const SynthesisInput& input, const NestedShares& shares,
                            NestedSchedule& schedule) {
  ExplainOthersOfGroups(input, schedule);
  if (schedule.settings.group_attributes.empty()) return absl::OkStatus();
  const NeighbourRelation relation = input.unit_bound.relation;
  const auto noise_of = [&](int64_t marginals) -> absl::StatusOr<NoiseSpec> {
    ASSIGN_OR_RETURN(const Sensitivity sensitivity, GroupMarginalsSensitivity(relation, marginals));
    return NoiseFor(shares.described, sensitivity);
  };
  absl::StatusOr<DescriptionPlan> plan = PlanDescription(input.domain, schedule.settings.group_attributes,
                                                         ExpectedGroups(input, schedule.settings), noise_of);
  if (!plan.ok()) return InvalidField(shares.described.field(), std::string(plan.status().message()));
  schedule.description = *std::move(plan);
  const DescriptionPlan& counted = *schedule.description;
  ASSIGN_OR_RETURN(const Sensitivity sensitivity, GroupMarginalsSensitivity(relation, counted.marginals()));
  schedule.draws.push_back({NoiseEvent(counted.noise, sensitivity), 1});
  std::vector<AttributeSet> sets;
  for (const uint32_t attribute : counted.attributes) sets.push_back({attribute});
  sets.insert(sets.end(), counted.pairs.begin(), counted.pairs.end());
  schedule.drawn_from.push_back(WholeMarginals(sets));
  schedule.lines.push_back(
      absl::StrCat("once: the numbers of groups by each of ", NamesOf(input.domain, counted.attributes),
                   " and ", counted.bins, " bins of the mean response, and by ", counted.pairs.size(),
                   counted.pairs.size() == 1 ? " pair" : " pairs", " of attributes, ",
                   Describe(schedule.draws.back().event), "; all records of a synthetic group share these"));
  return absl::OkStatus();
}

std::string_view DescribeWeights(const NestedSettings& settings) {
  if (settings.group == GroupWeight::kOutside) {
    return settings.records == RecordWeights::kVector
               ? "weights of groups outside of the integral, and of records by their response"
               : "weights of groups outside of the integral";
  }
  if (settings.group == GroupWeight::kInside && settings.records == RecordWeights::kVector)
    return "weights of groups and records inside the integral";
  if (settings.group == GroupWeight::kInside) return "weights of groups inside the integral";
  if (settings.records == RecordWeights::kVector) return "weights of records by their response";
  if (settings.records == RecordWeights::kScalar) return "one weight of all records";
  return "no weights";
}

// The least and the largest weight of a record, in words. INVALID_ARGUMENT where no record has any: the draw
// would cost its price and say nothing.
absl::StatusOr<std::string> DescribeRecordWeights(const NestedSettings& settings,
                                                  const LatticeGroups& lattice) {
  if (settings.records == RecordWeights::kOne) return std::string();
  const auto [least, largest] = std::ranges::minmax_element(lattice.weights);
  const auto share = [](int64_t units) {
    return static_cast<double>(units) / static_cast<double>(kWholeRecord);
  };
  if (*largest > 0) {
    return absl::StrFormat(" (%.4g for the response that can do most, %.4g for that which can do least)",
                           share(*least), share(*largest));
  }
  // The width at which the first code, or under one weight all of them, have the least weight there is.
  double needed = settings.records == RecordWeights::kScalar ? 0 : kLargestClip;
  for (uint32_t code = 0; code < lattice.weights.size(); ++code) {
    const double of_code = SpreadOfOneRecord(lattice.grid, code, share(1));
    needed =
        settings.records == RecordWeights::kScalar ? std::max(needed, of_code) : std::min(needed, of_code);
  }
  return InvalidField("settings.width",
                      absl::StrFormat("leaves no weight to any record: a draw would say nothing of the data; "
                                      "take more than %.4g, or a larger sigma_min",
                                      needed));
}

// How far apart one unit moves the logarithms of two points' densities, as the kernel finds it; and the prior
// as additions to them: a point with probability pi has ln pi after the exponent epsilon / range.
absl::Status DefineUtility(const SynthesisInput& input, NestedSchedule& schedule) {
  const NestedSettings& settings = schedule.settings;
  const bool is_flat_on_deviations = settings.scale_prior == ScalePrior::kFlatOnDeviations;
  schedule.question = QuestionFor(*input.nested, settings);
  const absl::StatusOr<LatticeUtility> lattice =
      ToLattice(schedule.question, {}, input.domain, input.unit_bound);
  if (!lattice.ok()) return InvalidField("settings.weights", std::string(lattice.status().message()));
  ASSIGN_OR_RETURN(const std::string record_weights,
                   DescribeRecordWeights(settings, std::get<LatticeGroups>(lattice->kind)));
  const double range = std::ldexp(static_cast<double>(lattice->range), -kUtilityLatticeBits);
  const double epsilon = static_cast<double>(schedule.each_draw.units()) / 1e12;
  const int64_t candidates = CandidatesOf(settings.model);
  if (is_flat_on_deviations) {
    for (size_t j = 0; j < static_cast<size_t>(candidates); ++j) {
      const NestedParameters point = ParametersAt(settings.model, j);
      const double log_prior = std::log(point.between) + (point.within > 0 ? std::log(point.within) : 0);
      schedule.bonuses.push_back(std::clamp(log_prior * range / epsilon, -kLargestBonus, kLargestBonus));
    }
  }
  schedule.model_cells = candidates;
  if (settings.group == GroupWeight::kInside) {
    schedule.lines.push_back(
        "warning: weights of groups inside the integral (options B and C) drive tau to the upper edge of its "
        "grid, whatever the budget, on every table that was measured: take weights=none");
  }
  schedule.lines.push_back(absl::StrCat(
      settings.draws, settings.draws == 1 ? " draw" : " draws", " of the model's parameters from ",
      candidates, " points, ", std::string(DescribeWeights(settings)), record_weights, ", prior flat on ",
      is_flat_on_deviations ? "deviations" : "logarithms of deviations", ", each ",
      Describe(schedule.draws.back().event), "; a unit moves log-densities apart by at most ", range,
      ", so the posterior's exponent is ", epsilon / range));
  return absl::OkStatus();
}

// The joined method's own request: the workload, with the response on its own if it is in none of its sets.
SynthesisInput JoinedInput(const SynthesisInput& input, const NestedShares& shares) {
  SynthesisInput joined = input;
  joined.nested.reset();
  joined.settings.clear();
  joined.charged.reset();  // which is the whole request's
  joined.spend = {};
  if (shares.joined.is_pure) {
    joined.spend.epsilon = Epsilon(shares.joined.units);
  } else {
    joined.spend.rho = Rho(shares.joined.units);
    joined.rule.kind = RuleKind::kZcdp;  // what it draws is charged with all else, under the dataset's rule
  }
  if (!Contains(Union(SetsOf(input.workload)), input.nested->response)) {
    const AttributeSet response = {input.nested->response};
    joined.workload.push_back(WholeMarginals(std::span(&response, 1)).front());
  }
  return joined;
}

absl::Status AddJoined(const SynthesisInput& input, const NestedShares& shares,
                       std::span<const Synthesizer* const> joinable, NestedSchedule& schedule,
                       SynthesisMemory& joined, Pacer& pacer) {
  if (schedule.settings.join == "none") {
    const AttributeSet kept = Union(schedule.settings.group_attributes, {input.nested->response});
    schedule.lines.push_back(absl::StrCat("attributes other than ", NamesOf(input.domain, kept),
                                          " are left out of the synthetic records"));
    return absl::OkStatus();
  }
  const auto method = std::ranges::find(joinable, schedule.settings.join, &Synthesizer::name);
  if (method == joinable.end()) return absl::InternalError("no method has the name that is joined");
  schedule.join = *method;
  schedule.joined = JoinedInput(input, shares);
  const absl::StatusOr<SynthesisPlan> plan = schedule.join->PlanWith(*schedule.joined, pacer);
  if (absl::IsCancelled(plan.status())) return plan.status();
  if (!plan.ok()) {
    return InvalidField("settings.join",
                        absl::StrCat(schedule.settings.join, " cannot add the other attributes: ",
                                     std::string(plan.status().message()), "; join=none leaves them out"));
  }
  schedule.draws.insert(schedule.draws.end(), plan->draws.begin(), plan->draws.end());
  schedule.drawn_from.insert(schedule.drawn_from.end(), plan->drawn_from.begin(), plan->drawn_from.end());
  schedule.model_cells = std::max(schedule.model_cells, plan->model_cells);
  joined = plan->memory;
  schedule.cpu_seconds = plan->cpu_seconds;
  schedule.lines.push_back(absl::StrCat("other attributes by ", schedule.settings.join,
                                        ", drawn given the record's response, not its group:"));
  for (const std::string& line : plan->schedule) schedule.lines.push_back(absl::StrCat("  ", line));
  return absl::OkStatus();
}

// `joined`: of the joined method. Groups of the private table are not counted.
SynthesisMemory MemoryOfNested(const SynthesisInput& input, const NestedSchedule& schedule,
                               const SynthesisMemory& joined) {
  constexpr int64_t kPerPoint = 96;  // score, bonus, gap and weight, and those of the query before
  constexpr int64_t kPerCode = 64;
  const int64_t points = CandidatesOf(schedule.settings.model);
  const bool is_binomial = std::holds_alternative<BinomialGroups>(schedule.settings.model);
  const int64_t shares = is_binomial ? 2 * 8 * static_cast<int64_t>(kEffectPoints) * points : 0;
  const int64_t codes = std::ssize(input.nested->numbers);
  int64_t stored = joined.stored + 8 * codes + 24 * schedule.settings.draws +
                   24 * std::ssize(schedule.settings.size_bins) +
                   BytesOfLines(input.domain, 4 * schedule.settings.draws + 4, 1);
  MethodMemory described;
  std::optional<int64_t> reading_description;
  if (schedule.description) {
    described = DescriptionMemory(input.domain, *schedule.description);
    stored += described.stored + BytesOfLines(input.domain, schedule.description->marginals(), 2);
    reading_description = ReadingBytesOf(described);
  }
  MethodMemory memory = NestedModelMemory(input.domain, codes, schedule.settings.draws, stored,
                                          joined.reading, reading_description);
  memory.working = memory.model + described.working + kPerPoint * points + shares + kPerCode * codes +
                   joined.fitting + SynthesisPlanningBytes(input.domain, input.workload);
  return MemoryOf(memory);
}

// Of the draws of parameters, with ten records in a group.
double SecondsOfDraws(const SynthesisInput& input, const NestedSettings& settings) {
  constexpr double kSecondsPerScore = 3e-9;    // of a group at one point of the grid
  constexpr double kSecondsPerPoint = 200e-9;  // of a draw
  constexpr double kUsualGroupSize = 10;
  const bool is_binomial = std::holds_alternative<BinomialGroups>(settings.model);
  const auto points = static_cast<double>(CandidatesOf(settings.model));
  const double scores = points * (is_binomial ? static_cast<double>(kEffectPoints) : 1);
  const double groups = DeclaredRecords(input.assume_records) / kUsualGroupSize;
  return kSecondsPerScore * scores * groups +
         kSecondsPerPoint * points * static_cast<double>(settings.draws) +
         CountingSeconds(2, DeclaredRecords(input.assume_records));
}

}  // namespace

absl::StatusOr<NestedSchedule> MakeNestedSchedule(const SynthesisInput& input, std::span<const Setting> table,
                                                  std::span<const Synthesizer* const> joinable,
                                                  Pacer& pacer) {
  RETURN_IF_ERROR(ValidateWorkload(input.domain, input.workload));
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(input.rule, input.spend));
  NestedSchedule schedule;
  ASSIGN_OR_RETURN(schedule.settings, ReadNestedSettings(input, table));
  schedule.role = input.nested->unit == NestedUnit::kGroup ? GroupRole::kUnit : GroupRole::kAroundRecord;
  ASSIGN_OR_RETURN(const NestedShares shares, SplitBudget(budget, schedule.settings));
  RETURN_IF_ERROR(BuySizes(input, shares, schedule));
  RETURN_IF_ERROR(BuyDraws(shares, schedule));
  RETURN_IF_ERROR(DefineUtility(input, schedule));
  RETURN_IF_ERROR(BuyDescription(input, shares, schedule));
  SynthesisMemory joined;
  RETURN_IF_ERROR(AddJoined(input, shares, joinable, schedule, joined, pacer));
  schedule.memory = MemoryOfNested(input, schedule, joined);
  schedule.cpu_seconds += SecondsOfDraws(input, schedule.settings);
  if (schedule.description) schedule.cpu_seconds += DescriptionSeconds(*schedule.description);
  return schedule;
}

}  // namespace curator::dp
