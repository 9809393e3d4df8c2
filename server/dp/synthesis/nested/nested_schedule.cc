#include "dp/synthesis/nested/nested_schedule.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/kernel/utility/lattice_utility.h"
#include "dp/kernel/utility/record_influence.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/sensitivity/spend.h"
#include "dp/synthesis/affordable_selection.h"
#include "dp/synthesis/settings_reader.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"

namespace curator::dp {
namespace {

// The budget's parts, in its own units (of epsilon, or of rho).
struct NestedShares {
  bool is_pure = true;
  int64_t sizes = 0;
  int64_t joined = 0;
  int64_t each_draw = 0;

  std::string_view field() const { return is_pure ? "spend.epsilon" : "spend.rho"; }
};

absl::StatusOr<NestedShares> SplitBudget(const Budget& budget, const NestedSettings& settings) {
  const auto* pure = std::get_if<PureBudget>(&budget);
  const int64_t units = pure != nullptr ? pure->epsilon.units() : std::get<ZcdpBudget>(budget).rho.units();
  NestedShares shares{.is_pure = pure != nullptr, .sizes = Percent(units, settings.size_percent)};
  if (settings.join != "none") shares.joined = Percent(units, settings.join_percent);
  shares.each_draw = (units - shares.sizes - shares.joined) / settings.draws;
  const bool has_all =
      shares.sizes > 0 && shares.each_draw > 0 && (settings.join == "none" || shares.joined > 0);
  if (has_all) return shares;
  return InvalidField(shares.field(),
                      absl::StrCat("leaves nothing for some of sizes (size_percent), ", settings.draws,
                                   " draws and the joined method (join_percent)"));
}

absl::Status BuySizes(const SynthesisInput& input, const NestedShares& shares, NestedSchedule& schedule) {
  const Sensitivity sensitivity =
      GroupSizesSensitivity(input.unit_bound.relation, schedule.role, schedule.settings.size_bins.size());
  const absl::StatusOr<NoiseSpec> noise = shares.is_pure ? LaplaceNoiseFor(sensitivity, Epsilon(shares.sizes))
                                                         : GaussianNoiseFor(sensitivity, Rho(shares.sizes));
  if (!noise.ok()) return InvalidField(shares.field(), std::string(noise.status().message()));
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
  schedule.each_draw = Epsilon(shares.each_draw);
  if (!shares.is_pure) {
    ASSIGN_OR_RETURN(const std::optional<Epsilon> affordable, AffordableSelection(Rho(shares.each_draw)));
    if (!affordable) return InvalidField("spend.rho", "does not pay for a draw of parameters");
    schedule.each_draw = *affordable;
  }
  schedule.draws.push_back({Event{ExponentialMechanismEvent{schedule.each_draw}}, schedule.settings.draws});
  return absl::OkStatus();
}

std::string_view WeightsInWords(const NestedSettings& settings) {
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
absl::StatusOr<std::string> RecordWeightsInWords(const NestedSettings& settings,
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
absl::Status AskForParameters(const SynthesisInput& input, NestedSchedule& schedule) {
  const NestedSettings& settings = schedule.settings;
  schedule.question = QuestionFor(*input.nested, settings);
  const absl::StatusOr<LatticeUtility> lattice =
      ToLattice(schedule.question, {}, input.domain, input.unit_bound);
  if (!lattice.ok()) return InvalidField("settings.weights", std::string(lattice.status().message()));
  ASSIGN_OR_RETURN(const std::string record_weights,
                   RecordWeightsInWords(settings, std::get<LatticeGroups>(lattice->kind)));
  const double range = std::ldexp(static_cast<double>(lattice->range), -kUtilityLatticeBits);
  const double epsilon = static_cast<double>(schedule.each_draw.units()) / 1e12;
  const int64_t candidates = CandidatesOf(settings.model);
  if (settings.is_flat_on_deviations) {
    for (size_t j = 0; j < static_cast<size_t>(candidates); ++j) {
      const NestedParameters point = ParametersAt(settings.model, j);
      const double log_prior = std::log(point.between) + (point.within > 0 ? std::log(point.within) : 0);
      schedule.bonuses.push_back(std::clamp(log_prior * range / epsilon, -kLargestBonus, kLargestBonus));
    }
  }
  schedule.model_cells = candidates;
  schedule.lines.push_back(absl::StrCat(
      settings.draws, settings.draws == 1 ? " draw" : " draws", " of the model's parameters from ",
      candidates, " points, ", std::string(WeightsInWords(settings)), record_weights, ", prior flat on ",
      settings.is_flat_on_deviations ? "deviations" : "logarithms of deviations", ", each ",
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
  if (shares.is_pure) {
    joined.spend.epsilon = Epsilon(shares.joined);
  } else {
    joined.spend.rho = Rho(shares.joined);
    joined.rule.kind = RuleKind::kZcdp;  // what it draws is charged with all else, under the dataset's rule
  }
  const AttributeSet covered = UnionOf(SetsOf(input.workload));
  if (!std::ranges::binary_search(covered, input.nested->response)) {
    const AttributeSet response = {input.nested->response};
    joined.workload.push_back(WholeMarginals(std::span(&response, 1)).front());
  }
  return joined;
}

absl::Status AddJoined(const SynthesisInput& input, const NestedShares& shares, NestedSchedule& schedule) {
  if (schedule.settings.join == "none") {
    schedule.lines.push_back(absl::StrCat("attributes other than ",
                                          input.domain.attributes()[input.nested->response].name(),
                                          " are left out of the synthetic records"));
    return absl::OkStatus();
  }
  schedule.join = FindSynthesizer(schedule.settings.join);
  schedule.joined = JoinedInput(input, shares);
  const absl::StatusOr<SynthesisPlan> plan = schedule.join->Plan(*schedule.joined);
  if (!plan.ok()) {
    return InvalidField("settings.join",
                        absl::StrCat(schedule.settings.join, " cannot add the other attributes: ",
                                     std::string(plan.status().message()), "; join=none leaves them out"));
  }
  schedule.draws.insert(schedule.draws.end(), plan->draws.begin(), plan->draws.end());
  schedule.model_cells = std::max(schedule.model_cells, plan->model_cells);
  schedule.lines.push_back(absl::StrCat("other attributes by ", schedule.settings.join,
                                        ", drawn given the record's response, not its group:"));
  for (const std::string& line : plan->schedule) schedule.lines.push_back(absl::StrCat("  ", line));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NestedSchedule> MakeNestedSchedule(const SynthesisInput& input) {
  RETURN_IF_ERROR(ValidateWorkload(input.domain, input.workload));
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(input.rule, input.spend));
  NestedSchedule schedule;
  ASSIGN_OR_RETURN(schedule.settings, ReadNestedSettings(input));
  schedule.role = input.nested->unit == NestedUnit::kGroup ? GroupRole::kUnit : GroupRole::kAroundRecord;
  ASSIGN_OR_RETURN(const NestedShares shares, SplitBudget(budget, schedule.settings));
  RETURN_IF_ERROR(BuySizes(input, shares, schedule));
  RETURN_IF_ERROR(BuyDraws(shares, schedule));
  RETURN_IF_ERROR(AskForParameters(input, schedule));
  RETURN_IF_ERROR(AddJoined(input, shares, schedule));
  return schedule;
}

}  // namespace curator::dp
