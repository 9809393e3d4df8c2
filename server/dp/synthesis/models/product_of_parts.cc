#include "dp/synthesis/models/product_of_parts.h"

#include <algorithm>

#include "base/status_macros.h"

namespace curator::dp {
namespace {

// For each attribute of `set`: how far apart a part's cells are that differ by one in it; 0 when it is not
// the part's.
std::vector<size_t> StridesIn(const Domain& domain, const AttributeSet& set, const IndependentPart& part) {
  std::vector<size_t> strides(set.size());
  size_t stride = 1;
  for (size_t i = part.attributes.size(); i-- > 0;) {
    const auto place = std::lower_bound(set.begin(), set.end(), part.attributes[i]) - set.begin();
    strides[static_cast<size_t>(place)] = stride;
    stride *= static_cast<size_t>(domain.attributes()[part.attributes[i]].size());
  }
  return strides;
}

}  // namespace

absl::StatusOr<std::vector<double>> ProductOfParts(const Domain& domain, const AttributeSet& set,
                                                   double scale, std::span<const IndependentPart> parts,
                                                   Pacer& pacer) {
  const auto count = static_cast<size_t>(domain.CellCount(set).value_or(0));
  std::vector<double> cells(count, scale);
  std::vector<size_t> codes(set.size());
  for (const IndependentPart& part : parts) {
    const std::vector<size_t> strides = StridesIn(domain, set, part);
    std::ranges::fill(codes, 0);
    size_t own = 0;  // the part's cell
    RETURN_IF_ERROR(pacer.InPieces(count, [&](size_t start, size_t length) {
      for (size_t cell = start; cell < start + length; ++cell) {
        cells[cell] *= part.cells[own];
        for (size_t i = set.size(); i-- > 0;) {
          const auto size = static_cast<size_t>(domain.attributes()[set[i]].size());
          own += strides[i];
          if (++codes[i] < size) break;
          codes[i] = 0;
          own -= strides[i] * size;
        }
      }
    }));
  }
  return cells;
}

}  // namespace curator::dp
