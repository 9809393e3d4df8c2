#include "dp/workload/answer_reader.h"

#include <utility>

#include "dp/workload/sum_out.h"

namespace curator::dp {
namespace {

// Whether answers over `attributes` are read from the measured values as they are.
bool NeedsNoTable(const AttributeSet& attributes, const SetPlan& plan, const QueryGroup& source) {
  if (plan.strategy == Strategy::kTree || plan.strategy == Strategy::kParity) return false;
  return plan.strategy != Strategy::kBaseHistogram || attributes == source.attributes;
}

}  // namespace

std::vector<AnswerError> MeasuredErrors::Of(const QueryGroup& group, const SetPlan& plan, size_t source) {
  if (plan.strategy != Strategy::kParity) return ErrorsOf(domain_, group, plan, measured_[source]);
  return parities().ErrorsOf(domain_, group);
}

const ParityReader& MeasuredErrors::parities() {
  if (!parities_) parities_ = ParityReader::Create(measured_);
  return parities_.value();
}

EstimateWeights MeasuredErrors::WeightsOf(const QueryGroup& group) {
  if (!std::holds_alternative<EveryCell>(group.queries)) return nullptr;
  return [read = &parities(), &group](const AnswerError&) { return read->WeightsInCells(group.attributes); };
}

const AnswerReader::Table& AnswerReader::TableFor(const AttributeSet& attributes, const SetPlan& plan,
                                                  size_t source) {
  Table& table = tables_[source];
  if (table.strategy == plan.strategy && table.branching == plan.branching && table.attributes == attributes)
    return table;
  table = {.strategy = plan.strategy,
           .branching = plan.branching,
           .attributes = attributes,
           .sums = {},
           .tree = std::nullopt,
           .estimates = {}};
  const std::vector<int64_t>& values = values_[source];
  steps_ += static_cast<int64_t>(values.size());
  if (plan.strategy == Strategy::kTree) {
    table.tree.emplace(*domain_.CellCount(attributes), plan.branching);
    table.estimates = table.tree->EstimateBins(values);
  } else {
    table.sums = SumOut(domain_, measured_[source].attributes, values, attributes);
  }
  return table;
}

GroupAnswers AnswerReader::AnswersOf(const QueryGroup& group, const SetPlan& plan, size_t source) {
  const std::vector<int64_t>& values = values_[source];
  if (plan.strategy == Strategy::kDirect) return {.counts = values, .estimates = {}};
  if (plan.strategy == Strategy::kParity)
    return {.counts = {}, .estimates = errors_.parities().AnswersOf(domain_, group, values_)};
  if (NeedsNoTable(group.attributes, plan, measured_[source]))
    return {.counts = AnswersFromCounts(domain_, group, values), .estimates = {}};
  const Table& table = TableFor(group.attributes, plan, source);
  if (table.tree) return {.counts = {}, .estimates = AnswersFromEstimates(domain_, group, table.estimates)};
  return {.counts = AnswersFromCounts(domain_, group, table.sums), .estimates = {}};
}

std::vector<AnswerError> AnswerReader::ErrorsOf(const QueryGroup& group, const SetPlan& plan, size_t source) {
  if (plan.strategy != Strategy::kTree) return errors_.Of(group, plan, source);
  return TreeErrors(*TableFor(group.attributes, plan, source).tree, group);
}

EstimateWeights AnswerReader::WeightsOf(const QueryGroup& group, const SetPlan& plan, size_t source) {
  if (plan.strategy == Strategy::kParity) return errors_.WeightsOf(group);
  if (plan.strategy != Strategy::kTree) return nullptr;
  return WeightsIn(*TableFor(group.attributes, plan, source).tree);
}

int64_t ReadingSteps(const Domain& domain, std::span<const AskedSet> asked, std::span<const SetPlan> plans,
                     std::span<const QueryGroup> measured) {
  int64_t steps = 0;
  std::map<size_t, AttributeSet> tables;  // as a reader has them; a measured group has one strategy
  for (size_t set = 0; set < asked.size(); ++set) {
    const std::vector<QueryGroup>& groups = asked[set].queries.groups;
    for (size_t i = 0; i < groups.size(); ++i) {
      const size_t source = plans[set].sources[i];
      if (plans[set].strategy == Strategy::kParity) {
        steps += NumberOfQueries(domain, groups[i]) + domain.CellCount(groups[i].attributes).value_or(0);
        continue;
      }
      if (NeedsNoTable(groups[i].attributes, plans[set], measured[source])) continue;
      const auto [table, is_first] = tables.try_emplace(source, groups[i].attributes);
      if (!is_first && table->second == groups[i].attributes) continue;
      table->second = groups[i].attributes;
      steps += NumberOfQueries(domain, measured[source]);
    }
  }
  return steps;
}

int64_t ResidualReadingSteps(const Domain& domain, std::span<const AskedSet> asked,
                             const ProductQueries& queries) {
  constexpr int64_t kWeightsOfAStep = 8;
  std::map<uint32_t, int64_t> steps_of;  // for each cell along the axis of an attribute
  for (const ProductGroup& group : queries.groups) {
    for (size_t i = 0; i < group.axes.size(); ++i) {
      const bool is_helmert = queries.axes[group.axes[i]].weights.empty();
      const int64_t codes = domain.attributes()[group.attributes[i]].size();
      steps_of[group.attributes[i]] = is_helmert ? 1 : 1 + codes / kWeightsOfAStep;
    }
  }
  int64_t steps = 0;
  const AttributeSet* last = nullptr;
  for (const AskedSet& set : asked) {
    for (const QueryGroup& group : set.queries.groups) {
      if (last != nullptr && *last == group.attributes) continue;
      last = &group.attributes;
      int64_t of_cell = 1;
      for (const uint32_t attribute : group.attributes) of_cell += steps_of[attribute];
      steps += domain.CellCount(group.attributes).value_or(0) * of_cell;
    }
  }
  return steps;
}

}  // namespace curator::dp
