#include "dp/synthesis/nested/nested_settings.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/kernel/utility/group_models.h"
#include "dp/kernel/utility/record_influence.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/nested/group_description.h"
#include "dp/synthesis/synthesis_forecast.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

constexpr int64_t kGuessedLargestGroup = 1000;
constexpr double kLeastDefaultRho = 0.002;
constexpr double kMostDefaultRho = 0.5;

// Of weights of groups: a clip that keeps what a group says of parameters that explain it about as well as
// any.
constexpr double kUsualClip = 8;

// From this size on a group that is clipped says more for the price of its record's whole group than its
// records say, each bounded by itself: found on tables of 10 to 60 records a group, with room below.
constexpr double kLargeGroup = 5;

// Where nothing is declared, for the default of the clip alone.
constexpr int64_t kNestedGuessedRecords = 10'000;
constexpr double kGuessedGroupSize = 10;

enum class Weights { kNone, kVector, kScalar, kGroup };
constexpr Choices<Weights, 4> kWeights = {{{"none", Weights::kNone},
                                           {"vector", Weights::kVector},
                                           {"scalar", Weights::kScalar},
                                           {"group", Weights::kGroup}}};
enum class WeightOption { kA, kB, kC };
constexpr Choices<WeightOption, 3> kOptions = {
    {{"C", WeightOption::kC}, {"A", WeightOption::kA}, {"B", WeightOption::kB}}};
enum class BoundChoice { kUnit, kRecord, kGroup };
constexpr Choices<BoundChoice, 3> kBounds = {
    {{"unit", BoundChoice::kUnit}, {"record", BoundChoice::kRecord}, {"group", BoundChoice::kGroup}}};
constexpr Choices<SizeSource, 2> kSizeSources = {
    {{"histogram", SizeSource::kHistogram}, {"public", SizeSource::kPublic}}};
constexpr Choices<ScalePrior, 2> kScalePriors = {
    {{"log", ScalePrior::kFlatOnLogarithms}, {"flat", ScalePrior::kFlatOnDeviations}}};
enum class ModelKind { kAuto, kNormal, kBinomial };
constexpr Choices<ModelKind, 3> kModels = {
    {{"auto", ModelKind::kAuto}, {"normal", ModelKind::kNormal}, {"binomial", ModelKind::kBinomial}}};
constexpr std::string_view kGroupPercent = "group_percent";
constexpr int64_t kUsualGroupPercent = 15;
constexpr std::string_view kJoinNone = "none";
constexpr std::string_view kJoinAuto = "auto";

// Candidates of one grid: each takes 8 bytes several times.
constexpr int64_t kMostNestedCandidates = int64_t{1} << 22;

// Points times draws: each draw weighs every point.
constexpr int64_t kMostNestedPointsDrawnFrom = int64_t{1} << 26;

// Codes of the response times numbers of sigma: even an estimate of the price visits them all.
constexpr int64_t kMostWeighings = int64_t{1} << 26;

constexpr double kLeastCorrelation = 1e-6;

absl::Status CheckFacts(const Domain& domain, const NestedFacts& facts) {
  if (facts.response >= domain.size()) return InvalidField("nested", "the response is no attribute");
  const auto codes = static_cast<size_t>(domain.attributes()[facts.response].size());
  const bool rises = std::ranges::adjacent_find(facts.numbers, std::greater_equal<>()) == facts.numbers.end();
  const bool is_within = std::ranges::all_of(facts.numbers, [&](double number) {
    return number >= facts.lower && number <= facts.upper;  // no NaN
  });
  if (facts.numbers.size() == codes && rises && is_within && facts.resolution > 0) return absl::OkStatus();
  return InvalidField("nested",
                      "the response's codes must stand for rising numbers within its bounds, and its "
                      "resolution must be above 0");
}

// Numbers from `least` to `most`, at least two, evenly spaced or in even ratios; one number where they are
// the same.
std::vector<double> Axis(double least, double most, int64_t points, bool in_ratios) {
  if (least == most) return {least};
  std::vector<double> axis;
  for (int64_t i = 0; i < points; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(points - 1);
    axis.push_back(in_ratios ? least * std::pow(most / least, share) : least + (most - least) * share);
  }
  axis.back() = most;
  return axis;
}

struct AxisRange {
  double least;
  double most;
  double default_least;
  double default_most;
};

// Reads NAME_min, NAME_max and NAME_points.
absl::StatusOr<std::vector<double>> ReadAxis(const std::string& name, const AxisRange& range, bool in_ratios,
                                             SettingsReader& reader) {
  // Defaults are written with six digits, which may lie a little outside.
  const double room = 1e-5 * std::max(std::abs(range.least), std::abs(range.most));
  const RealRange allowed{.least = range.least - room, .most = range.most + room};
  ASSIGN_OR_RETURN(double least, reader.Real(name + "_min", range.default_least, allowed));
  ASSIGN_OR_RETURN(double most, reader.Real(name + "_max", range.default_most, allowed));
  least = std::clamp(least, range.least, range.most);
  most = std::clamp(most, range.least, range.most);
  ASSIGN_OR_RETURN(const int64_t count, reader.Integer(name + "_points"));
  if (!(least <= most)) {
    return InvalidField(absl::StrCat("settings.", name, "_min"),
                        absl::StrCat("must not be above ", name, "_max, which is ", most));
  }
  if (count == 1 && least < most) {
    return InvalidField(absl::StrCat("settings.", name, "_points"),
                        absl::StrCat("is 1, but ", name, "_min .. ", name, "_max is ", least, " .. ", most,
                                     ": take 2 or more, or set both to the one number"));
  }
  return Axis(least, most, count, in_ratios);
}

// The bounds of responses, with some room where they are one number.
std::pair<double, double> BoundsOf(const NestedFacts& facts) {
  const double room = facts.upper > facts.lower ? 0 : facts.resolution / 2;
  return {facts.lower - room, facts.upper + room};
}

// Each axis is read whatever the model, so that a plan names every setting.
struct Axes {
  std::vector<double> nu;
  std::vector<double> tau;
  std::vector<double> sigma;
  double edge = 0;
  std::vector<double> rho;
};

absl::StatusOr<Axes> ReadAxes(const NestedFacts& facts, bool is_binomial, SettingsReader& reader) {
  const auto [low, high] = BoundsOf(facts);
  const double range = high - low;
  const double least = range / kMostRangeInWithins;
  Axes axes;
  ASSIGN_OR_RETURN(axes.edge, reader.Real("edge"));
  const double nu_low = is_binomial ? axes.edge : low;
  const double nu_high = is_binomial ? 1 - axes.edge : high;
  ASSIGN_OR_RETURN(axes.nu, ReadAxis("nu", {nu_low, nu_high, nu_low, nu_high}, false, reader));
  ASSIGN_OR_RETURN(axes.tau, ReadAxis("tau", {least, range, range / 64, range / 2}, true, reader));
  ASSIGN_OR_RETURN(axes.sigma, ReadAxis("sigma", {least, range, range / 16, range / 2}, true, reader));
  ASSIGN_OR_RETURN(
      axes.rho, ReadAxis("rho", {kLeastCorrelation, 1 - kLeastCorrelation, kLeastDefaultRho, kMostDefaultRho},
                         true, reader));
  return axes;
}

absl::Status CheckSize(const GroupModel& model, size_t codes) {
  const auto* normal = std::get_if<NormalGroups>(&model);
  const int64_t most = normal == nullptr ? kMostBinomialCandidates : kMostNestedCandidates;
  if (CandidatesOf(model) > most) {
    return InvalidField("settings.nu_points", absl::StrCat("the grid would have more than ", most,
                                                           " points: take fewer numbers on some axis"));
  }
  const auto fitting = static_cast<size_t>(kMostWeighings) / std::max<size_t>(1, codes);
  if (normal == nullptr || normal->withins.size() <= fitting) return absl::OkStatus();
  return InvalidField(
      "settings.sigma_points",
      absl::StrCat("must be at most ", fitting, " for a response of ", codes,
                   " codes: each code's weight is found at each number of sigma, at most 2^26 in all"));
}

// The model and its grid of parameters. Errors: INVALID_ARGUMENT: "nested" for facts that are no response of
// this domain, "settings..." for a grid that is empty, out of its range or too large.
absl::StatusOr<GroupModel> ReadNestedModel(const Domain& domain, const NestedFacts& facts,
                                           SettingsReader& reader) {
  RETURN_IF_ERROR(CheckFacts(domain, facts));
  const bool is_zero_one = facts.numbers == std::vector<double>{0, 1};
  ASSIGN_OR_RETURN(const ModelKind kind, reader.Choice("model", kModels));
  if (kind == ModelKind::kBinomial && !is_zero_one) {
    return InvalidField("settings.model",
                        "is binomial, for a response of exactly the numbers 0 and 1; this one has others");
  }
  const bool is_binomial = kind == ModelKind::kBinomial || (kind == ModelKind::kAuto && is_zero_one);
  ASSIGN_OR_RETURN(Axes axes, ReadAxes(facts, is_binomial, reader));
  const auto [low, high] = BoundsOf(facts);
  GroupModel model = NormalGroups{.values = facts.numbers,
                                  .low = low,
                                  .high = high,
                                  .means = axes.nu,
                                  .betweens = std::move(axes.tau),
                                  .withins = std::move(axes.sigma)};
  if (is_binomial) {
    model = BinomialGroups{.successes = {0, 1},
                           .edge = axes.edge,
                           .means = std::move(axes.nu),
                           .correlations = std::move(axes.rho)};
  }
  RETURN_IF_ERROR(CheckSize(model, facts.numbers.size()));
  const absl::Status fits = CheckGroupModel(model, static_cast<int64_t>(facts.numbers.size()));
  if (!fits.ok()) return InvalidField("nested", std::string(fits.message()));
  return model;
}

absl::Status WithoutTheorem(std::string_view setting, std::string_view why) {
  return InvalidField(absl::StrCat("settings.", std::string(setting)),
                      absl::StrCat("has no theorem here: ", std::string(why)));
}

// Which combinations have a theorem, and what they are for the kernel (docs/PRIVACY.md, Nested data):
//
//   weights          option  bound   model     weights of records  weight of the group
//   none             A, C    any     any       kOne                kOne
//   scalar           C       any     any       kScalar             kOne
//   vector           C       any     any       kVector             kOne
//   group            A       group   any       kOne                kOutside
//   group            B       group   normal    kOne                kInside
//   group            C       group   normal    kVector             kInside
//   group            C       group   binomial  kVector             kOutside
absl::Status ReadWeights(SettingsReader& reader, NestedSettings& settings) {
  // Where groups are clipped no theorem needs weights of records, which would only blur what groups say.
  const Weights usual = settings.bound == NestedBound::kGroup ? Weights::kNone : Weights::kVector;
  ASSIGN_OR_RETURN(const Weights weights, reader.Choice("weights", kWeights, std::optional(usual)));
  ASSIGN_OR_RETURN(const WeightOption option, reader.Choice("option", kOptions));
  const bool of_group = weights == Weights::kGroup;
  if (of_group && settings.bound == NestedBound::kRecord) {
    return WithoutTheorem(
        "weights",
        "a group's weight changes with each of its records, and with it what all others contribute; for a "
        "record as the privacy unit take vector, scalar or none, or bound=group");
  }
  if (!of_group && option == WeightOption::kB) {
    return WithoutTheorem(
        "option",
        "option B raises the distribution of group effects to the same power, which only a group as a whole "
        "may do; take option C, or weights=group");
  }
  if (!of_group && option == WeightOption::kA && weights != Weights::kNone) {
    return WithoutTheorem(
        "option",
        "option A weighs a group's whole density, which has no weights of records; take option C, or "
        "weights=none, whose exponent is a scalar outside of the integral");
  }
  const bool is_binomial = std::holds_alternative<BinomialGroups>(settings.model);
  if (of_group && option == WeightOption::kB && is_binomial)
    return WithoutTheorem("option",
                          "option B is for the normal model: the binomial one integrates over points");
  if (weights == Weights::kScalar) settings.records = RecordWeights::kScalar;
  if (weights == Weights::kVector || (of_group && option == WeightOption::kC))
    settings.records = RecordWeights::kVector;
  const bool is_inside = option == WeightOption::kB || (option == WeightOption::kC && !is_binomial);
  if (of_group) settings.group = is_inside ? GroupWeight::kInside : GroupWeight::kOutside;
  return absl::OkStatus();
}

// The size of a group as it is declared, by the schema or the request: the middle of its bounds. None where
// nothing is.
std::optional<double> DeclaredGroupSize(const SynthesisInput& input, const NestedSettings& settings) {
  if (settings.sizes == SizeSource::kPublic) return static_cast<double>(settings.group_size);
  if (!input.nested->group_size_bound && !input.settings.contains("largest_group")) return std::nullopt;
  return (1 + static_cast<double>(settings.largest_group)) / 2;
}

// `settings` have the sizes of groups.
absl::Status ReadBound(const SynthesisInput& input, SettingsReader& reader, NestedSettings& settings) {
  const NestedFacts& facts = *input.nested;
  ASSIGN_OR_RETURN(const BoundChoice bound, reader.Choice("bound", kBounds));
  const bool is_group = facts.unit == NestedUnit::kGroup;
  if (is_group && bound == BoundChoice::kRecord) {
    return InvalidField("settings.bound",
                        "is record, but the dataset protects whole groups: the bound of one record does not");
  }
  const bool is_large = DeclaredGroupSize(input, settings).value_or(1) > kLargeGroup;
  const bool by_group = is_group || bound == BoundChoice::kGroup || (bound == BoundChoice::kUnit && is_large);
  settings.bound = by_group ? NestedBound::kGroup : NestedBound::kRecord;
  return absl::OkStatus();
}

// The epsilon of a draw of parameters; none where there is no budget for it, which is refused later.
std::optional<double> EpsilonOfADraw(const SynthesisInput& input, const NestedSettings& settings) {
  const absl::StatusOr<Budget> budget = BudgetOf(input.rule, input.spend);
  if (!budget.ok()) return std::nullopt;
  const BudgetShare whole = WholeOf(*budget);
  const int64_t joined = settings.join == kJoinNone ? 0 : settings.join_percent;
  const int64_t percent = std::max<int64_t>(0, 100 - settings.size_percent - joined - settings.group_percent);
  const absl::StatusOr<Epsilon> epsilon =
      SelectionEpsilonFor(whole.Of(PercentOf(whole.units, percent) / settings.draws), "a draw");
  if (!epsilon.ok()) return std::nullopt;
  return static_cast<double>(epsilon->units()) / 1e12;
}

// The narrower, the larger the exponent that a budget buys, and the more biased what groups say. So it widens
// with the groups that are expected times the epsilon that a group gets: 4 below 100, 8 below 1000, 16 below
// 10,000, and so on; and 8 at least where a group gets an epsilon of 2, however few there are. The steps were
// chosen on two tables, and serve two others (docs/results/nested.md).
double UsualClip(const SynthesisInput& input, const NestedSettings& settings) {
  constexpr double kMuchForAGroup = 2;
  if (settings.group != GroupWeight::kOne) return kUsualClip;
  const double groups = ExpectedGroups(input, settings);
  // Around a record two groups may change.
  const double of_group =
      (input.nested->unit == NestedUnit::kGroup ? 1 : 0.5) * EpsilonOfADraw(input, settings).value_or(1);
  double clip = 4;
  for (double enough = 100; groups * of_group >= enough && clip < kLargestClip / 2; enough *= 10) clip *= 2;
  return of_group >= kMuchForAGroup ? std::max(clip, kUsualClip) : clip;
}

// What the response in the middle needs to keep its weight 1: those nearer to the bounds weigh less.
double UsualWidth(const GroupModel& model) {
  const GroupGrid grid = GridOf(model);
  const auto* normal = std::get_if<NormalGroupGrid>(&grid);
  if (normal == nullptr) return std::min(kLargestClip, SpreadOfOneRecord(grid, 0, 1));
  const auto is_nearer = [&](int64_t a, int64_t b) {
    const int64_t middle = int64_t{1} << 29;
    return std::abs(a - middle) < std::abs(b - middle);
  };
  const auto nearest = std::ranges::min_element(normal->values, is_nearer);
  const auto code = static_cast<uint32_t>(nearest - normal->values.begin());
  return std::min(kLargestClip, SpreadOfOneRecord(grid, code, 1));
}

absl::Status ReadSizes(const NestedFacts& facts, SettingsReader& reader, NestedSettings& settings) {
  ASSIGN_OR_RETURN(settings.sizes, reader.Choice("sizes", kSizeSources));
  const int64_t bound = facts.group_size_bound.value_or(kMaxRecordsPerUnit);
  ASSIGN_OR_RETURN(settings.group_size,
                   reader.Integer("group_size", facts.group_size_bound.value_or(1), IntegerRange{1, bound}));
  ASSIGN_OR_RETURN(settings.largest_group,
                   reader.Integer("largest_group", facts.group_size_bound.value_or(kGuessedLargestGroup),
                                  IntegerRange{1, bound}));
  ASSIGN_OR_RETURN(settings.size_percent, reader.Integer("size_percent"));
  if (settings.sizes == SizeSource::kPublic) {
    settings.size_bins = {1};
    settings.largest_group = settings.group_size;
    return absl::OkStatus();
  }
  // 1, 2, 3, 4, 6, 8, 12, 16, 24, ...: two bins for each doubling.
  for (int64_t least = 1; least <= settings.largest_group; least *= 2) {
    settings.size_bins.push_back(least);
    if (least > 1 && least + least / 2 <= settings.largest_group)
      settings.size_bins.push_back(least + least / 2);
  }
  return absl::OkStatus();
}

// The method that join=auto takes: the first that the table names.
std::string FirstJoinable(std::span<const Setting> table) {
  const auto join = std::ranges::find(table, "join", &Setting::key);
  if (join == table.end()) return std::string(kJoinNone);
  for (const std::string& name : std::get<ChoiceNames>(join->allowed)) {
    if (name != kJoinAuto && name != kJoinNone) return name;
  }
  return std::string(kJoinNone);
}

absl::Status ReadJoin(const SynthesisInput& input, const std::string& first_joinable, SettingsReader& reader,
                      NestedSettings& settings) {
  ASSIGN_OR_RETURN(settings.join, reader.Name("join"));
  ASSIGN_OR_RETURN(settings.join_percent, reader.Integer("join_percent"));
  bool has_others = false;
  for (const QueryGroup& group : input.workload) {
    has_others = has_others || std::ranges::any_of(group.attributes, [&](uint32_t each) {
                   return each != input.nested->response;
                 });
  }
  const bool can_count = input.unit_bound.max_records != kNoRecordBound;
  if (settings.join != kJoinAuto && settings.join != kJoinNone && !can_count) {
    return InvalidField("settings.join", absl::StrCat("is ", settings.join,
                                                      ", which counts records; groups without a bound of "
                                                      "their records have no sensitivity: take none"));
  }
  if (settings.join == kJoinAuto)
    settings.join = has_others && can_count ? first_joinable : std::string(kJoinNone);
  return absl::OkStatus();
}

// What the workload has of what the schema says about groups, without attributes of too many codes.
AttributeSet CountedOfGroups(const SynthesisInput& input) {
  const AttributeSet wanted = Intersection(input.nested->group_attributes, Union(SetsOf(input.workload)));
  AttributeSet counted;
  for (const uint32_t attribute : wanted) {
    if (input.domain.attributes()[attribute].size() <= kMostCodesOfGroups) counted.push_back(attribute);
  }
  return counted;
}

absl::Status ReadGroupAttributes(const SynthesisInput& input, SettingsReader& reader,
                                 NestedSettings& settings) {
  const AttributeSet counted = CountedOfGroups(input);
  const bool by_group = input.nested->unit == NestedUnit::kGroup;
  const bool can_count = by_group && !counted.empty();
  ASSIGN_OR_RETURN(settings.group_percent, reader.Integer(kGroupPercent, can_count ? kUsualGroupPercent : 0));
  if (settings.group_percent == 0) return absl::OkStatus();
  settings.group_attributes = counted;
  if (can_count) return absl::OkStatus();
  return InvalidField(absl::StrCat("settings.", std::string(kGroupPercent)),
                      by_group
                          ? "the schema names no attribute of groups that the workload has, and that has "
                            "at most 65536 values"
                          : "groups are counted by their attributes only where the group is the privacy "
                            "unit; here it is the record");
}

// How far an axis may reach.
struct AxisLimits {
  double least;
  double most;
};

std::vector<std::string> WarningsOfAxis(const std::string& name, const std::vector<double>& axis,
                                        double number, const AxisLimits& limits) {
  if (axis.size() <= 1 || (number != axis.front() && number != axis.back())) return {};
  const double room = 1e-5 * std::max(std::abs(limits.least), std::abs(limits.most));
  if (number <= limits.least + room || number >= limits.most - room) {
    return {absl::StrCat("warning: ", name, " lies at the edge of its grid, which reaches as far as ",
                         "may be asked for: from ", limits.least, " to ", limits.most)};
  }
  return {absl::StrCat("warning: ", name, " lies at the edge of its grid; a wider ", name, "_min .. ", name,
                       "_max may hold what the groups say")};
}

// The settings of the grid's axes.
std::vector<Setting> AxisSettings() {
  const IntegerRange points{1, kMostNestedCandidates};
  return {
      RealSetting("nu_min", "the least overall mean (binomial: share of ones)", "the response's lower bound"),
      RealSetting("nu_max", "the largest overall mean", "the response's upper bound"),
      IntegerSetting("nu_points", "numbers of nu, evenly spaced", 41, points),
      RealSetting("tau_min", "the least deviation between groups (normal)", "a 64th of the response's range"),
      RealSetting("tau_max", "the largest deviation between groups (normal)", "half of the response's range"),
      IntegerSetting("tau_points", "numbers of tau, in even ratios", 25, points),
      RealSetting("sigma_min",
                  "the least deviation within groups (normal); the larger it is, the less one record can do",
                  "a 16th of the response's range"),
      RealSetting("sigma_max", "the largest deviation within groups (normal)",
                  "half of the response's range"),
      IntegerSetting("sigma_points", "numbers of sigma, in even ratios", 25, points),
      RealSetting("edge", "shares of ones lie between this and one minus this (binomial)", 0.01,
                  {1e-6, 0.25}),
      RealSetting("rho_min", "the least correlation within groups (binomial)",
                  absl::StrCat(kLeastDefaultRho)),
      RealSetting("rho_max", "the largest correlation within groups (binomial)",
                  absl::StrCat(kMostDefaultRho)),
      IntegerSetting("rho_points", "numbers of rho, in even ratios", 25, points)};
}

}  // namespace

absl::StatusOr<NestedSettings> ReadNestedSettings(const SynthesisInput& input,
                                                  std::span<const Setting> table) {
  if (!input.nested.has_value()) {
    return InvalidField("nested",
                        "the dataset's schema names no groups and no numeric response, which this method "
                        "needs; there are methods that do not");
  }
  const NestedFacts& facts = *input.nested;
  SettingsReader reader(table, input.settings);
  NestedSettings settings;
  ASSIGN_OR_RETURN(settings.model, ReadNestedModel(input.domain, facts, reader));
  RETURN_IF_ERROR(ReadSizes(facts, reader, settings));
  RETURN_IF_ERROR(ReadBound(input, reader, settings));
  RETURN_IF_ERROR(ReadWeights(reader, settings));
  ASSIGN_OR_RETURN(settings.width, reader.Real("width", UsualWidth(settings.model)));
  ASSIGN_OR_RETURN(settings.scale_prior, reader.Choice("scale_prior", kScalePriors));
  ASSIGN_OR_RETURN(settings.draws, reader.Integer("draws"));
  const int64_t fitting = kMostNestedPointsDrawnFrom / CandidatesOf(settings.model);
  if (settings.draws > fitting) {
    return InvalidField(
        "settings.draws",
        absl::StrCat("must be at most ", fitting, " for a grid of ", CandidatesOf(settings.model),
                     " points (2^26 in all draws): take fewer draws, or fewer points"));
  }
  RETURN_IF_ERROR(ReadJoin(input, FirstJoinable(table), reader, settings));
  RETURN_IF_ERROR(ReadGroupAttributes(input, reader, settings));
  ASSIGN_OR_RETURN(settings.clip, reader.Real("clip", UsualClip(input, settings)));
  RETURN_IF_ERROR(reader.Finish());
  settings.used = reader.used();
  settings.used["join"] = settings.join;
  settings.used["model"] = std::holds_alternative<BinomialGroups>(settings.model) ? "binomial" : "normal";
  return settings;
}

double ExpectedGroups(const SynthesisInput& input, const NestedSettings& settings) {
  const double size = DeclaredGroupSize(input, settings).value_or(kGuessedGroupSize);
  return std::max(1.0, DeclaredRecords(input.assume_records.value_or(kNestedGuessedRecords)) / size);
}

Utility QuestionFor(const NestedFacts& facts, const NestedSettings& settings) {
  if (settings.bound == NestedBound::kRecord) {
    return RecordsInGroups{.attribute = facts.response,
                           .model = settings.model,
                           .records = settings.records,
                           .width = settings.width};
  }
  return ClippedGroups{
      .attribute = facts.response,
      .model = settings.model,
      .records = settings.records,
      .width = settings.width,
      .group = settings.group,
      .clip = settings.clip,
      .role = facts.unit == NestedUnit::kGroup ? GroupRole::kUnit : GroupRole::kAroundRecord};
}

std::vector<Setting> NestedSettingsTable(const std::vector<std::string>& joinable) {
  ChoiceNames joins = {std::string(kJoinAuto), std::string(kJoinNone)};
  joins.insert(joins.end(), joinable.begin(), joinable.end());
  const std::string first = joinable.empty() ? std::string(kJoinNone) : joinable.front();
  std::vector<Setting> settings = {
      ChoiceSetting(
          "model",
          "normal: members scatter around their group's mean, which scatters around nu; binomial: "
          "responses 0 and 1, and groups differ in their share of ones; auto: binomial for the numbers "
          "0 and 1, else normal",
          kModels),
      ChoiceSetting(
          "bound",
          "which theorem pays for a draw. record: what one record can do to its group's density is "
          "bounded, where the privacy unit is a record; group: groups are clipped, and a record pays "
          "for its whole group; unit: group where the dataset's privacy unit is one, or where groups are "
          "declared to have more than 5 records (the middle of the bounds of their size), else record",
          kBounds),
      ChoiceSetting(
          "weights",
          "of the likelihood: none; scalar, all records alike; vector, each record what its response "
          "needs; group, each group what it needs (not where a record is bounded)",
          kWeights, "vector; none where groups are clipped"),
      ChoiceSetting("option",
                    "where a group's weight stands: A, outside of the integrated likelihood; B, inside; C, "
                    "inside, with weights of records as well (binomial: records' weights inside, the group's "
                    "outside)",
                    kOptions),
      RealSetting("width",
                  "how far one record may move its group's log-likelihood; smaller responses' weights follow",
                  "what a response in the middle moves unweighted", RealRange{1e-3, kLargestClip}),
      RealSetting(
          "clip", "of a group's log-likelihood below its best, where groups are clipped",
          "4, and twice as much for each factor of ten from 100 on in the groups that are expected "
          "(assume_records, or 10,000, by their declared size, or 10) times a group's epsilon; 8 with "
          "weights=group",
          RealRange{1e-3, kLargestClip}),
      IntegerSetting("draws", "how many times parameters are drawn; groups are shared out among them", 1,
                     {1, 1000}),
      ChoiceSetting("scale_prior", "log: flat on the logarithms of deviations; flat: on deviations",
                    kScalePriors),
      ChoiceSetting(
          "sizes",
          "histogram: how many groups have how many records, counted with noise; public: all groups "
          "have group_size records, and their number is counted with noise",
          kSizeSources),
      IntegerSetting("group_size", "with public sizes: the records of each group",
                     "the schema's bound of them, or 1"),
      IntegerSetting("largest_group", "with a histogram: groups larger than this count as this large",
                     absl::StrCat("the schema's bound of a group's records, or ", kGuessedLargestGroup)),
      IntegerSetting("size_percent", "the share of the budget for sizes and number of groups", 10, {1, 90}),
      NameSetting(
          "join",
          absl::StrCat("how the workload's other attributes are added: by this method, given the "
                       "response; or none: they are left out; auto: ",
                       first, " where there are such attributes and records can be counted, else none"),
          std::move(joins)),
      IntegerSetting("join_percent", "the share of the budget for the other attributes", 50, {1, 95}),
      IntegerSetting(
          std::string(kGroupPercent),
          "where the group is the privacy unit and the schema names attributes of groups: the share "
          "of the budget for numbers of groups by these; 0: they differ between a group's records",
          absl::StrCat(kUsualGroupPercent, " where there are such attributes, else 0"), IntegerRange{0, 90})};
  const std::vector<Setting> axes = AxisSettings();
  settings.insert(std::ranges::find(settings, "sizes", &Setting::key), axes.begin(), axes.end());
  return settings;
}

NestedParameters ParametersAt(const GroupModel& model, size_t candidate) {
  if (const auto* normal = std::get_if<NormalGroups>(&model)) {
    const size_t row = candidate / normal->means.size();
    return {.mean = normal->means[candidate % normal->means.size()],
            .between = normal->betweens[row / normal->withins.size()],
            .within = normal->withins[row % normal->withins.size()]};
  }
  const auto& binomial = std::get<BinomialGroups>(model);
  return {.mean = binomial.means[candidate % binomial.means.size()],
          .between = binomial.correlations[candidate / binomial.means.size()],
          .within = 0};
}

int64_t CandidatesOf(const GroupModel& model) {
  const auto product = [](std::initializer_list<size_t> sizes) {
    double cells = 1;
    for (const size_t size : sizes) cells *= static_cast<double>(size);
    return static_cast<int64_t>(std::min(cells, 0x1p60));
  };
  if (const auto* normal = std::get_if<NormalGroups>(&model))
    return product({normal->means.size(), normal->betweens.size(), normal->withins.size()});
  const auto& binomial = std::get<BinomialGroups>(model);
  return product({binomial.means.size(), binomial.correlations.size()});
}

std::vector<std::string> WarningsOfEdges(const GroupModel& model, const NestedParameters& point) {
  std::vector<std::string> found;
  const auto look_at = [&](const std::string& name, const std::vector<double>& axis, double number,
                           const AxisLimits& limits) {
    for (std::string& warning : WarningsOfAxis(name, axis, number, limits))
      found.push_back(std::move(warning));
  };
  if (const auto* normal = std::get_if<NormalGroups>(&model)) {
    const double range = normal->high - normal->low;
    const AxisLimits of_deviations{range / kMostRangeInWithins, range};
    look_at("nu", normal->means, point.mean, {normal->low, normal->high});
    look_at("tau", normal->betweens, point.between, of_deviations);
    look_at("sigma", normal->withins, point.within, of_deviations);
  } else {
    const auto& binomial = std::get<BinomialGroups>(model);
    look_at("nu", binomial.means, point.mean, {binomial.edge, 1 - binomial.edge});
    look_at("rho", binomial.correlations, point.between, {kLeastCorrelation, 1 - kLeastCorrelation});
  }
  return found;
}

}  // namespace curator::dp
