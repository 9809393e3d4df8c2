#include "dp/queries/group_marginals.h"

#include <algorithm>
#include <functional>

#include "base/status_macros.h"

namespace curator::dp {
namespace {

constexpr size_t kMostGroupMarginals = size_t{1} << 18;

absl::Status CheckMean(const Domain& domain, const MeanBins& mean) {
  RETURN_IF_ERROR(domain.CheckSet({mean.attribute}));
  const bool rises = std::ranges::adjacent_find(mean.least, std::greater_equal<>()) == mean.least.end();
  if (!mean.least.empty() && mean.least.size() <= kMostMeanBins && mean.least.front() == 0 && rises)
    return absl::OkStatus();
  return absl::InvalidArgumentError("bins of a mean must rise from 0, at most 64 of them");
}

}  // namespace

int64_t CellsOf(const Domain& domain, const GroupMarginal& marginal) {
  const auto bins = marginal.mean ? static_cast<int64_t>(marginal.mean->least.size()) : 1;
  return domain.CellCount(marginal.attributes).value_or(kMostCellsOfGroups) * bins;
}

absl::Status ValidateGroupMarginals(const Domain& domain, std::span<const GroupMarginal> marginals) {
  if (marginals.empty() || marginals.size() > kMostGroupMarginals)
    return absl::InvalidArgumentError("there must be at least one marginal of groups, and at most 2^18");
  int64_t left = kMostCellsOfGroups;
  for (const GroupMarginal& marginal : marginals) {
    RETURN_IF_ERROR(domain.CheckSet(marginal.attributes));
    if (marginal.mean) RETURN_IF_ERROR(CheckMean(domain, *marginal.mean));
    if (marginal.attributes.empty() && !marginal.mean)
      return absl::InvalidArgumentError("a marginal of groups must have an attribute or a mean");
    if (domain.CellCount(marginal.attributes).value_or(kMostCellsOfGroups + 1) > kMostCellsOfGroups)
      return absl::InvalidArgumentError("a marginal of groups has more than 2^26 cells");
    left -= CellsOf(domain, marginal);
    if (left < 0) return absl::InvalidArgumentError("marginals of groups have more than 2^26 cells");
  }
  return absl::OkStatus();
}

}  // namespace curator::dp
