// The cells of a marginal whose attributes belong to independent parts, from the cells of each part's.
//
// Thread-safe: a pure function.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// One part: which attributes of the whole set are its own, rising, and the weight of each of its cells,
// row-major.
struct IndependentPart {
  AttributeSet attributes;
  std::span<const double> cells;
};

// scale times the product of the parts' weights, for every cell of `set`, row-major. The parts are disjoint
// and within `set`; attributes of none of them weigh 1 in each cell. The set's cells fit int64. Errors:
// CANCELLED as in Pacer.
absl::StatusOr<std::vector<double>> ProductOfParts(const Domain& domain, const AttributeSet& set,
                                                   double scale, std::span<const IndependentPart> parts,
                                                   Pacer& pacer);

}  // namespace curator::dp
