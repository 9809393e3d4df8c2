#include "dp/workload/memory_forecast.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "dp/domain/attribute_set.h"
#include "dp/queries/product_queries.h"
#include "dp/workload/residual/axis_choice.h"

namespace curator::dp {
namespace {

constexpr int64_t kPerRequest = 4'000'000;
constexpr int64_t kPerSet = 2'000;
constexpr int64_t kPerGroup = 1'600;
constexpr int64_t kPerAttribute = 48;  // of a wide set, in all copies of a plan
constexpr int64_t kPerSide = 56;       // of a box, in all copies of a plan
constexpr int64_t kPerTerm = 48;       // of a linear query, likewise
constexpr int64_t kPerAnswer = 48;     // its error
constexpr int64_t kPerTreeBin = 128;   // of the trees with 2, 4, 8, 16 and 32 branches
constexpr int64_t kPerCell = 40;       // the weights of a record, to find the largest
constexpr int64_t kBoundsPerSide = 4;
// Of what is measured by residuals: planning (residual/residual_plan.h) each set of attributes, each number
// of the Gram matrices and the solver (residual/axis_choice.h), and each error of the worst answer; and
// reading.
constexpr int64_t kPerClosedSet = 600;
constexpr int64_t kMostClosedSets = int64_t{1} << 18;
constexpr int64_t kPerPairOfCodes = 168;
constexpr int64_t kMostOfPairs = int64_t{40} << 20;
constexpr int64_t kOfForms = int64_t{24} << 20;
constexpr int64_t kPerReadAnswer = 80;
constexpr int64_t kPerGroupCell = 8;       // of statistics: its group, in the set that is measured
constexpr int64_t kPerConditionCell = 24;  // of their condition, in all copies of a plan
constexpr int64_t kPerConditionByte = 6;   // of its words, likewise
constexpr int64_t kPerQuantileCode = 8;    // of a tree, which has at most kMostGroupCells
constexpr int64_t kPerMeasuredValue = 32;
constexpr int64_t kCopiesOfARelease = 3;
constexpr int64_t kCountersOfASet = int64_t{1} << 20;  // on the core that counts it
constexpr int64_t kMostOfCounters = int64_t{20} << 20;

// The boxes, or the queries and their terms, of one group.
int64_t BytesOf(const Domain& domain, const QueryGroup& group) {
  int64_t bytes = kPerGroup + kPerAttribute * AttributesBeyondAFew(group.attributes);
  if (const auto* boxes = std::get_if<Boxes>(&group.queries)) {
    bytes += kPerSide * static_cast<int64_t>(boxes->sides.size());
    bytes += kPerAnswer * NumberOfQueries(domain, group);
  } else if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries)) {
    for (const LinearQuery& query : *queries) bytes += kPerTerm * static_cast<int64_t>(query.size());
    bytes += kPerAnswer * NumberOfQueries(domain, group);
  }
  return bytes;
}

// 0 where no set is measured so.
int64_t ResidualPlanningBytes(const Domain& domain, std::span<const QuerySet> sets) {
  if (std::ranges::none_of(sets, [](const QuerySet& set) { return set.strategy == Strategy::kResidual; }))
    return 0;
  int64_t closed = 1;
  int64_t pairs = 0;
  for (const QuerySet& set : sets) {
    for (const QueryGroup& group : set.groups) {
      closed += int64_t{1} << std::min(group.attributes.size(), kMostProductAxes);
      if (std::holds_alternative<EveryCell>(group.queries)) continue;
      for (const uint32_t attribute : group.attributes) {
        const int64_t codes = std::min(kMostChosenCodes, domain.attributes()[attribute].size());
        pairs += codes * codes;
      }
    }
  }
  return kPerClosedSet * std::min(kMostClosedSets, closed) + std::min(kMostOfPairs, kPerPairOfCodes * pairs) +
         kOfForms;
}

}  // namespace

int64_t PlanningBytes(const Domain& domain, std::span<const QuerySet> sets) {
  int64_t bytes = kPerRequest;
  int64_t tree_bins = 0;
  std::set<AttributeSet> weighted;  // the attribute sets of queries
  int64_t cells = 0;                // of these
  int64_t most_bounds = 0;          // of the bins that some box distinguishes
  bool are_boxes = true;
  for (const QuerySet& set : sets) {
    bytes += kPerSet;
    for (const QueryGroup& group : set.groups) {
      bytes += BytesOf(domain, group);
      if (std::holds_alternative<EveryCell>(group.queries)) continue;
      if (weighted.insert(group.attributes).second) cells += domain.CellCount(group.attributes).value_or(0);
      const auto* boxes = std::get_if<Boxes>(&group.queries);
      are_boxes = are_boxes && boxes != nullptr;
      if (boxes != nullptr) most_bounds += kBoundsPerSide * static_cast<int64_t>(boxes->sides.size());
    }
    const QueryGroup& first = set.groups.front();
    if (first.attributes.size() != 1 || !std::holds_alternative<Boxes>(first.queries)) continue;
    const int64_t bins = domain.attributes()[first.attributes[0]].size();
    if (bins <= kMostTreeBins) tree_bins += bins;
  }
  // Few boxes over one attribute set are counted over the bins that they distinguish (QueriesSensitivity()).
  if (are_boxes && weighted.size() == 1) cells = std::min(cells, most_bounds);
  return bytes + ResidualPlanningBytes(domain, sets) + kPerCell * cells +
         kPerTreeBin * std::min(tree_bins, kMostTreeBins);
}

int64_t StatisticsPlanningBytes(const Domain& domain, std::span<const AskedStatistics> sets) {
  int64_t bytes = kPerRequest;
  int64_t most_codes = 0;  // of the quantiles, whose errors are found one after another
  for (const AskedStatistics& asked : sets) {
    for (const Statistic& statistic : asked.statistics) {
      if (statistic.kind == StatisticKind::kQuantile)
        most_codes = std::max(most_codes, std::min(kMostGroupCells, CodesOf(domain, *statistic.column)));
    }
    AttributeSet attributes;
    std::ranges::set_union(asked.by, asked.where, std::back_inserter(attributes));
    const int64_t cells = domain.CellCount(attributes).value_or(kMostGroupCells);
    bytes += kPerSet + kPerGroupCell * cells + kPerConditionCell * std::ssize(asked.cells) +
             kPerConditionByte * std::ssize(asked.condition) + kPerGroup * std::ssize(asked.statistics);
  }
  return bytes + kPerQuantileCode * most_codes;
}

int64_t AnswerBytes(const WorkloadShape& shape, int64_t encoded_bytes) {
  const int64_t counted =
      shape.residual ? std::ssize(shape.residual->queries.groups) : std::ssize(shape.joint.measured);
  return kPerRequest + std::min(kMostOfCounters, kCountersOfASet * counted) +
         kPerMeasuredValue * shape.measured_values + kCopiesOfARelease * encoded_bytes;
}

int64_t StoredAnswerBytes(int64_t stored_bytes) {
  // A stored value has eight bytes.
  return kPerRequest + (kCopiesOfARelease + kPerMeasuredValue / 8) * stored_bytes;
}

int64_t ResidualReadingBytes(const Domain& domain, std::span<const AskedSet> asked) {
  int64_t most = 0;  // answers of a group, or cells that they are read from
  for (const AskedSet& set : asked) {
    for (const QueryGroup& group : set.queries.groups)
      most = std::max({most, NumberOfQueries(domain, group), domain.CellCount(group.attributes).value_or(0)});
  }
  return kPerReadAnswer * most;
}

int64_t ConditionBytes(int64_t cells) {
  constexpr int64_t kPerReadCell = 16;  // as it is read, and a copy to answer from
  return kPerReadCell * cells;
}

int64_t StoredModelBytes(int64_t stored_bytes) {
  return kPerRequest + kCopiesOfARelease * stored_bytes;
}

}  // namespace curator::dp
