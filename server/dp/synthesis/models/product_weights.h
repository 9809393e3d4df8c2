// Weights that are a product: a uniform base times one factor for every cell of some marginals. This is what
// multiplicative weights make, and all that needs to be kept of them.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/models/dense_layout.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// The natural logarithms of a marginal's factors, row-major.
struct LogFactor {
  AttributeSet set;
  std::vector<double> logarithms;

  bool operator==(const LogFactor&) const = default;
};

// base * exp(sum of the logarithms) for every cell of the layout; sums are bounded to [-60, 60] and weights
// below 1e-30 are 0. The same bits on every machine. `marginals[i]` is that of `factors[i]`. Errors:
// CANCELLED as in Pacer.
absl::StatusOr<std::vector<float>> ProductWeights(const DenseLayout& layout, double base,
                                                  std::span<const LogFactor> factors,
                                                  std::span<const DenseMarginal> marginals, Pacer& pacer);

}  // namespace curator::dp
