#include "dp/workload/memory_forecast.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "dp/domain/attribute_set.h"
#include "dp/queries/product_queries.h"
#include "dp/workload/residual/axis_choice.h"
#include "dp/workload/residual/residual_errors.h"
#include "dp/workload/residual/residual_plan.h"

namespace curator::dp {
namespace {

constexpr int64_t kPerRequest = 4'000'000;
constexpr int64_t kPerSet = 2'000;
constexpr int64_t kPerGroup = 1'600;
constexpr int64_t kPerMarginal = 900;  // a group that is a whole marginal
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
constexpr int64_t kPerClosedSet = 750;
constexpr int64_t kPerPairOfCodes = 168;
constexpr int64_t kMostOfPairs = int64_t{40} << 20;
constexpr int64_t kOfForms = int64_t{24} << 20;
constexpr int64_t kPerReadAnswer = 80;
constexpr int64_t kPerGroupCell = 8;       // of statistics: its group, in the set that is measured
constexpr int64_t kPerConditionCell = 24;  // of their condition, in all copies of a plan
constexpr int64_t kPerConditionByte = 6;   // of its words, likewise
constexpr int64_t kPerQuantileCode = 8;    // of a tree, which has at most kMostGroupCells
constexpr int64_t kPerMeasuredValue = 8;
constexpr int64_t kPerNoisyAnswer = 16;          // of queries: noise and value
constexpr int64_t kPerHeldCell = 12;             // that they are counted from
constexpr int64_t kPerCountedValue = 28;         // noise, counts and counters, where all are counted at once
constexpr int64_t kOfAPart = int64_t{48} << 20;  // the counts of products, a part of 2^20 cells at a time,
constexpr int64_t kPerCellOfAPart = 32;          // or one set that has more cells
constexpr int64_t kPerDecodedGroup = 600;        // in all copies of an answer that is read back
constexpr int64_t kMostDecodedGroups = int64_t{1} << 18;
constexpr int64_t kCopiesOfAModel = 3;
constexpr int64_t kCountersOfASet = int64_t{1} << 20;  // on the core that counts it
constexpr int64_t kMostOfCounters = int64_t{20} << 20;

bool AreWholeMarginals(std::span<const QueryGroup> groups) {
  return std::ranges::all_of(
      groups, [](const QueryGroup& group) { return std::holds_alternative<EveryCell>(group.queries); });
}

// The boxes, or the queries and their terms, of one group.
int64_t BytesOf(const Domain& domain, const QueryGroup& group) {
  int64_t bytes = kPerAttribute * AttributesBeyondAFew(group.attributes);
  bytes += std::holds_alternative<EveryCell>(group.queries) ? kPerMarginal : kPerGroup;
  if (const auto* boxes = std::get_if<Boxes>(&group.queries)) {
    bytes += kPerSide * static_cast<int64_t>(boxes->sides.size());
    bytes += kPerAnswer * NumberOfQueries(domain, group);
  } else if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries)) {
    for (const LinearQuery& query : *queries) bytes += kPerTerm * static_cast<int64_t>(query.size());
    bytes += kPerAnswer * NumberOfQueries(domain, group);
  }
  return bytes;
}

// A bound of the number of attribute sets that some are, with all subsets of each: of `own` sets, with up to
// `subsets` of them, over `attributes` attributes, `largest` in one set at most. All sets of fewer attributes
// are the smaller bound where most of them are subsets.
int64_t MostClosedSets(int64_t own, int64_t subsets, int64_t attributes, int64_t largest) {
  const auto most = static_cast<int64_t>(kMostResidualSets);
  int64_t smaller = own;
  int64_t of_size = 1;
  for (int64_t size = 0; size < largest && smaller < most; ++size) {
    smaller += of_size;
    of_size = of_size * (attributes - size) / (size + 1);  // below 2^18 times 2^12
  }
  return std::min({most, subsets, smaller});
}

// Whether a plan may look at residuals or parities, of which there are as many, for these sets: their noise
// is not known.
bool MayBeJoint(const Domain& domain, std::span<const QuerySet> sets) {
  const auto fits = [&](const QueryGroup& group) {
    if (!CanReadFromResiduals(group)) return false;
    const bool is_marginal = std::holds_alternative<EveryCell>(group.queries);
    return std::ranges::all_of(group.attributes, [&](uint32_t attribute) {
      const int64_t codes = domain.attributes()[attribute].size();
      return codes >= 2 && (is_marginal || codes <= kMostChosenCodes);
    });
  };
  return std::ranges::all_of(sets, [&](const QuerySet& set) {
    const bool may_be = IsJoint(set.strategy) || set.strategy == Strategy::kAuto;
    return may_be && std::ranges::all_of(set.groups, fits);
  });
}

// 0 where the sets cannot be measured so.
int64_t JointPlanningBytes(const Domain& domain, std::span<const QuerySet> sets) {
  if (!MayBeJoint(domain, sets)) return 0;
  int64_t own = 0;
  int64_t subsets = 1;
  int64_t pairs = 0;
  size_t largest = 0;
  std::vector<bool> named(domain.size());
  for (const QuerySet& set : sets) {
    for (const QueryGroup& group : set.groups) {
      ++own;
      subsets += int64_t{1} << std::min(group.attributes.size(), kMostProductAxes);
      largest = std::max(largest, group.attributes.size());
      for (const uint32_t attribute : group.attributes) named[attribute] = true;
      if (std::holds_alternative<EveryCell>(group.queries)) continue;
      for (const uint32_t attribute : group.attributes) {
        const int64_t codes = std::min(kMostChosenCodes, domain.attributes()[attribute].size());
        pairs += codes * codes;
      }
    }
  }
  const int64_t closed =
      MostClosedSets(own, subsets, std::ranges::count(named, true), static_cast<int64_t>(largest));
  return kPerClosedSet * closed + std::min(kMostOfPairs, kPerPairOfCodes * pairs) + kOfForms;
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
  return bytes + JointPlanningBytes(domain, sets) + kPerCell * cells +
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

namespace {

// The kernel counts whole marginals alone one by one. Of other groups it holds the counts of all of their
// sets.
int64_t CountingBytesOf(const Domain& domain, const WorkloadShape& shape) {
  if (shape.residual) {
    int64_t largest = 0;
    for (const ProductGroup& group : shape.residual->queries.groups)
      largest = std::max(largest, domain.CellCount(group.attributes).value_or(0));
    return kPerMeasuredValue * shape.measured_values + std::max(kOfAPart, kPerCellOfAPart * largest);
  }
  const std::vector<QueryGroup>& measured = shape.joint.measured;
  if (AreWholeMarginals(measured)) return kPerCountedValue * shape.measured_values;
  std::set<AttributeSet> sets;
  int64_t cells = 0;
  for (const QueryGroup& group : measured) {
    if (sets.insert(group.attributes).second) cells += domain.CellCount(group.attributes).value_or(0);
  }
  return kPerNoisyAnswer * shape.measured_values + kPerHeldCell * cells;
}

}  // namespace

// Step after step: values are counted with their noise and encoded; the encoded bytes are stored, and
// returned by the store; and they are decoded again.
int64_t AnswerBytes(const Domain& domain, const WorkloadShape& shape, int64_t encoded_bytes) {
  int64_t groups = 0;
  for (const QuerySet& set : shape.asked) groups += std::ssize(set.groups);
  const int64_t counted =
      shape.residual ? std::ssize(shape.residual->queries.groups) : std::ssize(shape.joint.measured);
  const int64_t values = kPerMeasuredValue * shape.measured_values;
  const int64_t decoded = values + kPerDecodedGroup * (groups + counted);
  return kPerRequest + std::min(kMostOfCounters, kCountersOfASet * counted) +
         std::max({CountingBytesOf(domain, shape), values + encoded_bytes, 2 * encoded_bytes,
                   encoded_bytes + decoded});
}

// A stored value has eight bytes, and as many when it is decoded. A stored group has less than when it is
// decoded.
int64_t StoredAnswerBytes(int64_t stored_bytes) {
  constexpr int64_t kPerStoredByte = 7;  // of small groups
  return kPerRequest +
         std::min(kPerStoredByte * stored_bytes, 3 * stored_bytes + kPerDecodedGroup * kMostDecodedGroups);
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
  return kPerRequest + kCopiesOfAModel * stored_bytes;
}

}  // namespace curator::dp
