#include "dp/kernel/group_sizes.h"

#include <algorithm>
#include <functional>

namespace curator::dp {

absl::Status CheckSizeBins(std::span<const int64_t> least_sizes) {
  const bool rises = std::ranges::adjacent_find(least_sizes, std::greater_equal<>()) == least_sizes.end();
  if (!least_sizes.empty() && least_sizes.size() <= size_t{1} << 16 && least_sizes.front() == 1 && rises)
    return absl::OkStatus();
  return absl::InvalidArgumentError("bins of group sizes must rise from 1, at most 65536 of them");
}

Sensitivity GroupSizesSensitivity(NeighbourRelation relation, GroupRole role, size_t bins) {
  if (bins == 1) return {.l1 = 1, .l2_squared = 1, .linf = 1};
  const bool replaces = relation == NeighbourRelation::kReplaceOne;
  if (role == GroupRole::kUnit) {
    return replaces ? Sensitivity{.l1 = 2, .l2_squared = 2, .linf = 1}
                    : Sensitivity{.l1 = 1, .l2_squared = 1, .linf = 1};
  }
  return replaces ? Sensitivity{.l1 = 4, .l2_squared = 8, .linf = 2}
                  : Sensitivity{.l1 = 2, .l2_squared = 2, .linf = 1};
}

absl::Status CheckRole(GroupRole role, const SealedTable& table) {
  const bool fits = role == GroupRole::kUnit ? table.units().has_value()
                                             : table.groups().has_value() && !table.units().has_value();
  if (fits) return absl::OkStatus();
  return absl::FailedPreconditionError(role == GroupRole::kUnit
                                           ? "the table does not say which records belong to the same unit"
                                           : "the table does not have records that are units of their own "
                                             "and lie in groups");
}

std::vector<int64_t> GroupSizes(const SealedTable& table, std::span<const int64_t> least_sizes) {
  const ReadableScope readable(table);
  std::vector<int64_t> sizes(static_cast<size_t>(table.groups().value_or(0)));
  for (const uint32_t group : readable.group_of_row()) ++sizes[group];
  std::vector<int64_t> counts(least_sizes.size());
  for (const int64_t size : sizes) {
    if (size == 0) continue;
    const auto above = std::ranges::upper_bound(least_sizes, size);
    ++counts[static_cast<size_t>(above - least_sizes.begin()) - 1];
  }
  return counts;
}

}  // namespace curator::dp
