#include "dp/workload/sum_out.h"

#include <algorithm>

namespace curator::dp {

bool IsWithin(const AttributeSet& inner, const AttributeSet& outer) {
  return std::ranges::includes(outer, inner);
}

std::vector<int64_t> SumOut(const Domain& domain, const AttributeSet& from, std::span<const int64_t> cells,
                            const AttributeSet& to) {
  if (from == to) return {cells.begin(), cells.end()};
  std::vector<size_t> sizes;
  std::vector<size_t> strides(from.size(), 0);  // in `to`; 0 for an attribute that is summed out
  for (const uint32_t attribute : from)
    sizes.push_back(static_cast<size_t>(domain.attributes()[attribute].size()));
  size_t all = 1;
  for (size_t i = from.size(); i-- > 0;) {
    if (!std::ranges::binary_search(to, from[i])) continue;
    strides[i] = all;
    all *= sizes[i];
  }
  std::vector<uint64_t> sums(all);
  std::vector<size_t> codes(from.size());
  size_t place = 0;
  for (const int64_t cell : cells) {
    sums[place] += static_cast<uint64_t>(cell);
    for (size_t i = from.size(); i-- > 0;) {
      place += strides[i];
      if (++codes[i] < sizes[i]) break;
      place -= strides[i] * sizes[i];
      codes[i] = 0;
    }
  }
  return {sums.begin(), sums.end()};
}

}  // namespace curator::dp
