#include "dp/synthesis/nested/nested_grid.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/kernel/utility/group_models.h"
#include "dp/synthesis/nested/nested_settings.h"

namespace curator::dp {
namespace {

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
absl::StatusOr<std::vector<double>> ReadAxis(const std::string& name, const AxisRange& range, int64_t points,
                                             bool in_ratios, SettingsReader& reader) {
  // Defaults are written with six digits, which may lie a little outside.
  const double room = 1e-5 * std::max(std::abs(range.least), std::abs(range.most));
  ASSIGN_OR_RETURN(double least,
                   reader.Real(name + "_min", range.default_least, range.least - room, range.most + room));
  ASSIGN_OR_RETURN(double most,
                   reader.Real(name + "_max", range.default_most, range.least - room, range.most + room));
  least = std::clamp(least, range.least, range.most);
  most = std::clamp(most, range.least, range.most);
  ASSIGN_OR_RETURN(const int64_t count, reader.Integer(name + "_points", points, 1, kMostNestedCandidates));
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
  double edge = 0.01;
  std::vector<double> rho;
};

absl::StatusOr<Axes> ReadAxes(const NestedFacts& facts, bool is_binomial, SettingsReader& reader) {
  const auto [low, high] = BoundsOf(facts);
  const double range = high - low;
  const double least = range / kMostRangeInWithins;
  Axes axes;
  ASSIGN_OR_RETURN(axes.edge, reader.Real("edge", axes.edge, 1e-6, 0.25));
  const double nu_low = is_binomial ? axes.edge : low;
  const double nu_high = is_binomial ? 1 - axes.edge : high;
  ASSIGN_OR_RETURN(axes.nu, ReadAxis("nu", {nu_low, nu_high, nu_low, nu_high}, 41, false, reader));
  ASSIGN_OR_RETURN(axes.tau, ReadAxis("tau", {least, range, range / 64, range / 2}, 25, true, reader));
  ASSIGN_OR_RETURN(axes.sigma, ReadAxis("sigma", {least, range, range / 16, range / 2}, 25, true, reader));
  ASSIGN_OR_RETURN(axes.rho,
                   ReadAxis("rho", {kLeastCorrelation, 1 - kLeastCorrelation, 0.002, 0.5}, 25, true, reader));
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

}  // namespace

absl::StatusOr<GroupModel> ReadNestedModel(const Domain& domain, const NestedFacts& facts,
                                           SettingsReader& reader) {
  RETURN_IF_ERROR(CheckFacts(domain, facts));
  const bool is_zero_one = facts.numbers == std::vector<double>{0, 1};
  const absl::StatusOr<std::string> kind = reader.Choice("model", {"auto", "normal", "binomial"});
  RETURN_IF_ERROR(kind.status());
  if (*kind == "binomial" && !is_zero_one) {
    return InvalidField("settings.model",
                        "is binomial, for a response of exactly the numbers 0 and 1; this one has others");
  }
  const bool is_binomial = *kind == "binomial" || (*kind == "auto" && is_zero_one);
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
