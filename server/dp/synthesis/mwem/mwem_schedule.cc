#include "dp/synthesis/mwem/mwem_schedule.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/synthesis/dense/product_model.h"
#include "dp/synthesis/settings_reader.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/workload/marginals.h"
#include "dp/workload/sensitivity.h"

namespace curator::dp {
namespace {

constexpr int64_t kRecordShare = 20;  // one part in so many buys the number of records
constexpr int64_t kMostRounds = 1000;
constexpr int64_t kGuessedRecords = 10'000;

// The budget in its own units, split.
struct Split {
  int64_t records = 0;
  int64_t selection = 0;  // of one round; 0 when nothing is selected
  int64_t measurement = 0;
};

absl::StatusOr<Split> SplitBudget(int64_t units, const MwemSettings& settings, bool selects,
                                  std::string_view field) {
  Split split;
  split.records = std::max<int64_t>(1, units / kRecordShare);
  const int64_t round = (units - split.records) / settings.rounds;
  if (selects)
    split.selection =
        round / 100 * settings.selection_percent + round % 100 * settings.selection_percent / 100;
  split.measurement = round - split.selection;
  if (split.measurement < 1 || (selects && split.selection < 1)) {
    return InvalidField(field, absl::StrCat("is too small to be split over ", settings.rounds, " rounds"));
  }
  return split;
}

// The largest epsilon of an exponential mechanism that costs at most `rho`; none when even the smallest costs
// more.
absl::StatusOr<std::optional<Epsilon>> SelectionFor(Rho rho) {
  RuleSpec zcdp;
  zcdp.kind = RuleKind::kZcdp;
  zcdp.epsilon = Epsilon(kEpsilonUnitsPerOne);
  zcdp.delta = Delta(kDeltaUnitsPerOne / 1'000'000);
  const auto fits = [&](int64_t units) -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(const std::vector<CounterAmount> cost,
                     CostOf(zcdp, {ExponentialMechanismEvent{Epsilon(units)}}));
    return cost[0].amount <= rho.units();
  };
  // The cost is at most epsilon^2 / 8, so the search starts there; it ends a 2^-24 part below the true value.
  auto low = static_cast<int64_t>(std::sqrt(8.0 * static_cast<double>(rho.units()) * 1e12) * (1 - 1e-9));
  ASSIGN_OR_RETURN(const bool starts_below, fits(low));
  if (!starts_below) low = 0;
  int64_t high = 2 * low + 2;
  while (true) {
    ASSIGN_OR_RETURN(const bool affordable, fits(high));
    if (!affordable) break;
    low = high;
    high *= 2;
  }
  while (high - low > std::max<int64_t>(1, low >> 24)) {
    const int64_t middle = low + (high - low) / 2;
    ASSIGN_OR_RETURN(const bool affordable, fits(middle));
    (affordable ? low : high) = middle;
  }
  if (low == 0) return std::optional<Epsilon>();
  return std::optional<Epsilon>(Epsilon(low));
}

absl::StatusOr<MwemSettings> ReadSettings(const SynthesisInput& input, const Budget& budget,
                                          size_t attributes, SettingsReader& reader) {
  const auto marginals = static_cast<int64_t>(input.workload.size());
  const int64_t most_rounds = std::min(marginals, kMostRounds);
  const int64_t records = std::max<int64_t>(1, input.assume_records.value_or(kGuessedRecords));
  const int64_t rounds =
      std::min(most_rounds, DefaultRounds(budget, attributes, input.workload.size(), records));
  MwemSettings settings;
  ASSIGN_OR_RETURN(settings.rounds, reader.Integer("rounds", rounds, 1, most_rounds));
  ASSIGN_OR_RETURN(settings.selection_percent,
                   reader.Integer("selection_percent", settings.selection_percent, 1, 99));
  ASSIGN_OR_RETURN(settings.sweeps, reader.Integer("sweeps", settings.sweeps, 1, 1000));
  ASSIGN_OR_RETURN(settings.slack,
                   reader.Real("slack", static_cast<double>(settings.rounds) / 100, 0.001, 1000));
  ASSIGN_OR_RETURN(const std::string iterate, reader.Choice("iterate", {"last", "average"}));
  settings.iterate = iterate == "average" ? MwemIterate::kAverage : MwemIterate::kLast;
  return settings;
}

// Fills in noises and selection. `one_marginal` and `records` are sensitivities.
absl::Status BuyNoise(const Budget& budget, bool selects, const Sensitivity& one_marginal,
                      const Sensitivity& records, MwemSchedule& schedule) {
  if (const auto* pure = std::get_if<PureBudget>(&budget)) {
    ASSIGN_OR_RETURN(const Split split,
                     SplitBudget(pure->epsilon.units(), schedule.settings, selects, "spend.epsilon"));
    ASSIGN_OR_RETURN(schedule.record_noise, LaplaceNoiseFor(records, Epsilon(split.records)));
    ASSIGN_OR_RETURN(schedule.marginal_noise, LaplaceNoiseFor(one_marginal, Epsilon(split.measurement)));
    if (selects) schedule.selection = Epsilon(split.selection);
    return absl::OkStatus();
  }
  const Rho rho = std::get<ZcdpBudget>(budget).rho;
  ASSIGN_OR_RETURN(const Split split, SplitBudget(rho.units(), schedule.settings, selects, "spend.rho"));
  ASSIGN_OR_RETURN(schedule.record_noise, GaussianNoiseFor(records, Rho(split.records)));
  ASSIGN_OR_RETURN(schedule.marginal_noise, GaussianNoiseFor(one_marginal, Rho(split.measurement)));
  if (!selects) return absl::OkStatus();
  ASSIGN_OR_RETURN(schedule.selection, SelectionFor(Rho(split.selection)));
  if (!schedule.selection)
    return InvalidField("spend.rho", "is too small to pay for a selection in each round");
  return absl::OkStatus();
}

// All draws are linear in the records that change: noise on marginals and on their number, and a selection
// whose score is bounded by an L1 sensitivity, which halves for a unit that only enters or leaves.
absl::StatusOr<LinearDraws> LinearDrawsOf(const MwemSchedule& schedule, const UnitBound& unit) {
  const UnitBound leaving{.relation = NeighbourRelation::kAddRemove, .max_records = unit.max_records};
  ASSIGN_OR_RETURN(const Sensitivity one_marginal, MarginalsSensitivity(leaving, 1));
  ASSIGN_OR_RETURN(const Sensitivity records, RecordCountSensitivity(leaving));
  const int64_t sides = unit.relation == NeighbourRelation::kReplaceOne ? 2 : 1;
  LinearDraws linear{.draws = schedule.draws, .removals = {}};
  linear.removals.push_back({NoiseEvent(schedule.record_noise, records), 1});
  if (schedule.selection) {
    const Epsilon range((schedule.selection->units() + sides - 1) / sides);
    linear.removals.push_back({{ExponentialMechanismEvent{range}}, schedule.settings.rounds});
  }
  linear.removals.push_back({NoiseEvent(schedule.marginal_noise, one_marginal), schedule.settings.rounds});
  return linear;
}

}  // namespace

int64_t DefaultRounds(const Budget& budget, size_t attributes, size_t marginals, int64_t records) {
  // Found by experiment on tables of 5,000 to 50,000 records; only square roots, so that every machine finds
  // the same.
  double rounds = 1.5 * static_cast<double>(attributes);
  if (const auto* pure = std::get_if<PureBudget>(&budget)) {
    const double signal =
        static_cast<double>(records) * static_cast<double>(pure->epsilon.units()) / 1e12 / 2000;
    rounds *= std::sqrt(std::sqrt(signal));
  } else {
    const double rho = static_cast<double>(std::get<ZcdpBudget>(budget).rho.units()) / 1e12;
    const double fourth_root = std::sqrt(std::sqrt(static_cast<double>(records) * std::sqrt(2 * rho) / 200));
    rounds *= fourth_root * std::sqrt(fourth_root);
  }
  const auto all = static_cast<double>(marginals);
  if (rounds > 0.7 * all) return static_cast<int64_t>(marginals);
  return std::max<int64_t>(1, static_cast<int64_t>(rounds));
}

absl::StatusOr<MwemSchedule> MakeMwemSchedule(const SynthesisInput& input) {
  RETURN_IF_ERROR(ValidateWorkload(input.domain, input.workload));
  if (!AreWholeMarginals(input.workload))
    return InvalidField("workload", "lists single queries; this method takes whole marginals");
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(input.rule, input.spend));
  const AttributeSet attributes = UnionOf(SetsOf(input.workload));
  SettingsReader reader(input.settings);
  ASSIGN_OR_RETURN(const MwemSettings settings, ReadSettings(input, budget, attributes.size(), reader));
  ASSIGN_OR_RETURN(const int64_t max_cells, reader.Integer("max_cells", kMostDenseCells, 1, kMostDenseCells));
  RETURN_IF_ERROR(reader.Finish());
  ASSIGN_OR_RETURN(DenseLayout layout, DenseLayout::Create(input.domain, attributes, max_cells));
  ASSIGN_OR_RETURN(const Sensitivity one_marginal, MarginalsSensitivity(input.unit_bound, 1));
  ASSIGN_OR_RETURN(const Sensitivity records, RecordCountSensitivity(input.unit_bound));

  MwemSchedule schedule{.settings = settings,
                        .used_settings = reader.used(),
                        .record_noise = {},
                        .marginal_noise = {},
                        .selection = std::nullopt,
                        .draws = {},
                        .layout = std::move(layout)};
  const bool selects = settings.rounds < static_cast<int64_t>(input.workload.size());
  RETURN_IF_ERROR(BuyNoise(budget, selects, one_marginal, records, schedule));
  schedule.draws.push_back({NoiseEvent(schedule.record_noise, records), 1});
  if (selects) schedule.draws.push_back({{ExponentialMechanismEvent{*schedule.selection}}, settings.rounds});
  schedule.draws.push_back({NoiseEvent(schedule.marginal_noise, one_marginal), settings.rounds});
  ASSIGN_OR_RETURN(schedule.linear, LinearDrawsOf(schedule, input.unit_bound));
  return schedule;
}

const std::vector<Setting>& MwemSettingsForPeople() {
  static const auto* const settings = new std::vector<Setting>{
      {"rounds",
       "how many marginals are measured; all of the workload, without selection, when equal to its size",
       "chosen from the budget, the workload and the assumed number of records"},
      {"selection_percent", "the share of a round's budget that chooses which marginal to measure, 1 to 99",
       "30"},
      {"iterate", "last: the final weights; average: of the weights after every round", "last"},
      {"sweeps", "how often all measurements are replayed in a round at most", "10"},
      {"slack", "how far answers may be missed in favour of uniformity, in units of their noise",
       "a hundredth of the rounds"},
      {"max_cells", "the largest domain that is held in memory, 4 bytes a cell",
       absl::StrCat(kMostDenseCells)}};
  return *settings;
}

std::vector<std::string> DescribeSchedule(const MwemSchedule& schedule) {
  std::vector<std::string> lines;
  lines.push_back(absl::StrCat("once: the number of records, ", Describe(schedule.draws.front().event)));
  for (size_t i = 1; i < schedule.draws.size(); ++i) {
    const bool selection = std::holds_alternative<ExponentialMechanismEvent>(schedule.draws[i].event.what);
    lines.push_back(absl::StrCat(
        schedule.draws[i].count, " times: ",
        selection ? "choose the marginal that is approximated worst, " : "the counts of one marginal, ",
        Describe(schedule.draws[i].event)));
  }
  return lines;
}

}  // namespace curator::dp
