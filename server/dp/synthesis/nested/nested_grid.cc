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

// Numbers from `least` to `most`, evenly spaced or in even ratios; one number where they are the same.
std::vector<double> Axis(double least, double most, int64_t points, bool in_ratios) {
  if (least == most || points == 1) return {least};
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
  ASSIGN_OR_RETURN(axes.rho, ReadAxis("rho", {1e-6, 1 - 1e-6, 0.002, 0.5}, 25, true, reader));
  return axes;
}

absl::Status CheckSize(const GroupModel& model) {
  const bool is_binomial = std::holds_alternative<BinomialGroups>(model);
  const int64_t most = is_binomial ? kMostBinomialCandidates : kMostNestedCandidates;
  if (CandidatesOf(model) <= most) return absl::OkStatus();
  return InvalidField("settings.nu_points", absl::StrCat("the grid would have more than ", most,
                                                         " points: take fewer numbers on some axis"));
}

void AddIfAtTheEdge(const std::vector<double>& axis, double number, const char* name,
                    std::vector<std::string>& found) {
  if (axis.size() > 1 && (number == axis.front() || number == axis.back())) found.emplace_back(name);
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
  RETURN_IF_ERROR(CheckSize(model));
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

std::vector<std::string> AxesAtTheirEdge(const GroupModel& model, const NestedParameters& point) {
  std::vector<std::string> found;
  if (const auto* normal = std::get_if<NormalGroups>(&model)) {
    AddIfAtTheEdge(normal->means, point.mean, "nu", found);
    AddIfAtTheEdge(normal->betweens, point.between, "tau", found);
    AddIfAtTheEdge(normal->withins, point.within, "sigma", found);
  } else {
    const auto& binomial = std::get<BinomialGroups>(model);
    AddIfAtTheEdge(binomial.means, point.mean, "nu", found);
    AddIfAtTheEdge(binomial.correlations, point.between, "rho", found);
  }
  return found;
}

}  // namespace curator::dp
