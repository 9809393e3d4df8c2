// Many marginals of one dense table at once, far cheaper than one by one: attributes are summed out one after
// another, and marginals that have summed out the same ones so far share the work.
//
// Thread-safe: a pure function.
#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/models/dense_layout.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// result[i] are the cells of sets[i], row-major. Errors: INVALID_ARGUMENT for a set that the layout does not
// cover; CANCELLED as in Pacer.
absl::StatusOr<std::vector<std::vector<double>>> AllMarginals(const DenseLayout& layout,
                                                              std::span<const float> weights,
                                                              std::span<const AttributeSet> sets,
                                                              Pacer& pacer);

}  // namespace curator::dp
