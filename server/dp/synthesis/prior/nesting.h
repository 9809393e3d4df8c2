// Which region each group lies in.
//
// Thread-safe: pure functions of public data.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/data/public_table.h"
#include "dp/domain/domain.h"

namespace curator::dp {

struct GroupsInRegions {
  AttributeSet group_key;  // whose cells are the groups
  std::vector<int64_t> region_of_group;
};

// Where the public table has every group's records in one region only (a PUMA lies in one state), the groups
// are the cells of the group attributes, each in that region; a group without public records lies in the
// region that has most of them. Otherwise the groups are the cells of region and group attributes together.
// Errors: INVALID_ARGUMENT ("settings.group") for more than `most_groups` of them.
absl::StatusOr<GroupsInRegions> FindNesting(const Domain& domain, const PublicTable& table,
                                            const AttributeSet& region, const AttributeSet& group,
                                            int64_t most_groups);

// The codes of the attributes of `set` in one of its cells.
std::vector<uint32_t> CodesOfCell(const Domain& domain, const AttributeSet& set, int64_t cell);

}  // namespace curator::dp
