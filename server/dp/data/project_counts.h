// From the counts of a joint to the counts of a marginal within it.
#pragma once

#include <cstdint>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

// `counts` has one entry for each cell of `from`, the last attribute varying fastest; so has the result for
// `to`, which lies within `from`. Their sum fits 32 bits. Thread-safe: a pure function.
std::vector<uint32_t> ProjectCounts(const Domain& domain, const AttributeSet& from,
                                    std::vector<uint32_t> counts, const AttributeSet& to);

}  // namespace curator::dp
