#include "dp/synthesis/dpsyn/view_schedule.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/certification.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/dpsyn/consistency.h"
#include "dp/synthesis/dpsyn/covering_design.h"
#include "dp/synthesis/dpsyn/view_rules.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

constexpr int64_t kViewRecordParts = 50;  // see RecordCountUnits()
constexpr int64_t kRecordsGuessedByVersion1 = 10'000;
constexpr int64_t kMostMeasuredCells = int64_t{1} << 25;
// To choose views for 512 attributes of two values takes half of them, and less than a second.
constexpr int64_t kMostDesignSteps = int64_t{1} << 28;
constexpr int64_t kUnlimitedSteps = int64_t{1} << 60;  // of a request that was started

absl::StatusOr<NoiseSpec> ViewNoiseFor(const BudgetShare& share, const Sensitivity& sensitivity) {
  if (share.units < 1) return share.TooSmallFor("all views");
  return NoiseFor(share, sensitivity);
}

// The views that will be measured, before any price.
struct ViewPlan {
  std::vector<AttributeSet> singles;
  std::vector<AttributeSet> views;
  std::vector<AttributeSet> candidates;  // of selections
};

// The units of the budget, split.
struct ViewSplit {
  int64_t records = 0;
  int64_t singles = 0;
  int64_t views = 0;
};

ViewSplit SplitBudget(int64_t units, const ViewPlan& plan, const ViewSettings& settings) {
  ViewSplit shares{.records = RecordCountUnits(units, kViewRecordParts)};
  const int64_t rest = units - shares.records;
  const bool others = !plan.views.empty() || !plan.candidates.empty();
  if (!plan.singles.empty()) shares.singles = others ? PercentOf(rest, settings.single_percent) : rest;
  shares.views = rest - shares.singles;
  return shares;
}

// Views of the same share of the budget, together.
std::map<double, std::vector<AttributeSet>> ByShare(const Domain& domain,
                                                    const std::vector<AttributeSet>& views, BudgetSplit split,
                                                    bool pure) {
  std::vector<int64_t> cells;
  for (const AttributeSet& view : views) cells.push_back(CellsOf(domain, view));
  const std::vector<double> shares = BudgetShares(cells, split, pure);
  std::map<double, std::vector<AttributeSet>> groups;
  for (size_t i = 0; i < views.size(); ++i) groups[shares[i]].push_back(views[i]);
  return groups;
}

absl::Status BuyGroups(const SynthesisInput& input, const ViewPlan& plan, const ViewSettings& settings,
                       const BudgetShare& whole, ViewSchedule& schedule) {
  const ViewSplit shares = SplitBudget(whole.units, plan, settings);
  ASSIGN_OR_RETURN(const Sensitivity records, RecordCountSensitivity(input.unit_bound));
  ASSIGN_OR_RETURN(schedule.record_noise, ViewNoiseFor(whole.Of(shares.records), records));
  schedule.groups.clear();
  const auto buy = [&](const std::vector<AttributeSet>& views, int64_t units) -> absl::Status {
    ASSIGN_OR_RETURN(const Sensitivity sensitivity,
                     MarginalsSensitivity(input.unit_bound, static_cast<int64_t>(views.size())));
    ASSIGN_OR_RETURN(const NoiseSpec noise, ViewNoiseFor(whole.Of(units), sensitivity));
    schedule.groups.push_back({.views = views, .noise = noise});
    return absl::OkStatus();
  };
  if (!plan.singles.empty()) RETURN_IF_ERROR(buy(plan.singles, shares.singles));
  if (!plan.views.empty()) {
    for (const auto& [share, views] : ByShare(input.domain, plan.views, settings.split, whole.is_pure)) {
      const double part = share * static_cast<double>(views.size()) * (1 - 1e-9);
      RETURN_IF_ERROR(buy(views, static_cast<int64_t>(static_cast<double>(shares.views) * part)));
    }
  }
  if (plan.candidates.empty()) return absl::OkStatus();
  const int64_t round = shares.views / settings.selections;
  const int64_t selecting = PercentOf(round, settings.selection_percent);
  ASSIGN_OR_RETURN(const Sensitivity one, MarginalsSensitivity(input.unit_bound, 1));
  ASSIGN_OR_RETURN(const NoiseSpec noise, ViewNoiseFor(whole.Of(round - selecting), one));
  ASSIGN_OR_RETURN(const Epsilon selection, SelectionEpsilonFor(whole.Of(selecting), "every selection"));
  schedule.selected = SelectedViews{
      .candidates = plan.candidates, .rounds = settings.selections, .selection = selection, .noise = noise};
  return absl::OkStatus();
}

// The draws under the dataset's relation and unit, or under another.
absl::StatusOr<std::vector<CountedEvent>> DrawsUnder(const UnitBound& unit, const Epsilon& selection_range,
                                                     const ViewSchedule& schedule) {
  std::vector<CountedEvent> draws;
  ASSIGN_OR_RETURN(const Sensitivity records, RecordCountSensitivity(unit));
  draws.push_back({NoiseEvent(schedule.record_noise, records), 1});
  for (const ViewGroup& group : schedule.groups) {
    ASSIGN_OR_RETURN(const Sensitivity sensitivity,
                     MarginalsSensitivity(unit, static_cast<int64_t>(group.views.size())));
    draws.push_back({NoiseEvent(group.noise, sensitivity), 1});
  }
  if (!schedule.selected) return draws;
  ASSIGN_OR_RETURN(const Sensitivity one, MarginalsSensitivity(unit, 1));
  draws.push_back({{ExponentialMechanismEvent{selection_range}}, schedule.selected->rounds});
  draws.push_back({NoiseEvent(schedule.selected->noise, one), schedule.selected->rounds});
  return draws;
}

// All draws are linear in the records that change: noise on marginals and on their number, and a selection
// whose score is bounded by an L1 sensitivity, which halves for a unit that only enters or leaves.
absl::Status FillInDraws(const UnitBound& unit, ViewSchedule& schedule) {
  const Epsilon range = schedule.selected ? schedule.selected->selection : Epsilon(0);
  const int64_t sides = unit.relation == NeighbourRelation::kReplaceOne ? 2 : 1;
  ASSIGN_OR_RETURN(schedule.draws, DrawsUnder(unit, range, schedule));
  ASSIGN_OR_RETURN(schedule.linear.removals,
                   DrawsUnder(UnderAddRemove(unit), Epsilon((range.units() + sides - 1) / sides), schedule));
  schedule.linear.draws = schedule.draws;
  return absl::OkStatus();
}

// Whether the promise pays for `draws`: by the certificate that was charged before; of a new request, by any.
bool IsBought(const std::vector<CountedEvent>& draws, const ApproximateEvent& promise,
              const std::optional<Event>& charged) {
  if (charged) return CertifiedBefore(*charged, draws, promise.epsilon, promise.delta).has_value();
  return CheapestCertified(draws, promise.epsilon, promise.delta).ok();
}

// Under a promise, noise that composes to it numerically; a schedule of one Gaussian of the same cost in all
// shows how much could be gained at most.
absl::Status BuyNoise(const SynthesisInput& input, const Budget& budget, const ViewPlan& plan,
                      const ViewSettings& settings, ViewSchedule& schedule) {
  BudgetShare whole = WholeOf(budget);
  const auto* zcdp = std::get_if<ZcdpBudget>(&budget);
  if (zcdp != nullptr && zcdp->promise) {
    const ApproximateEvent& promise = *zcdp->promise;
    const int64_t most = LargestGaussianRho(promise.epsilon, promise.delta).units();
    for (const int halvings : {26, 16, 12, 9, 7, 5, 4}) {
      whole.units = most - (most >> halvings);
      if (whole.units <= zcdp->rho.units()) break;
      RETURN_IF_ERROR(BuyGroups(input, plan, settings, whole, schedule));
      RETURN_IF_ERROR(FillInDraws(input.unit_bound, schedule));
      if (IsBought(schedule.draws, promise, input.charged)) return absl::OkStatus();
    }
    whole.units = zcdp->rho.units();
  }
  RETURN_IF_ERROR(BuyGroups(input, plan, settings, whole, schedule));
  return FillInDraws(input.unit_bound, schedule);
}

// For `percent` of what the number of records leaves.
ViewBudget BudgetOfViews(const Budget& budget, int64_t percent, const Sensitivity& one) {
  const BudgetShare whole = WholeOf(budget);
  const double share = 0.98 * static_cast<double>(percent) / 100;
  return {.pure = whole.is_pure,
          .amount = share * static_cast<double>(whole.units) / 1e12,
          .l1_sensitivity = static_cast<double>(one.l1),
          .squared_l2_sensitivity = static_cast<double>(one.l2_squared)};
}

// The attributes of the workload that lie in no view, as sets of one.
std::vector<AttributeSet> Alone(const AttributeSet& attributes, const std::vector<AttributeSet>& views) {
  std::vector<AttributeSet> alone;
  for (const uint32_t attribute : Difference(attributes, Union(views))) alone.push_back({attribute});
  return alone;
}

// The cells that will be measured. Errors: when a view, or all of them, have too many; when there are more
// candidates than the kernel takes.
absl::StatusOr<int64_t> MeasuredCells(const SynthesisInput& input, const ViewPlan& plan, int64_t selections) {
  if (!plan.candidates.empty()) {
    const absl::Status valid = ValidateMarginals(input.domain, plan.candidates);
    if (!valid.ok())
      return InvalidField("settings.views", absl::StrCat("selects among ", plan.candidates.size(),
                                                         " pairs, which is a set of marginals that ",
                                                         std::string(valid.message())));
  }
  std::vector<int64_t> choices;
  for (const AttributeSet& pair : plan.candidates) choices.push_back(CellsOf(input.domain, pair));
  std::ranges::sort(choices, std::greater<>());
  choices.resize(std::min(choices.size(), static_cast<size_t>(selections)));
  int64_t cells = std::accumulate(choices.begin(), choices.end(), int64_t{0});
  for (const auto* sets : {&plan.singles, &plan.views}) {
    for (const AttributeSet& set : *sets) {
      const int64_t each = CellsOf(input.domain, set);
      if (each > kMostViewCells) {
        return InvalidField("workload",
                            absl::StrCat("has the attribute ", NamesOf(input.domain, set), " with ", each,
                                         " values; a view has at most ", kMostViewCells));
      }
      cells += each;
    }
  }
  if (cells <= kMostMeasuredCells) return cells;
  return InvalidField("settings.max_view_cells",
                      absl::StrCat("makes views of ", cells, " cells in all; at most ", kMostMeasuredCells,
                                   " can be measured"));
}

// The limits of SharedSets(), whose errors would otherwise come after the charge. Selected pairs share single
// attributes at most.
absl::Status CheckOverlaps(const ViewSchedule& schedule, Pacer& pacer) {
  std::vector<AttributeSet> sets = {AttributeSet{}};
  for (const ViewGroup& group : schedule.groups)
    sets.insert(sets.end(), group.views.begin(), group.views.end());
  if (!schedule.selected) return SharedSets(sets, pacer).status();
  const size_t views = sets.size() + static_cast<size_t>(schedule.selected->rounds);
  const size_t shared = schedule.attributes.size() + 1;
  if (views / 2 + shared <= kMostIntersections / views && shared <= kMostSharedSets) return absl::OkStatus();
  return InvalidField("settings.selections", absl::StrCat("makes ", views, " views of ", shared - 1,
                                                          " attributes, which are too many to be compared"));
}

std::string ShortList(const Domain& domain, const std::vector<AttributeSet>& sets) {
  std::string list;
  for (size_t i = 0; i < sets.size() && i < 3; ++i)
    absl::StrAppend(&list, i == 0 ? "" : "; ", NamesOf(domain, sets[i]));
  if (sets.size() > 3) absl::StrAppend(&list, "; and ", sets.size() - 3, " more");
  return list;
}

void DescribeDraws(ViewSchedule& schedule) {
  size_t next = 0;
  schedule.lines.push_back(
      absl::StrCat("once: the number of records, ", Describe(schedule.draws[next++].event)));
  for (const ViewGroup& group : schedule.groups) {
    const bool singles = group.views.front().size() == 1;
    schedule.lines.push_back(absl::StrCat("once: the counts of ", group.views.size(),
                                          singles ? " attributes, " : " views, ",
                                          Describe(schedule.draws[next++].event)));
  }
  if (!schedule.selected) return;
  for (const char* const what : {"the pair that independence misses most, ", "the counts of that pair, "}) {
    schedule.lines.push_back(absl::StrCat(schedule.draws[next].count, " times: ", std::string(what),
                                          Describe(schedule.draws[next].event)));
    ++next;
  }
}

// Describes the choice of views.
void DescribeDesign(const Domain& domain, const ViewChoice& choice, const AttributeSet& attributes,
                    const std::vector<AttributeSet>& alone, ViewSchedule& schedule) {
  size_t widest = 0;
  for (const AttributeSet& view : choice.views) widest = std::max(widest, view.size());
  std::string line =
      absl::StrCat("views: ", choice.views.size(), " of up to ", widest, " attributes and ", choice.cells,
                   " cells, which hold every ", choice.strength == 2 ? "pair" : "triple", " of the workload");
  if (std::ranges::all_of(choice.views, [&](const AttributeSet& view) { return view.size() <= widest; }) &&
      widest > static_cast<size_t>(choice.strength)) {
    absl::StrAppend(&line, " (at least ",
                    SchonheimBound(static_cast<int64_t>(attributes.size()), static_cast<int64_t>(widest),
                                   choice.strength),
                    " of this width are needed for all of ", attributes.size(), " attributes)");
  }
  schedule.lines.push_back(std::move(line));
  schedule.lines.push_back(
      absl::StrCat("forecast: the expected sum of squared errors of a marginal of the "
                   "workload is ",
                   choice.squared_error, " records^2"));
  for (const std::string& each : choice.considered)
    schedule.lines.push_back(absl::StrCat("considered: ", each));
  if (!choice.uncovered.empty())
    schedule.lines.push_back(absl::StrCat("too large for any view, so taken as independent given the rest: ",
                                          ShortList(domain, choice.uncovered)));
  if (!alone.empty())
    schedule.lines.push_back(
        absl::StrCat("in no view, so taken as independent of all others: ", ShortList(domain, alone)));
}

// The pairs of the workload that a view can hold.
absl::StatusOr<std::vector<AttributeSet>> SmallPairs(const ViewQuestion& question, Pacer& pacer) {
  ASSIGN_OR_RETURN(std::vector<AttributeSet> pairs,
                   SubsetsWithin(question.workload, 2, pacer, question.last_step));
  std::erase_if(pairs, [&](const AttributeSet& pair) {
    return CellsOf(question.domain, pair) > question.max_view_cells;
  });
  return pairs;
}

// What the settings say, and the views that follow.
struct Measured {
  ViewSettings settings;
  ViewPlan plan;
  ViewChoice choice;
};

// Reads the settings, and makes the choices that they leave open.
class Choosing {
 public:
  Choosing(const SynthesisInput& input, const Budget& budget, SettingsReader& reader, Pacer& pacer)
      : input_(input), budget_(budget), reader_(reader), pacer_(pacer) {}

  absl::StatusOr<Measured> Choose(const Sensitivity& one) {
    RETURN_IF_ERROR(AskQuestion(one));
    SetNoDesign();
    if (measured_.settings.views == "design") {
      ASSIGN_OR_RETURN(measured_.choice, ChooseViews(question_, pacer_));
      measured_.plan.views = measured_.choice.views;
      ASSIGN_OR_RETURN(const bool is_noisy, IsNoisy());
      if (is_noisy) RETURN_IF_ERROR(SelectInstead(one));
    } else if (measured_.settings.views == "selected") {
      ASSIGN_OR_RETURN(measured_.plan.candidates, SmallPairs(question_, pacer_));
      if (!input_.is_of_version_1) RETURN_IF_ERROR(Read(DefaultsOfSelections("selected", one)));
    } else if (measured_.settings.views != "singles") {
      ASSIGN_OR_RETURN(measured_.plan.views,
                       ReadViews(input_.domain, measured_.settings.views, question_.max_view_cells));
    }
    if (measured_.settings.views == "selected") RETURN_IF_ERROR(CheckSelections());
    ViewChoice& choice = measured_.choice;
    ASSIGN_OR_RETURN(choice.cells, reader_.Integer("cells", choice.cells));
    ASSIGN_OR_RETURN(choice.strength, reader_.Integer("strength", choice.strength));
    return std::move(measured_);
  }

 private:
  absl::Status AskQuestion(const Sensitivity& one) {
    question_.workload = SetsOf(input_.workload);
    question_.last_step = pacer_.steps() + (input_.is_started ? kUnlimitedSteps : kMostDesignSteps);
    const int64_t guess = input_.is_of_version_1 ? kRecordsGuessedByVersion1 : kViewGuessedRecords;
    question_.records = static_cast<double>(std::max<int64_t>(1, input_.assume_records.value_or(guess)));
    ASSIGN_OR_RETURN(const std::vector<AttributeSet> some_pairs,
                     SubsetsWithin(question_.workload, 2, pacer_, question_.last_step, kMostViews));
    some_pairs_ = some_pairs.size();
    RETURN_IF_ERROR(Read(input_.is_of_version_1 ? DefaultsOfVersion1() : ViewDefaults()));
    question_.budget = BudgetOfViews(budget_, 100 - measured_.settings.single_percent, one);
    question_.split = measured_.settings.split;
    question_.max_view_cells = measured_.settings.max_view_cells;
    if (input_.settings.contains("cells")) {
      ASSIGN_OR_RETURN(question_.cells, reader_.Integer("cells", 1));
    }
    if (input_.settings.contains("strength")) {
      ASSIGN_OR_RETURN(question_.strength, reader_.Integer("strength", 2));
    }
    return absl::OkStatus();
  }

  absl::Status CheckSelections() const {
    const auto candidates = std::ssize(measured_.plan.candidates);
    if (candidates > 0 && candidates >= measured_.settings.selections) return absl::OkStatus();
    return InvalidField("settings.selections",
                        absl::StrCat("must be at most ", candidates, ", the pairs there are to select from"));
  }

  absl::Status Read(const ViewDefaults& defaults) {
    ASSIGN_OR_RETURN(measured_.settings,
                     ReadViewSettings(input_.domain, question_.workload, some_pairs_, defaults, reader_));
    return absl::OkStatus();
  }

  void SetNoDesign() {
    measured_.plan.views.clear();
    measured_.choice = {.cells = question_.cells.value_or(1), .strength = question_.strength.value_or(2)};
  }

  // Whether the request leaves the choice of views open, and the design's views would be mostly noise.
  absl::StatusOr<bool> IsNoisy() {
    if (input_.is_of_version_1) return false;
    const auto is_given = [&](const char* key) { return input_.settings.contains(key); };
    if (is_given("views") || is_given("cells") || is_given("strength") || is_given("split")) return false;
    if (measured_.settings.estimation.estimator != Estimator::kShrunk) return false;
    ASSIGN_OR_RETURN(measured_.plan.candidates, SmallPairs(question_, pacer_));
    const std::vector<AttributeSet> candidates = std::exchange(measured_.plan.candidates, {});
    ASSIGN_OR_RETURN(const double noise, PairNoise(question_, candidates, measured_.choice.views, pacer_));
    if (noise <= MostPairNoise(Union(question_.workload).size()) ||
        !ValidateMarginals(input_.domain, candidates).ok())
      return false;
    measured_.plan.candidates = candidates;
    return true;
  }

  absl::Status SelectInstead(const Sensitivity& one) {
    SetNoDesign();
    RETURN_IF_ERROR(Read(DefaultsOfSelections("", one)));
    if (measured_.settings.views == "singles") measured_.plan.candidates.clear();
    return absl::OkStatus();
  }

  ViewDefaults DefaultsOfVersion1() const {
    return {.selections = 2 * std::ssize(Union(question_.workload))};
  }

  // Without `views`: the selected ones, or single attributes alone where no pair should be selected.
  ViewDefaults DefaultsOfSelections(std::string views, const Sensitivity& one) const {
    const SelectionRule rule = RuleOfSelections(input_.domain, Union(question_.workload),
                                                measured_.plan.candidates, BudgetOfViews(budget_, 100, one),
                                                question_.records, measured_.settings.selection_percent);
    if (views.empty()) views = rule.selections > 0 ? "selected" : "singles";
    return {.views = std::move(views),
            .selections = std::max<int64_t>(1, rule.selections),
            .single_percent_of_selected = rule.single_percent};
  }

  const SynthesisInput& input_;
  const Budget& budget_;
  SettingsReader& reader_;
  Pacer& pacer_;
  size_t some_pairs_ = 0;
  ViewQuestion question_{.domain = input_.domain, .workload = {}, .budget = {}};
  Measured measured_;
};

}  // namespace

absl::StatusOr<ViewSchedule> MakeViewSchedule(const SynthesisInput& input, SettingsReader& reader,
                                              Pacer& pacer) {
  RETURN_IF_ERROR(ValidateWorkload(input.domain, input.workload));
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(input.rule, input.spend));
  ASSIGN_OR_RETURN(const Sensitivity one, MarginalsSensitivity(input.unit_bound, 1));
  ASSIGN_OR_RETURN(Measured measured, Choosing(input, budget, reader, pacer).Choose(one));
  const ViewSettings& settings = measured.settings;
  ViewPlan& plan = measured.plan;
  ViewSchedule schedule{.attributes = Union(Union(SetsOf(input.workload)), Union(plan.views)),
                        .estimation = settings.estimation};

  const std::vector<AttributeSet> alone = Alone(schedule.attributes, plan.views);
  if (settings.single_percent > 0 || !plan.candidates.empty()) {
    for (const uint32_t attribute : schedule.attributes) plan.singles.push_back({attribute});
    std::erase_if(plan.views, [](const AttributeSet& view) { return view.size() == 1; });
  } else {
    plan.views.insert(plan.views.end(), alone.begin(), alone.end());
  }
  ASSIGN_OR_RETURN(schedule.measured_cells, MeasuredCells(input, plan, settings.selections));
  RETURN_IF_ERROR(BuyNoise(input, budget, plan, settings, schedule));
  RETURN_IF_ERROR(CheckOverlaps(schedule, pacer));
  for (const auto* sets : {&plan.singles, &plan.views, &plan.candidates}) {
    for (const AttributeSet& set : *sets)
      schedule.largest_view = std::max(schedule.largest_view, CellsOf(input.domain, set));
  }
  DescribeDraws(schedule);
  if (settings.views == "design")
    DescribeDesign(input.domain, measured.choice, schedule.attributes, alone, schedule);
  schedule.used_settings = reader.used();
  return schedule;
}

namespace {

constexpr Choices<Estimator, 2> kEstimators = {
    {{"shrunk", Estimator::kShrunk}, {"ripple", Estimator::kRipple}}};
constexpr Choices<BudgetSplit, 2> kSplits = {
    {{"equal", BudgetSplit::kEqual}, {"squared_error", BudgetSplit::kSquaredError}}};

constexpr int64_t kManyValues = 8;
constexpr int64_t kSinglePercent = 5;
constexpr int64_t kSinglePercentOfManyValues = 30;
constexpr int64_t kRakingSweeps = 50;
constexpr int64_t kRippleRounds = 20;

// Attributes with many values need counts of their own; a few binary ones are counted in many views anyhow.
int64_t DefaultSinglePercent(const Domain& domain, const AttributeSet& attributes, Estimator estimator) {
  if (estimator == Estimator::kRipple) return 0;
  const bool large = std::ranges::any_of(
      attributes, [&](uint32_t attribute) { return domain.attributes()[attribute].size() > kManyValues; });
  return large ? kSinglePercentOfManyValues : kSinglePercent;
}

}  // namespace

absl::StatusOr<ViewSettings> ReadViewSettings(const Domain& domain, const std::vector<AttributeSet>& workload,
                                              size_t pairs, const ViewDefaults& defaults,
                                              SettingsReader& reader) {
  ViewSettings settings;
  ASSIGN_OR_RETURN(settings.views, reader.Text("views", defaults.views));
  ASSIGN_OR_RETURN(settings.estimation.estimator, reader.Choice("estimator", kEstimators));
  const bool shrunk = settings.estimation.estimator == Estimator::kShrunk;
  ASSIGN_OR_RETURN(settings.max_view_cells, reader.Integer("max_view_cells"));
  ASSIGN_OR_RETURN(settings.split,
                   reader.Choice("split", kSplits,
                                 std::optional(shrunk ? BudgetSplit::kEqual : BudgetSplit::kSquaredError)));
  const AttributeSet attributes = Union(workload);
  ASSIGN_OR_RETURN(
      settings.single_percent,
      reader.Integer("single_percent",
                     settings.views == "selected" && defaults.single_percent_of_selected
                         ? *defaults.single_percent_of_selected
                         : DefaultSinglePercent(domain, attributes, settings.estimation.estimator)));
  const int64_t most = std::clamp<int64_t>(static_cast<int64_t>(pairs), 1, kMostViews);
  ASSIGN_OR_RETURN(
      settings.selections,
      reader.Integer("selections", std::clamp<int64_t>(defaults.selections, 1, most), IntegerRange{1, most}));
  ASSIGN_OR_RETURN(settings.selection_percent, reader.Integer("selection_percent"));
  ASSIGN_OR_RETURN(settings.estimation.threshold, reader.Real("threshold"));
  ASSIGN_OR_RETURN(const int64_t rounds, reader.Integer("rounds", shrunk ? kRakingSweeps : kRippleRounds));
  settings.estimation.rounds = static_cast<int>(rounds);
  return settings;
}

const std::vector<Setting>& ViewSettingsTable() {
  static const auto* const settings = new std::vector<Setting>{
      TextSetting(
          "views",
          "which marginals are measured. design: a covering design of the workload's pairs or triples; "
          "selected: the pairs that independence misses most, selected from the data, at a price; singles: "
          "no pairs; or a list such as \"age,sex;sex,income,race\" (attributes by name, or by index as #3)",
          "", "design; selected or singles where noise would hide most of a design"),
      IntegerSetting("strength", "what a design covers: 2, every pair; 3, every triple",
                     "that of the least expected error", IntegerRange{2, 3}),
      IntegerSetting("cells", "a design's bound on the cells of a view of more than two attributes",
                     "that of the least expected error", IntegerRange{1, kMostViewCells}),
      IntegerSetting("max_view_cells", "the most cells of any view of several attributes", int64_t{1} << 16,
                     {1, kMostViewCells}),
      ChoiceSetting(
          "split",
          "how views of different sizes share the budget. equal: the same noise; squared_error: the "
          "least sum of squared errors",
          kSplits, "equal when shrunk, squared_error with ripple"),
      IntegerSetting(
          "single_percent", "the share of the budget for the counts of single attributes",
          absl::StrCat(kSinglePercentOfManyValues, " with an attribute of more than ", kManyValues,
                       " values, else ", kSinglePercent, "; 0 with ripple; with views=selected 50 to 85"),
          IntegerRange{0, 90}),
      IntegerSetting("selections", "with views=selected: how many pairs are chosen",
                     "by the attributes and the budget"),
      IntegerSetting("selection_percent",
                     "with views=selected: the share of the pairs' budget that chooses them", 25, {1, 90}),
      ChoiceSetting(
          "estimator",
          "shrunk: views are shrunk towards independence as far as their noise hides more, and raked "
          "until they agree; ripple: the paper's consistency and Ripple in turns",
          kEstimators),
      RealSetting("threshold", "counts below minus this are what Ripple takes away; halved every round", 1,
                  {0, 1e9}),
      IntegerSetting("rounds", "of consistency and Ripple, or sweeps of raking, at most",
                     absl::StrCat(kRakingSweeps, ", or ", kRippleRounds, " with ripple"),
                     IntegerRange{1, 1000})};
  return *settings;
}

}  // namespace curator::dp
