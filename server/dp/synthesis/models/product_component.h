// One product of marginals' factors over a table: its weights, and how it is written down.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "base/canonical_bytes.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/models/dense_layout.h"
#include "dp/synthesis/models/product_weights.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

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

// What these wrote. The reader refuses what is not finite, and sets that do not rise within `domain`.
AttributeSet ReadSet(CanonicalReader& reader, const Domain& domain);
ProductComponent ReadComponent(CanonicalReader& reader, const Domain& domain);
std::vector<std::string> ReadLines(CanonicalReader& reader);

}  // namespace curator::dp
