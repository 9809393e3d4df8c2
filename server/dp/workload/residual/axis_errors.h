// Visits the errors along each axis of the queries of a group that is read from residuals.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "dp/queries/linear_queries.h"
#include "dp/workload/residual/axis_reading.h"
#include "dp/workload/residual/set_positions.h"

namespace curator::dp {

// The errors along an axis of a query over each of its codes.
inline std::vector<AxisError> CodeErrors(const AxisReading& axis) {
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

// Calls `visit` with the errors along each axis, for each answer of a group that CanReadFromResiduals() in
// order.
template <typename Visit>
void ForEachAnswer(const QueryGroup& group, std::span<const AxisReading* const> axes, const Visit& visit) {
  if (const auto* boxes = std::get_if<Boxes>(&group.queries)) return ForEachBox(*boxes, axes, visit);
  if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries))
    return ForEachQuery(*queries, *axes.front(), visit);
  ForEachCell(axes, visit);
}

// For each subset of the axes the product of `spread` (axes of the subset) and `level` (others), times what
// is in products[0].
inline void ExpandProducts(std::span<const AxisError> axes, std::span<double> products) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t half = SubsetsOfSize(i);
    for (size_t subset = 0; subset < half; ++subset) {
      products[subset + half] = products[subset] * axes[i].spread;
      products[subset] *= axes[i].level;
    }
  }
}

}  // namespace curator::dp
