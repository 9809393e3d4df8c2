#include "dp/workload/answer_reader.h"

#include <utility>

#include "dp/workload/sum_out.h"

namespace curator::dp {
namespace {

// Whether answers over `attributes` are read from the measured values as they are.
bool NeedsNoTable(const AttributeSet& attributes, const SetPlan& plan, const QueryGroup& source) {
  if (plan.strategy == Strategy::kTree) return false;
  return plan.strategy != Strategy::kBaseHistogram || attributes == source.attributes;
}

}  // namespace

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
  if (NeedsNoTable(group.attributes, plan, measured_[source]))
    return {.counts = AnswersFromCounts(domain_, group, values), .estimates = {}};
  const Table& table = TableFor(group.attributes, plan, source);
  if (table.tree) return {.counts = {}, .estimates = AnswersFromEstimates(domain_, group, table.estimates)};
  return {.counts = AnswersFromCounts(domain_, group, table.sums), .estimates = {}};
}

std::vector<AnswerError> AnswerReader::ErrorsOf(const QueryGroup& group, const SetPlan& plan, size_t source) {
  if (plan.strategy != Strategy::kTree) return dp::ErrorsOf(domain_, group, plan, measured_[source]);
  return TreeErrors(*TableFor(group.attributes, plan, source).tree, group);
}

const IntervalTree* AnswerReader::TreeOf(const QueryGroup& group, const SetPlan& plan, size_t source) {
  if (plan.strategy != Strategy::kTree) return nullptr;
  return &*TableFor(group.attributes, plan, source).tree;
}

int64_t ReadingSteps(const Domain& domain, std::span<const AskedSet> asked, std::span<const SetPlan> plans,
                     std::span<const QueryGroup> measured) {
  int64_t steps = 0;
  std::map<size_t, AttributeSet> tables;  // as a reader has them; a measured group has one strategy
  for (size_t set = 0; set < asked.size(); ++set) {
    const std::vector<QueryGroup>& groups = asked[set].queries.groups;
    for (size_t i = 0; i < groups.size(); ++i) {
      const size_t source = plans[set].sources[i];
      if (NeedsNoTable(groups[i].attributes, plans[set], measured[source])) continue;
      const auto [table, is_first] = tables.try_emplace(source, groups[i].attributes);
      if (!is_first && table->second == groups[i].attributes) continue;
      table->second = groups[i].attributes;
      steps += NumberOfQueries(domain, measured[source]);
    }
  }
  return steps;
}

}  // namespace curator::dp
