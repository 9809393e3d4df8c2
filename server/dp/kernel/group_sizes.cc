#include "dp/kernel/group_sizes.h"

#include <algorithm>

namespace curator::dp {

absl::Status CheckRole(GroupRole role, const SealedTable& table) {
  const bool fits = role == GroupRole::kUnit ? table.units().has_value()
                                             : table.groups().has_value() && !table.units().has_value();
  if (fits) return absl::OkStatus();
  return absl::FailedPreconditionError(role == GroupRole::kUnit
                                           ? "the table does not identify the unit of each record"
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
