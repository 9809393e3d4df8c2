// From the cells of a marginal to those of a marginal within it.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

// The sums over the attributes of `from` that are not in `to`, which lies within `from`. `cells` has one
// entry for each cell of `from`, the last attribute varying fastest; so has the result for `to`. Integers
// wrap where their sum does not fit.
std::vector<int64_t> SumOut(const Domain& domain, const AttributeSet& from, std::span<const int64_t> cells,
                            const AttributeSet& to);

}  // namespace curator::dp
