#include "dp/workload/sum_out.h"

#include "dp/domain/row_major.h"

namespace curator::dp {

std::vector<int64_t> SumOut(const Domain& domain, const AttributeSet& from, std::span<const int64_t> cells,
                            const AttributeSet& to) {
  if (from == to) return {cells.begin(), cells.end()};
  const std::vector<int64_t> sizes = domain.SizesOf(from);
  const std::vector<int64_t> strides = StridesWithin(from, sizes, to);
  int64_t all = 1;
  for (const int64_t size : domain.SizesOf(to)) all *= size;
  std::vector<uint64_t> sums(static_cast<size_t>(all));
  std::vector<int64_t> codes(from.size());
  int64_t place = 0;
  for (const int64_t cell : cells) {
    sums[static_cast<size_t>(place)] += static_cast<uint64_t>(cell);
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
