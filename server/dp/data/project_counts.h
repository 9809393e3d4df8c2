// From the counts of a joint to the counts of marginals within it.
//
// Counts have one entry for each cell, the last attribute varying fastest; their sum fits 32 bits.
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

// `to` lies within `from`, which `counts` belong to.
std::vector<uint32_t> ProjectCounts(const Domain& domain, const AttributeSet& from,
                                    std::span<const uint32_t> counts, const AttributeSet& to);

// The same for several marginals: result[i] belongs to to[i]. What they share is summed once: an attribute
// that several of them lack is summed out first, and they are projected from the smaller rest.
std::vector<std::vector<uint32_t>> ProjectToEach(const Domain& domain, const AttributeSet& from,
                                                 std::span<const uint32_t> counts,
                                                 const std::vector<AttributeSet>& to);

}  // namespace curator::dp
