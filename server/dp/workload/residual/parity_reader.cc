#include "dp/workload/residual/parity_reader.h"

#include <cstddef>
#include <variant>

#include "dp/queries/product_queries.h"

namespace curator::dp {
namespace {

struct MeasuredParity {
  AttributeSet set;
  int32_t weight = 0;
};

std::optional<MeasuredParity> ParityOf(const QueryGroup& group) {
  if (const auto* parity = std::get_if<Parity>(&group.queries)) {
    if (group.attributes.empty() || group.attributes.size() > kMostProductAxes) return std::nullopt;
    return MeasuredParity{.set = group.attributes, .weight = parity->weight};
  }
  const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries);
  if (queries == nullptr || queries->size() != 1 || group.attributes.size() != 1) return std::nullopt;
  const LinearQuery& query = queries->front();
  if (query.empty() || query[0].weight < 1) return std::nullopt;
  const int32_t weight = query[0].weight;
  if (query != LinearQuery{{0, weight}, {1, weight}}) return std::nullopt;
  return MeasuredParity{.set = {}, .weight = weight};
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

constexpr AnswerError kNoError{.variance_factor = 0, .terms = 0, .fourth_factor = 0};

// A further value enters with this weight.
void AddTo(AnswerError& error, double weight) {
  const double square = weight * weight;
  error.variance_factor += square;
  error.fourth_factor += square * square;
}

}  // namespace

QueryGroup ParityGroup(const AttributeSet& set, int32_t weight, uint32_t attribute) {
  QueryGroup group{.attributes = set.empty() ? AttributeSet{attribute} : set, .queries = EveryCell()};
  if (set.empty()) {
    group.queries = std::vector<LinearQuery>{{{0, weight}, {1, weight}}};
  } else {
    group.queries = Parity{weight};
  }
  return group;
}

std::optional<ParityReader> ParityReader::Create(std::span<const QueryGroup> measured) {
  std::vector<AttributeSet> sets;
  std::vector<double> weights;
  for (const QueryGroup& group : measured) {
    std::optional<MeasuredParity> parity = ParityOf(group);
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
  return !group.attributes.empty() && positions_.Find(group.attributes).has_value();
}

uint32_t ParityReader::PositionOf(const AttributeSet& marginal) const {
  return positions_.SubsetsOf(marginal).back();
}

AnswerError ParityReader::ErrorOfCells(const AttributeSet& marginal) const {
  const std::vector<uint32_t> subsets = positions_.SubsetsOf(marginal);
  AnswerError error = kNoError;
  for (const uint32_t subset : subsets)
    AddTo(error, 1 / (weights_[subset] * static_cast<double>(subsets.size())));
  return error;
}

std::vector<WeightedValues> ParityReader::WeightsInCells(const AttributeSet& marginal) const {
  const std::vector<uint32_t> subsets = positions_.SubsetsOf(marginal);
  std::vector<WeightedValues> weights;
  for (const uint32_t subset : subsets)
    weights.push_back({.weight = 1 / (weights_[subset] * static_cast<double>(subsets.size())), .count = 1});
  return Compacted(std::move(weights));
}

std::vector<AnswerError> ParityReader::ErrorsOf(const Domain& domain, const QueryGroup& group) const {
  if (std::holds_alternative<EveryCell>(group.queries)) return {ErrorOfCells(group.attributes)};
  const std::vector<uint32_t> subsets = positions_.SubsetsOf(group.attributes);
  std::vector<AnswerError> errors(static_cast<size_t>(NumberOfQueries(domain, group)), kNoError);
  for (size_t subset = 0; subset < subsets.size(); ++subset) {
    // What the measured value, if it were 1 and all others 0, would add to the cells, and to the answers.
    std::vector<double> cells(subsets.size());
    cells[CellOf(subset, group.attributes.size())] =
        1 / (weights_[subsets[subset]] * static_cast<double>(subsets.size()));
    Transform(cells);
    const std::vector<double> weights = AnswersFromEstimates(domain, group, cells);
    for (size_t i = 0; i < errors.size(); ++i) AddTo(errors[i], weights[i]);
  }
  return errors;
}

std::vector<double> ParityReader::AnswersOf(const Domain& domain, const QueryGroup& group,
                                            std::span<const std::vector<int64_t>> values) const {
  const std::vector<uint32_t> subsets = positions_.SubsetsOf(group.attributes);
  std::vector<double> cells(subsets.size());
  for (size_t subset = 0; subset < subsets.size(); ++subset) {
    const uint32_t place = subsets[subset];
    cells[CellOf(subset, group.attributes.size())] =
        static_cast<double>(values[place].front()) / (weights_[place] * static_cast<double>(subsets.size()));
  }
  Transform(cells);
  return AnswersFromEstimates(domain, group, cells);
}

}  // namespace curator::dp
