#include "dp/synthesis/synthesis_workload.h"

#include <algorithm>
#include <set>
#include <string>
#include <variant>

#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/workload/marginals.h"

namespace curator::dp {
namespace {

bool IsWholeMarginal(const QueryGroup& group) {
  return std::holds_alternative<EveryCell>(group.queries);
}

}  // namespace

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
  std::vector<AttributeSet> sets;
  std::set<AttributeSet> seen;
  for (const QueryGroup& group : workload) {
    if (seen.insert(group.attributes).second) sets.push_back(group.attributes);
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
  if (!marginals.empty()) RETURN_IF_ERROR(ValidateMarginals(domain, marginals));
  if (others.empty()) return absl::OkStatus();
  const absl::Status valid = ValidateQueries(domain, others);
  return valid.ok() ? valid : InvalidField("workload", std::string(valid.message()));
}

}  // namespace curator::dp
