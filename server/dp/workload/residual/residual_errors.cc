#include "dp/workload/residual/residual_errors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <variant>

#include "base/status_macros.h"
#include "dp/workload/noise_combination.h"

namespace curator::dp {
namespace {

constexpr int kKeyBits = 13;
static_assert(kMaxAttributes < (1 << kKeyBits) && kMostProductAxes * kKeyBits <= 128);

constexpr size_t kMostSubsets = size_t{1} << kMostProductAxes;

size_t SubsetsOfSize(size_t attributes) {
  return size_t{1} << attributes;
}

double ParameterOf(const Rational& value) {
  return static_cast<double>(value.numerator) / static_cast<double>(value.denominator);
}

// The errors along an axis of a query over each of its codes.
std::vector<AxisError> CodeErrors(const AxisReading& axis) {
  std::vector<AxisError> errors;
  for (uint32_t code = 0; code < axis.codes(); ++code) errors.push_back(axis.ErrorOf({code, code}));
  return errors;
}

// Calls `visit` with the errors along each axis, for each cell in order.
template <typename Visit>
void ForEachCell(std::span<const AxisReading* const> axes, const Visit& visit) {
  std::vector<std::vector<AxisError>> of_codes;
  std::vector<AxisError> errors;
  for (const AxisReading* axis : axes) {
    of_codes.push_back(CodeErrors(*axis));
    errors.push_back(of_codes.back().front());
  }
  std::vector<size_t> cell(axes.size());
  while (true) {
    visit(std::span<const AxisError>(errors));
    size_t axis = axes.size();
    while (axis > 0 && cell[axis - 1] + 1 == of_codes[axis - 1].size()) {
      --axis;
      cell[axis] = 0;
      errors[axis] = of_codes[axis][0];
    }
    if (axis == 0) return;
    ++cell[axis - 1];
    errors[axis - 1] = of_codes[axis - 1][cell[axis - 1]];
  }
}

template <typename Visit>
void ForEachBox(const Boxes& boxes, std::span<const AxisReading* const> axes, const Visit& visit) {
  std::vector<AxisError> errors(axes.size());
  for (size_t side = 0; side < boxes.sides.size(); side += axes.size()) {
    for (size_t i = 0; i < axes.size(); ++i) errors[i] = axes[i]->ErrorOf(boxes.sides[side + i]);
    visit(std::span<const AxisError>(errors));
  }
}

template <typename Visit>
void ForEachQuery(const std::vector<LinearQuery>& queries, const AxisReading& axis, const Visit& visit) {
  std::vector<double> weights(static_cast<size_t>(axis.codes()));
  for (const LinearQuery& query : queries) {
    for (const WeightedCell& term : query) weights[term.cell] = term.weight;
    const AxisError error = axis.ErrorOf(weights);
    visit(std::span(&error, 1));
    for (const WeightedCell& term : query) weights[term.cell] = 0;
  }
}

template <typename Visit>
void ForEachAnswer(const QueryGroup& group, std::span<const AxisReading* const> axes, const Visit& visit) {
  if (const auto* boxes = std::get_if<Boxes>(&group.queries)) return ForEachBox(*boxes, axes, visit);
  if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries))
    return ForEachQuery(*queries, *axes.front(), visit);
  ForEachCell(axes, visit);
}

// For each subset of the axes the product of `spread` (axes of the subset) and `level` (others), times what
// is in products[0].
void ExpandProducts(std::span<const AxisError> axes, std::span<double> products) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t half = SubsetsOfSize(i);
    for (size_t subset = 0; subset < half; ++subset) {
      products[subset + half] = products[subset] * axes[i].spread;
      products[subset] *= axes[i].level;
    }
  }
}

}  // namespace

bool CanReadFromResiduals(const QueryGroup& group) {
  return group.attributes.size() == 1 || !std::holds_alternative<std::vector<LinearQuery>>(group.queries);
}

ResidualErrors::Key ResidualErrors::KeyOf(std::span<const uint32_t> attributes, size_t subset) {
  Key key = 0;
  for (size_t i = 0; i < attributes.size(); ++i) {
    if ((subset >> i & 1) != 0) key = key << kKeyBits | (attributes[i] + 1);
  }
  return key;
}

absl::Status ResidualErrors::AddGroups(const ResidualMeasurement& measurement) {
  const std::vector<ProductGroup>& groups = measurement.queries.groups;
  if (measurement.sigma_squared.size() != groups.size())
    return absl::InvalidArgumentError("each group of a measurement has a parameter of its noise");
  positions_.reserve(groups.size());
  noises_.reserve(groups.size());
  for (size_t position = 0; position < groups.size(); ++position) {
    const ProductGroup& group = groups[position];
    positions_.try_emplace(KeyOf(group.attributes, SubsetsOfSize(group.attributes.size()) - 1), position);
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
  for (const ProductGroup& group : groups) {
    const size_t all = SubsetsOfSize(group.attributes.size()) - 1;
    for (size_t i = 0; i < group.attributes.size(); ++i) {
      if (!positions_.contains(KeyOf(group.attributes, all ^ (size_t{1} << i))))
        return absl::InvalidArgumentError("the groups of a measurement include all subsets of each one");
    }
  }
  return absl::OkStatus();
}

absl::Status ResidualErrors::AddReadings(const Domain& domain, const ProductQueries& queries) {
  // By the position of the axis, of which Helmert contrasts need none, and the number of codes.
  std::map<std::pair<std::optional<uint32_t>, int64_t>, size_t> known;
  std::vector<uint32_t> axis_of(domain.size());
  reading_of_.resize(domain.size());
  for (const ProductGroup& group : queries.groups) {
    for (size_t i = 0; i < group.attributes.size(); ++i) {
      const uint32_t attribute = group.attributes[i];
      const uint32_t axis = group.axes[i];
      if (reading_of_[attribute]) {
        if (axis_of[attribute] == axis) continue;
        return absl::InvalidArgumentError("an attribute has the same axis in all groups of a measurement");
      }
      axis_of[attribute] = axis;
      const int64_t codes = domain.attributes()[attribute].size();
      const bool is_helmert = queries.axes[axis].weights.empty();
      const auto [entry, is_new] =
          known.try_emplace({is_helmert ? std::nullopt : std::optional(axis), codes}, readings_.size());
      reading_of_[attribute] = entry->second;
      if (!is_new) continue;
      ASSIGN_OR_RETURN(AxisReading reading, AxisReading::Create(queries.axes[axis], codes));
      readings_.push_back(std::move(reading));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ResidualErrors> ResidualErrors::Create(const Domain& domain,
                                                      const ResidualMeasurement& measurement) {
  ResidualErrors errors;
  RETURN_IF_ERROR(errors.AddGroups(measurement));
  RETURN_IF_ERROR(errors.AddReadings(domain, measurement.queries));
  return errors;
}

bool ResidualErrors::CanRead(const QueryGroup& group) const {
  const size_t attributes = group.attributes.size();
  return CanReadFromResiduals(group) && attributes <= kMostProductAxes &&
         positions_.contains(KeyOf(group.attributes, SubsetsOfSize(attributes) - 1));
}

const AxisReading& ResidualErrors::ReadingOf(uint32_t attribute) const {
  return readings_[*reading_of_[attribute]];
}

std::vector<const AxisReading*> ResidualErrors::ReadingsOf(const AttributeSet& attributes) const {
  std::vector<const AxisReading*> axes;
  for (const uint32_t attribute : attributes) axes.push_back(&ReadingOf(attribute));
  return axes;
}

std::vector<size_t> ResidualErrors::SubsetsOf(const AttributeSet& attributes) const {
  std::vector<size_t> positions;
  for (size_t subset = 0; subset < SubsetsOfSize(attributes.size()); ++subset)
    positions.push_back(positions_.at(KeyOf(attributes, subset)));
  return positions;
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
  for (const size_t position : SubsetsOf(group.attributes)) noises.push_back(noises_[position]);
  const std::vector<const AxisReading*> axes = ReadingsOf(group.attributes);
  const bool all_helmert = std::ranges::all_of(axes, [](const auto* axis) { return axis->is_helmert(); });
  if (std::holds_alternative<EveryCell>(group.queries) && all_helmert) {
    // The cells differ in the largest weight alone, and the first one has the largest.
    std::vector<AxisError> first;
    for (const AxisReading* axis : axes) first.push_back(axis->ErrorOf(CodeInterval{0, 0}));
    return {Combined(noises, first)};
  }
  std::vector<ResidualError> errors;
  ForEachAnswer(group, axes,
                [&](std::span<const AxisError> along) { errors.push_back(Combined(noises, along)); });
  return errors;
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
