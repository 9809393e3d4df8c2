#include "dp/synthesis/models/product_weights.h"

#include <algorithm>

#include "base/status_macros.h"
#include "dp/synthesis/models/block_loops.h"

namespace curator::dp {

absl::StatusOr<std::vector<float>> ProductWeights(const DenseLayout& layout, double base,
                                                  std::span<const LogFactor> factors,
                                                  std::span<const DenseMarginal> marginals, Pacer& pacer) {
  // Some blocks at a time, so that their logarithms stay in the cache while all factors are added.
  const int64_t group = std::max<int64_t>(1, 4096 / layout.block_cells());
  std::vector<float> weights(static_cast<size_t>(layout.cells()));
  std::vector<double> logarithms;
  for (int64_t first = 0; first < layout.blocks(); first += group) {
    const int64_t blocks = std::min(group, layout.blocks() - first);
    logarithms.assign(static_cast<size_t>(blocks * layout.block_cells()), 0);
    for (size_t i = 0; i < factors.size(); ++i) {
      RETURN_IF_ERROR(marginals[i].AddTo(factors[i].logarithms, first, logarithms, pacer));
    }
    const std::span<float> made =
        std::span(weights).subspan(static_cast<size_t>(first * layout.block_cells()), logarithms.size());
    RETURN_IF_ERROR(pacer.InPieces(made.size(), [&](size_t start, size_t length) {
      ExpBlock(base, std::span<const double>(logarithms).subspan(start, length), made.subspan(start, length));
    }));
  }
  return weights;
}

}  // namespace curator::dp
