#include "dp/synthesis/synthesis_workload.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "base/errors.h"
#include "base/status_macros.h"

namespace curator::dp {
namespace {

// The cells of one box of a marginal of these sizes, rising.
LinearQuery QueryOfBox(std::span<const int64_t> sizes, std::span<const CodeInterval> box) {
  LinearQuery cells = {{0, 1}};
  for (size_t side = 0; side < sizes.size(); ++side) {
    LinearQuery longer;
    longer.reserve(cells.size() * (box[side].last - box[side].first + 1));
    for (const WeightedCell& prefix : cells) {
      for (uint32_t code = box[side].first; code <= box[side].last; ++code)
        longer.push_back({prefix.cell * static_cast<uint32_t>(sizes[side]) + code, 1});
    }
    cells = std::move(longer);
  }
  return cells;
}

}  // namespace

bool IsWholeMarginal(const QueryGroup& group) {
  return std::holds_alternative<EveryCell>(group.queries);
}

QueryGroup SingleQuery(const QueryGroup& group, size_t index) {
  QueryGroup single{.attributes = group.attributes, .queries = {}};
  if (const auto* boxes = std::get_if<Boxes>(&group.queries)) {
    const size_t sides = group.attributes.size();
    const auto box = std::span(boxes->sides).subspan(index * sides, sides);
    single.queries = Boxes{{box.begin(), box.end()}};
  } else {
    single.queries = std::vector<LinearQuery>{std::get<std::vector<LinearQuery>>(group.queries).at(index)};
  }
  return single;
}

std::vector<LinearQuery> TermsOf(const Domain& domain, const QueryGroup& group) {
  if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries)) return *queries;
  const std::vector<int64_t> sizes = domain.SizesOf(group.attributes);
  const std::span<const CodeInterval> sides = std::get<Boxes>(group.queries).sides;
  std::vector<LinearQuery> terms;
  for (size_t at = 0; at < sides.size(); at += sizes.size())
    terms.push_back(QueryOfBox(sizes, sides.subspan(at, sizes.size())));
  return terms;
}

std::vector<QueryGroup> WholeMarginals(std::span<const AttributeSet> sets) {
  std::vector<QueryGroup> workload;
  workload.reserve(sets.size());
  for (const AttributeSet& set : sets) workload.push_back({.attributes = set, .queries = EveryCell()});
  return workload;
}

bool AreWholeMarginals(std::span<const QueryGroup> workload) {
  return std::ranges::all_of(workload, IsWholeMarginal);
}

std::vector<AttributeSet> SetsOf(std::span<const QueryGroup> workload) {
  const bool rise =
      std::ranges::adjacent_find(workload, std::greater_equal<>(), &QueryGroup::attributes) == workload.end();
  std::vector<AttributeSet> sets;
  std::set<AttributeSet> seen;
  for (const QueryGroup& group : workload) {
    if (rise || seen.insert(group.attributes).second) sets.push_back(group.attributes);
  }
  return sets;
}

absl::Status ValidateWorkload(const Domain& domain, std::span<const QueryGroup> workload) {
  if (workload.empty()) return InvalidField("workload", "asks for nothing");
  std::vector<AttributeSet> marginals;
  std::vector<QueryGroup> others;
  for (const QueryGroup& group : workload) {
    if (IsWholeMarginal(group)) {
      marginals.push_back(group.attributes);
    } else {
      others.push_back(group);
    }
  }
  if (!marginals.empty()) RETURN_IF_ERROR(ValidateMarginals(domain, marginals, kSynthesisLimits));
  if (others.empty()) return absl::OkStatus();
  const absl::Status valid = ValidateQueries(domain, others);
  return valid.ok() ? valid : InvalidField("workload", std::string(valid.message()));
}

}  // namespace curator::dp
