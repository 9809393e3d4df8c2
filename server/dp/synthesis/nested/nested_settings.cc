#include "dp/synthesis/nested/nested_settings.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/kernel/utility/record_influence.h"
#include "dp/synthesis/nested/nested_grid.h"
#include "dp/synthesis/settings_reader.h"

namespace curator::dp {
namespace {

constexpr int64_t kGuessedLargestGroup = 1000;

// A clip that keeps what a group says of parameters that explain it about as well as any.
constexpr double kUsualClip = 8;

absl::Status WithoutTheorem(std::string_view setting, std::string_view why) {
  return InvalidField(absl::StrCat("settings.", std::string(setting)),
                      absl::StrCat("has no theorem here: ", std::string(why)));
}

// Which weights, inside or outside of what integral, the bound allows.
absl::Status ReadWeights(SettingsReader& reader, NestedSettings& settings) {
  // Where groups are clipped nothing asks for weights of records, which would only blur what groups say.
  const bool is_clipped = settings.bound == NestedBound::kGroup;
  const absl::StatusOr<std::string> weights =
      is_clipped ? reader.Choice("weights", {"none", "vector", "scalar", "group"})
                 : reader.Choice("weights", {"vector", "none", "scalar", "group"});
  RETURN_IF_ERROR(weights.status());
  const absl::StatusOr<std::string> option = reader.Choice("option", {"C", "A", "B"});
  RETURN_IF_ERROR(option.status());
  const bool of_group = *weights == "group";
  if (of_group && settings.bound == NestedBound::kRecord) {
    return WithoutTheorem(
        "weights",
        "a group's weight changes with each of its records, and with it what all others contribute; for a "
        "record as the privacy unit take vector, scalar or none, or bound=group");
  }
  if (!of_group && *option == "B") {
    return WithoutTheorem(
        "option",
        "option B raises the distribution of group effects to the same power, which only a group as a whole "
        "may do; take option C, or weights=group");
  }
  if (!of_group && *option == "A" && *weights != "none") {
    return WithoutTheorem(
        "option",
        "option A weighs a group's whole density, which has no weights of records; take option C, or "
        "weights=none, whose exponent is a scalar outside of the integral");
  }
  if (of_group && *option == "B" && std::holds_alternative<BinomialGroups>(settings.model))
    return WithoutTheorem("option",
                          "option B is for the normal model: the binomial one integrates over points");
  if (*weights == "scalar") settings.records = RecordWeights::kScalar;
  if (*weights == "vector" || (of_group && *option == "C")) settings.records = RecordWeights::kVector;
  const bool is_inside =
      *option == "B" || (*option == "C" && std::holds_alternative<NormalGroups>(settings.model));
  if (of_group) settings.group = is_inside ? GroupWeight::kInside : GroupWeight::kOutside;
  return absl::OkStatus();
}

absl::Status ReadBound(const NestedFacts& facts, SettingsReader& reader, NestedSettings& settings) {
  const absl::StatusOr<std::string> bound = reader.Choice("bound", {"unit", "record", "group"});
  RETURN_IF_ERROR(bound.status());
  const bool is_group = facts.unit == NestedUnit::kGroup;
  if (is_group && *bound == "record") {
    return InvalidField("settings.bound",
                        "is record, but the dataset protects whole groups: the bound of one record does not");
  }
  settings.bound = is_group || *bound == "group" ? NestedBound::kGroup : NestedBound::kRecord;
  return absl::OkStatus();
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
  const absl::StatusOr<std::string> sizes = reader.Choice("sizes", {"histogram", "public"});
  RETURN_IF_ERROR(sizes.status());
  settings.sizes = *sizes == "public" ? SizeSource::kPublic : SizeSource::kHistogram;
  const int64_t bound = facts.group_size_bound.value_or(kMaxRecordsPerUnit);
  ASSIGN_OR_RETURN(settings.group_size,
                   reader.Integer("group_size", facts.group_size_bound.value_or(1), 1, bound));
  ASSIGN_OR_RETURN(
      settings.largest_group,
      reader.Integer("largest_group", facts.group_size_bound.value_or(kGuessedLargestGroup), 1, bound));
  ASSIGN_OR_RETURN(settings.size_percent, reader.Integer("size_percent", settings.size_percent, 1, 90));
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

absl::Status ReadJoin(const SynthesisInput& input, SettingsReader& reader, NestedSettings& settings) {
  const absl::StatusOr<std::string> join = reader.Choice("join", {"auto", "none", "mwem", "dpsyn", "rap"});
  RETURN_IF_ERROR(join.status());
  ASSIGN_OR_RETURN(settings.join_percent, reader.Integer("join_percent", settings.join_percent, 1, 95));
  bool has_others = false;
  for (const QueryGroup& group : input.workload) {
    has_others = has_others || std::ranges::any_of(group.attributes, [&](uint32_t each) {
                   return each != input.nested->response;
                 });
  }
  const bool can_count = input.unit_bound.max_records != kNoRecordBound;
  if (*join != "auto" && *join != "none" && !can_count) {
    return InvalidField("settings.join", absl::StrCat("is ", *join,
                                                      ", which counts records; groups without a bound of "
                                                      "their records have no sensitivity: take none"));
  }
  settings.join = *join;
  if (*join == "auto") settings.join = has_others && can_count ? "mwem" : "none";
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NestedSettings> ReadNestedSettings(const SynthesisInput& input) {
  if (!input.nested.has_value()) {
    return InvalidField("nested",
                        "the dataset's schema names no groups and no numeric response, which this method "
                        "needs; there are methods that do not");
  }
  const NestedFacts& facts = *input.nested;
  SettingsReader reader(input.settings);
  NestedSettings settings;
  ASSIGN_OR_RETURN(settings.model, ReadNestedModel(input.domain, facts, reader));
  RETURN_IF_ERROR(ReadBound(facts, reader, settings));
  RETURN_IF_ERROR(ReadWeights(reader, settings));
  ASSIGN_OR_RETURN(settings.width, reader.Real("width", UsualWidth(settings.model), 1e-3, kLargestClip));
  ASSIGN_OR_RETURN(settings.clip, reader.Real("clip", kUsualClip, 1e-3, kLargestClip));
  const absl::StatusOr<std::string> prior = reader.Choice("scale_prior", {"log", "flat"});
  RETURN_IF_ERROR(prior.status());
  settings.is_flat_on_deviations = *prior == "flat";
  ASSIGN_OR_RETURN(settings.draws, reader.Integer("draws", 1, 1, 1000));
  const int64_t fitting = kMostNestedPointsDrawnFrom / CandidatesOf(settings.model);
  if (settings.draws > fitting) {
    return InvalidField(
        "settings.draws",
        absl::StrCat("must be at most ", fitting, " for a grid of ", CandidatesOf(settings.model),
                     " points (2^26 in all draws): take fewer draws, or fewer points"));
  }
  RETURN_IF_ERROR(ReadSizes(facts, reader, settings));
  RETURN_IF_ERROR(ReadJoin(input, reader, settings));
  RETURN_IF_ERROR(reader.Finish());
  settings.used = reader.used();
  settings.used["join"] = settings.join;
  settings.used["model"] = std::holds_alternative<BinomialGroups>(settings.model) ? "binomial" : "normal";
  return settings;
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

const std::vector<Setting>& NestedSettingsForPeople() {
  static const auto* const settings = new std::vector<Setting>{
      {"model",
       "normal: members scatter around their group's mean, which scatters around nu; binomial: responses 0 "
       "and 1, and groups differ in their share of ones; auto: binomial for the numbers 0 and 1, else normal",
       "auto"},
      {"bound",
       "which theorem pays for a draw. record: what one record can do to its group's density is bounded, "
       "where the privacy unit is a record; group: groups are clipped, and a record pays for its whole "
       "group; unit: record or group, as the dataset's privacy unit is",
       "unit"},
      {"weights",
       "of the likelihood: none; scalar, all records alike; vector, each record what its response needs; "
       "group, each group what it needs (not where a record is bounded)",
       "vector; none where groups are clipped"},
      {"option",
       "where a group's weight stands: A, outside of the integrated likelihood; B, inside; C, inside, with "
       "weights of records as well (binomial: records' weights inside, the group's outside)",
       "C"},
      {"width", "how far one record may move its group's log-likelihood; smaller responses' weights follow",
       "what a response in the middle moves unweighted"},
      {"clip", "of a group's log-likelihood below its best, where groups are clipped",
       absl::StrCat(kUsualClip)},
      {"draws", "how many times parameters are drawn; groups are shared out among them", "1"},
      {"scale_prior", "log: flat on the logarithms of deviations; flat: on deviations", "log"},
      {"nu_min", "the least overall mean (binomial: share of ones)", "the response's lower bound"},
      {"nu_max", "the largest overall mean", "the response's upper bound"},
      {"nu_points", "numbers of nu, evenly spaced", "41"},
      {"tau_min", "the least deviation between groups (normal)", "a 64th of the response's range"},
      {"tau_max", "the largest deviation between groups (normal)", "half of the response's range"},
      {"tau_points", "numbers of tau, in even ratios", "25"},
      {"sigma_min",
       "the least deviation within groups (normal); the larger it is, the less one record can do",
       "a 16th of the response's range"},
      {"sigma_max", "the largest deviation within groups (normal)", "half of the response's range"},
      {"sigma_points", "numbers of sigma, in even ratios", "25"},
      {"edge", "shares of ones lie between this and one minus this (binomial)", "0.01"},
      {"rho_min", "the least correlation within groups (binomial)", "0.002"},
      {"rho_max", "the largest correlation within groups (binomial)", "0.5"},
      {"rho_points", "numbers of rho, in even ratios", "25"},
      {"sizes",
       "histogram: how many groups have how many records, counted with noise; public: all groups have "
       "group_size records, and their number is counted with noise",
       "histogram"},
      {"group_size", "with public sizes: the records of each group", "the schema's bound of them, or 1"},
      {"largest_group", "with a histogram: groups larger than this count as this large",
       "the schema's bound of a group's records, or 1000"},
      {"size_percent", "the share of the budget for sizes and number of groups, 1 to 90", "10"},
      {"join",
       "how the workload's other attributes are added: by this method, given the response; or none: they are "
       "left out; auto: mwem where there are such attributes and records can be counted, else none",
       "auto"},
      {"join_percent", "the share of the budget for those, 1 to 95", "50"}};
  return *settings;
}

}  // namespace curator::dp
