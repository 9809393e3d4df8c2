#include "dp/synthesis/models/structural_zeros.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dp/domain/attribute_set.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/models/clique_tables.h"
#include "dp/synthesis/models/clique_tree.h"

namespace curator::dp {
namespace {

AttributeSet PairOf(const Constraint& constraint) {
  return {constraint.attributes()[0], constraint.attributes()[1]};
}

}  // namespace

std::vector<size_t> HeldConstraints(const Domain& domain, const AttributeSet& attributes, int64_t max_cells,
                                    int64_t max_separator) {
  std::vector<size_t> between;
  AttributeSet constrained;
  for (size_t i = 0; i < domain.constraints().size(); ++i) {
    const AttributeSet pair = PairOf(domain.constraints()[i]);
    if (!IsSubset(pair, attributes)) continue;
    between.push_back(i);
    constrained = Union(constrained, pair);
  }
  if (between.empty()) return {};
  // All other attributes are cliques by themselves: only the constrained ones, of which there are few, take
  // steps.
  int64_t cells = max_cells;
  for (const int64_t size : domain.SizesOf(Difference(attributes, constrained))) cells -= size;
  CliqueGraph graph(domain, constrained);
  std::vector<size_t> held;
  for (const size_t i : between) {
    const AttributeSet pair = PairOf(domain.constraints()[i]);
    if (!graph.HasRoomFor(pair, cells, max_separator)) continue;
    graph.Connect(pair);
    held.push_back(i);
  }
  return held;
}

std::vector<AttributeSet> PairsOf(const Domain& domain, const std::vector<size_t>& held) {
  std::vector<AttributeSet> pairs;
  for (const size_t i : held) pairs.push_back(PairOf(domain.constraints()[i]));
  return pairs;
}

std::vector<LogFactor> ZerosOf(const Domain& domain, const std::vector<size_t>& held) {
  std::vector<LogFactor> zeros;
  for (const size_t i : held) {
    const Constraint& constraint = domain.constraints()[i];
    LogFactor& factor = zeros.emplace_back();
    factor.set = PairOf(constraint);
    const auto rows = static_cast<uint32_t>(domain.attributes()[factor.set[0]].size());
    const auto columns = static_cast<uint32_t>(domain.attributes()[factor.set[1]].size());
    for (uint32_t first = 0; first < rows; ++first) {
      for (uint32_t second = 0; second < columns; ++second)
        factor.logarithms.push_back(constraint.Forbids(first, second) ? kLogOfZero : 0);
    }
  }
  return zeros;
}

std::vector<std::string> DescribeConstraints(const Domain& domain, const AttributeSet& attributes,
                                             const std::vector<size_t>& held) {
  std::vector<std::string> kept;
  std::vector<std::string> broken;
  for (size_t i = 0; i < domain.constraints().size(); ++i) {
    const AttributeSet pair = PairOf(domain.constraints()[i]);
    if (!IsSubset(pair, attributes)) continue;
    (std::ranges::binary_search(held, i) ? kept : broken).push_back(NamesOf(domain, pair));
  }
  std::vector<std::string> lines;
  if (!kept.empty())
    lines.push_back(absl::StrCat("no record breaks the constraints between: ", absl::StrJoin(kept, "; ")));
  if (!broken.empty()) {
    lines.push_back(
        absl::StrCat("warning: records may break the constraints between: ", absl::StrJoin(broken, "; ")));
  }
  return lines;
}

}  // namespace curator::dp
