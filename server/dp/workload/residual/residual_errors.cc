#include "dp/workload/residual/residual_errors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <variant>

#include "base/status_macros.h"
#include "dp/queries/product_queries.h"
#include "dp/workload/noise_combination.h"
#include "dp/workload/residual/axis_errors.h"

namespace curator::dp {
namespace {

constexpr size_t kMostSubsets = size_t{1} << kMostProductAxes;

double ParameterOf(const Rational& value) {
  return static_cast<double>(value.numerator) / static_cast<double>(value.denominator);
}

int64_t NumberOfAnswers(const QueryGroup& group, std::span<const AxisReading* const> axes) {
  if (const auto* boxes = std::get_if<Boxes>(&group.queries))
    return std::ssize(boxes->sides) / std::ssize(axes);
  if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries))
    return std::ssize(*queries);
  int64_t cells = 1;
  for (const AxisReading* axis : axes) cells *= axis->codes();
  return cells;
}

}  // namespace

bool CanReadFromResiduals(const QueryGroup& group) {
  return group.attributes.size() == 1 || !std::holds_alternative<std::vector<LinearQuery>>(group.queries);
}

absl::Status ResidualErrors::AddGroups(const ResidualMeasurement& measurement) {
  const std::vector<ProductGroup>& groups = measurement.queries.groups;
  if (measurement.sigma_squared.size() != groups.size())
    return absl::InvalidArgumentError("each group of a measurement has a parameter of its noise");
  noises_.reserve(groups.size());
  std::vector<const AttributeSet*> sets;
  sets.reserve(groups.size());
  for (size_t position = 0; position < groups.size(); ++position) {
    const ProductGroup& group = groups[position];
    sets.push_back(&group.attributes);
    const double parameter = ParameterOf(measurement.sigma_squared[position]);
    const auto multiplier = static_cast<double>(group.multiplier);
    Noise noise{.variance = parameter,
                .weight = 1 / multiplier,
                .least_parameter = parameter * multiplier * multiplier};
    for (const uint32_t position_of_axis : group.axes) {
      // The least variance factor of Helmert contrasts is that of the first one.
      const AxisQueries& axis = measurement.queries.axes[position_of_axis];
      noise.least_parameter *= axis.weights.empty() ? 2 : static_cast<double>(axis.variance_factor);
    }
    noises_.push_back(noise);
  }
  std::optional<SetPositions> positions = SetPositions::Create(sets);
  if (!positions)
    return absl::InvalidArgumentError("the groups of a measurement include all subsets of each one");
  positions_ = *std::move(positions);
  return absl::OkStatus();
}

absl::StatusOr<ResidualErrors> ResidualErrors::Create(const Domain& domain,
                                                      const ResidualMeasurement& measurement) {
  RETURN_IF_ERROR(ValidateProducts(domain, measurement.queries));
  ASSIGN_OR_RETURN(AxisReadings readings, AxisReadings::Create(domain, measurement.queries));
  ResidualErrors errors(std::move(readings));
  RETURN_IF_ERROR(errors.AddGroups(measurement));
  return errors;
}

bool ResidualErrors::CanRead(const QueryGroup& group) const {
  return CanReadFromResiduals(group) && positions_.Find(group.attributes).has_value();
}

ResidualError ResidualErrors::Combined(std::span<const Noise> noises, std::span<const AxisError> axes) {
  std::array<double, kMostSubsets> variances;
  std::array<double, kMostSubsets> weights;
  double least_parameter = noises.front().least_parameter;
  for (size_t subset = 0; subset < noises.size(); ++subset) {
    variances[subset] = noises[subset].variance;
    weights[subset] = noises[subset].weight;
    least_parameter = std::min(least_parameter, noises[subset].least_parameter);
  }
  for (size_t i = axes.size(); i-- > 0;) {  // the last axis has the highest bit
    const size_t half = SubsetsOfSize(i);
    const double level_weight = std::sqrt(axes[i].level);
    for (size_t subset = 0; subset < half; ++subset) {
      variances[subset] = variances[subset] * axes[i].level + variances[subset + half] * axes[i].spread;
      weights[subset] =
          std::max(weights[subset] * level_weight, weights[subset + half] * axes[i].largest_spread);
    }
  }
  return {.variance = variances[0], .largest_weight = weights[0], .least_parameter = least_parameter};
}

std::vector<ResidualError> ResidualErrors::ErrorsOf(const QueryGroup& group) const {
  std::vector<Noise> noises;  // of each subset
  for (const uint32_t position : SubsetsOf(group.attributes)) noises.push_back(noises_[position]);
  const std::vector<const AxisReading*> axes = readings_.Of(group.attributes);
  const bool all_helmert = std::ranges::all_of(axes, [](const auto* axis) { return axis->is_helmert(); });
  if (std::holds_alternative<EveryCell>(group.queries) && all_helmert) {
    // The cells differ in the largest weight alone, and the first one has the largest.
    std::vector<AxisError> first;
    for (const AxisReading* axis : axes) first.push_back(axis->ErrorOf(CodeInterval{0, 0}));
    return {Combined(noises, first)};
  }
  std::vector<ResidualError> errors;
  errors.reserve(static_cast<size_t>(NumberOfAnswers(group, axes)));
  ForEachAnswer(group, axes,
                [&](std::span<const AxisError> along) { errors.push_back(Combined(noises, along)); });
  return errors;
}

double ResidualErrors::MeanVarianceOf(const QueryGroup& group) const {
  const std::vector<ResidualError> errors = ErrorsOf(group);
  double sum = 0;
  for (const ResidualError& error : errors) sum += error.variance;
  return sum / static_cast<double>(errors.size());
}

double ResidualErrors::HalfWidthOf(const ResidualError& error, double level) {
  return HalfWidthBoundOfGaussians(error.least_parameter, error.variance, error.largest_weight, level);
}

double ResidualErrors::TailOf(const ResidualError& error, double error_bound) {
  return TailBoundOfGaussians(error.least_parameter, error.variance, error.largest_weight, error_bound);
}

std::vector<double> SummedFactors(const Domain& domain, const QueryGroup& group,
                                  std::span<const AxisReading* const> axes) {
  std::vector<double> sums(SubsetsOfSize(axes.size()));
  if (std::holds_alternative<EveryCell>(group.queries)) {  // the sum of products is the product of the sums
    std::vector<AxisError> along(axes.size());
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t codes = domain.attributes()[group.attributes[i]].size();
      for (uint32_t code = 0; code < codes; ++code) {
        const AxisError error = axes[i]->ErrorOf(CodeInterval{code, code});
        along[i].spread += error.spread;
        along[i].level += error.level;
      }
    }
    sums[0] = 1;
    ExpandProducts(along, sums);
    return sums;
  }
  std::vector<double> products(sums.size());
  ForEachAnswer(group, axes, [&](std::span<const AxisError> along) {
    products[0] = 1;
    ExpandProducts(along, products);
    for (size_t subset = 0; subset < sums.size(); ++subset) sums[subset] += products[subset];
  });
  return sums;
}

}  // namespace curator::dp
