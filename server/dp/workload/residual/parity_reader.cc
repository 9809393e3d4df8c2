#include "dp/workload/residual/parity_reader.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <variant>

namespace curator::dp {
namespace {

constexpr size_t kMostAttributes = 30;  // of a set: its cells are numbered in 32 bits

bool IsOdd(size_t cell) {
  return std::popcount(cell) % 2 == 1;
}

struct Parity {
  AttributeSet set;
  int32_t weight = 0;
};

std::optional<Parity> ParityOf(const QueryGroup& group) {
  const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries);
  const size_t size = group.attributes.size();
  if (queries == nullptr || queries->size() != 1 || size == 0 || size > kMostAttributes) return std::nullopt;
  const LinearQuery& query = queries->front();
  if (query.size() != SubsetsOfSize(size) || query[0].weight <= 0) return std::nullopt;
  const int32_t weight = query[0].weight;
  const bool is_count = size == 1 && query[1].weight == weight;
  for (size_t cell = 0; cell < query.size(); ++cell) {
    const int32_t expected = IsOdd(cell) && !is_count ? -weight : weight;
    if (query[cell] != WeightedCell{static_cast<uint32_t>(cell), expected}) return std::nullopt;
  }
  return Parity{.set = is_count ? AttributeSet() : group.attributes, .weight = weight};
}

// Replaces a number for each subset, whose attributes are the bits of its position, by the sum for each cell
// over the subsets of (-1)^(the bits that both have) times the number.
void Transform(std::vector<double>& numbers) {
  for (size_t bit = 1; bit < numbers.size(); bit *= 2) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      if ((i & bit) != 0) continue;
      const double even = numbers[i];
      const double odd = numbers[i | bit];
      numbers[i] = even + odd;
      numbers[i | bit] = even - odd;
    }
  }
}

// The bits of a subset, the lowest the first attribute's, as those of a cell, the lowest the last one's.
size_t CellOf(size_t subset, size_t attributes) {
  size_t cell = 0;
  for (size_t i = 0; i < attributes; ++i) cell |= ((subset >> i) & 1) << (attributes - 1 - i);
  return cell;
}

}  // namespace

QueryGroup ParityGroup(const AttributeSet& set, int32_t weight, uint32_t attribute) {
  LinearQuery query(SubsetsOfSize(set.empty() ? 1 : set.size()));
  for (size_t cell = 0; cell < query.size(); ++cell)
    query[cell] = {static_cast<uint32_t>(cell), IsOdd(cell) && !set.empty() ? -weight : weight};
  QueryGroup group{.attributes = set.empty() ? AttributeSet{attribute} : set, .queries = EveryCell()};
  group.queries = std::vector<LinearQuery>{std::move(query)};
  return group;
}

std::optional<ParityReader> ParityReader::Create(std::span<const QueryGroup> measured) {
  std::vector<AttributeSet> sets;
  std::vector<double> weights;
  for (const QueryGroup& group : measured) {
    std::optional<Parity> parity = ParityOf(group);
    if (!parity) return std::nullopt;
    sets.push_back(std::move(parity->set));
    weights.push_back(parity->weight);
  }
  std::vector<const AttributeSet*> places;
  for (const AttributeSet& set : sets) places.push_back(&set);
  std::optional<SetPositions> positions = SetPositions::Create(places);
  if (!positions) return std::nullopt;
  return ParityReader(*std::move(positions), std::move(weights));
}

bool ParityReader::CanRead(const QueryGroup& group) const {
  return std::holds_alternative<EveryCell>(group.queries) && positions_.Find(group.attributes).has_value();
}

uint32_t ParityReader::PositionOf(const AttributeSet& marginal) const {
  return positions_.SubsetsOf(marginal).back();
}

AnswerError ParityReader::ErrorOf(const AttributeSet& marginal) const {
  AnswerError error{.variance_factor = 0, .terms = 0, .fourth_factor = 0};
  for (const WeightedValues& value : WeightsOf(marginal)) {
    error.variance_factor += value.count * std::pow(value.weight, 2);
    error.fourth_factor += value.count * std::pow(value.weight, 4);
  }
  return error;
}

std::vector<WeightedValues> ParityReader::WeightsOf(const AttributeSet& marginal) const {
  const std::vector<uint32_t> subsets = positions_.SubsetsOf(marginal);
  std::vector<WeightedValues> weights;
  for (const uint32_t subset : subsets)
    weights.push_back({.weight = 1 / (weights_[subset] * static_cast<double>(subsets.size())), .count = 1});
  return Compacted(std::move(weights));
}

std::vector<double> ParityReader::CellsOf(const AttributeSet& marginal,
                                          std::span<const std::vector<int64_t>> values) const {
  const std::vector<uint32_t> subsets = positions_.SubsetsOf(marginal);
  std::vector<double> cells(subsets.size());
  for (size_t subset = 0; subset < subsets.size(); ++subset) {
    const uint32_t place = subsets[subset];
    cells[CellOf(subset, marginal.size())] =
        static_cast<double>(values[place].front()) / (weights_[place] * static_cast<double>(subsets.size()));
  }
  Transform(cells);
  return cells;
}

}  // namespace curator::dp
