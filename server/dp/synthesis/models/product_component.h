// Products of marginals' factors over a table, which is what multiplicative weights make: their weights and
// their stored bytes.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "base/canonical_bytes.h"
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

// base * exp(sum of the factors' logarithms).
struct ProductComponent {
  double base = 1;
  std::vector<LogFactor> factors;

  bool operator==(const ProductComponent&) const = default;
};

// The weight of every cell. Errors: INVALID_ARGUMENT when a factor does not fit the layout; CANCELLED as in
// Pacer.
absl::StatusOr<std::vector<float>> WeightsOf(const DenseLayout& layout, const ProductComponent& component,
                                             Pacer& pacer);

void WriteSet(CanonicalWriter& writer, const AttributeSet& set);
void WriteComponent(CanonicalWriter& writer, const ProductComponent& component);
void WriteLines(CanonicalWriter& writer, const std::vector<std::string>& lines);

// Read what these wrote. The reader refuses numbers that are not finite and sets that do not rise within
// `domain`.
AttributeSet ReadSet(CanonicalReader& reader, const Domain& domain);
// A set that is followed by the sizes of its attributes, which must be those in `domain`.
AttributeSet ReadSetThenSizes(CanonicalReader& reader, const Domain& domain);
ProductComponent ReadComponent(CanonicalReader& reader, const Domain& domain);
std::vector<std::string> ReadLines(CanonicalReader& reader);

}  // namespace curator::dp
