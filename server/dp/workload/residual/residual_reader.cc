#include "dp/workload/residual/residual_reader.h"

#include "base/status_macros.h"

namespace curator::dp {
namespace {

constexpr size_t kCellsOfCache = size_t{1} << 14;  // 128 KiB

// An axis of a table, or of a part of it.
struct AxisPlaces {
  size_t number = 0;    // of places along it
  size_t distance = 0;  // between two of them, in the table
};

// Lays the values of a set into the table: along the axes of the set at all places but the last, along others
// at the last one. The values run over the last axis of the set fastest.
void Lay(std::span<const int64_t> values, double multiplier, std::span<const size_t> codes, size_t subset,
         std::span<double> table) {
  std::vector<AxisPlaces> axes;  // of the set, the last one first
  size_t first = 0;
  size_t distance = 1;
  for (size_t i = codes.size(); i-- > 0;) {
    if ((subset >> i & 1) != 0) {
      axes.push_back({.number = codes[i] - 1, .distance = distance});
    } else {
      first += (codes[i] - 1) * distance;
    }
    distance *= codes[i];
  }
  if (axes.empty()) axes.push_back({.number = 1, .distance = 1});
  std::vector<size_t> place(axes.size());
  size_t read = 0;
  while (true) {
    for (size_t along = 0; along < axes[0].number; ++along)
      table[first + along * axes[0].distance] = static_cast<double>(values[read++]) / multiplier;
    size_t axis = 1;
    while (axis < axes.size() && place[axis] + 1 == axes[axis].number) {
      first -= place[axis] * axes[axis].distance;
      place[axis] = 0;
      ++axis;
    }
    if (axis == axes.size()) return;
    ++place[axis];
    first += axes[axis].distance;
  }
}

// Expands a table along all of its axes. Large ones along the first axis, and then part by part, so that most
// of it is done in the cache.
void ExpandAll(std::span<const AxisReading* const> axes, std::span<double> cells) {
  if (axes.empty()) return;
  if (cells.size() <= kCellsOfCache || axes.size() == 1) {
    size_t outer = 1;
    size_t inner = cells.size();
    for (const AxisReading* axis : axes) {
      const auto codes = static_cast<size_t>(axis->codes());
      inner /= codes;
      axis->Expand(cells, outer, inner);
      outer *= codes;
    }
    return;
  }
  const size_t part = cells.size() / static_cast<size_t>(axes.front()->codes());
  axes.front()->Expand(cells, 1, part);
  for (size_t from = 0; from < cells.size(); from += part)
    ExpandAll(axes.subspan(1), cells.subspan(from, part));
}

}  // namespace

absl::StatusOr<ResidualReader> ResidualReader::Create(const Domain& domain,
                                                      const ResidualMeasurement& measurement,
                                                      std::span<const std::vector<int64_t>> values) {
  ASSIGN_OR_RETURN(ResidualErrors errors, ResidualErrors::Create(domain, measurement));
  const std::vector<ProductGroup>& groups = measurement.queries.groups;
  if (values.size() != groups.size())
    return absl::InvalidArgumentError("each group of a measurement has values");
  for (size_t i = 0; i < groups.size(); ++i) {
    if (static_cast<int64_t>(values[i].size()) != NumberOfQueries(domain, measurement.queries, groups[i]))
      return absl::InvalidArgumentError("a group of a measurement has as many values as queries");
  }
  return ResidualReader(domain, measurement, values, std::move(errors));
}

const std::vector<double>& ResidualReader::CellsOf(const AttributeSet& attributes) {
  if (!table_.cells.empty() && table_.attributes == attributes) return table_.cells;
  const std::vector<const AxisReading*> axes = errors_.readings().Of(attributes);
  std::vector<size_t> codes;
  size_t cells = 1;
  for (const AxisReading* axis : axes) {
    codes.push_back(static_cast<size_t>(axis->codes()));
    cells *= codes.back();
  }
  table_ = {.attributes = attributes, .cells = std::vector<double>(cells)};
  const std::vector<uint32_t> subsets = errors_.SubsetsOf(attributes);
  for (size_t subset = 0; subset < subsets.size(); ++subset) {
    const auto multiplier = static_cast<double>(measurement_->queries.groups[subsets[subset]].multiplier);
    Lay(values_[subsets[subset]], multiplier, codes, subset, table_.cells);
  }
  ExpandAll(axes, table_.cells);
  return table_.cells;
}

std::vector<double> ResidualReader::AnswersOf(const QueryGroup& group) {
  return AnswersFromEstimates(*domain_, group, CellsOf(group.attributes));
}

}  // namespace curator::dp
