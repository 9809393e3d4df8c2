#include "dp/synthesis/prior/nesting.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/data/count_marginals.h"
#include "dp/synthesis/prior/prior_schedule.h"

namespace curator::dp {
namespace {

// The cell of `set` that a cell of `whole`, which contains it, lies in.
int64_t CellWithin(const Domain& domain, const AttributeSet& whole, int64_t cell, const AttributeSet& set) {
  const std::vector<uint32_t> codes = CodesOfCell(domain, whole, cell);
  int64_t within = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (!std::ranges::binary_search(set, whole[i])) continue;
    within = within * domain.attributes()[whole[i]].size() + codes[i];
  }
  return within;
}

absl::StatusOr<int64_t> CountGroups(const Domain& domain, const AttributeSet& key, int64_t most) {
  const std::optional<int64_t> cells = domain.CellCount(key);
  if (cells && *cells <= most) return *cells;
  return InvalidField("settings.group",
                      absl::StrCat("makes ", cells ? absl::StrCat(*cells) : std::string("more than 2^62"),
                                   " groups; at most ", most, " can be estimated"));
}

}  // namespace

std::vector<uint32_t> CodesOfCell(const Domain& domain, const AttributeSet& set, int64_t cell) {
  std::vector<uint32_t> codes(set.size());
  for (size_t i = set.size(); i-- > 0;) {
    const int64_t size = domain.attributes()[set[i]].size();
    codes[i] = static_cast<uint32_t>(cell % size);
    cell /= size;
  }
  return codes;
}

absl::StatusOr<GroupsInRegions> FindNesting(const Domain& domain, const PublicTable& table,
                                            const AttributeSet& region, const AttributeSet& group,
                                            int64_t most_groups) {
  const AttributeSet both = UnitedSet(region, group);
  ASSIGN_OR_RETURN(const int64_t groups, CountGroups(domain, group, most_groups));
  ASSIGN_OR_RETURN(const int64_t crossed, CountGroups(domain, both, kMaxCountedCells));
  GroupsInRegions nesting{.group_key = group,
                          .region_of_group = std::vector<int64_t>(static_cast<size_t>(groups))};
  if (region.empty()) return nesting;
  ASSIGN_OR_RETURN(const std::vector<int64_t> counts, CountMarginal(table, domain, both));
  ASSIGN_OR_RETURN(const std::vector<int64_t> region_counts, CountMarginal(table, domain, region));
  const int64_t largest = std::ranges::max_element(region_counts) - region_counts.begin();
  std::vector<int64_t> found(static_cast<size_t>(groups), -1);
  bool nested = true;
  for (int64_t cell = 0; cell < crossed; ++cell) {
    if (counts[static_cast<size_t>(cell)] == 0) continue;
    int64_t& its_region = found[static_cast<size_t>(CellWithin(domain, both, cell, group))];
    const int64_t here = CellWithin(domain, both, cell, region);
    nested = nested && (its_region < 0 || its_region == here);
    its_region = here;
  }
  if (nested) {
    for (size_t i = 0; i < found.size(); ++i) nesting.region_of_group[i] = found[i] < 0 ? largest : found[i];
    return nesting;
  }
  RETURN_IF_ERROR(CountGroups(domain, both, most_groups).status());
  nesting.group_key = both;
  nesting.region_of_group.resize(static_cast<size_t>(crossed));
  for (int64_t cell = 0; cell < crossed; ++cell)
    nesting.region_of_group[static_cast<size_t>(cell)] = CellWithin(domain, both, cell, region);
  return nesting;
}

}  // namespace curator::dp
