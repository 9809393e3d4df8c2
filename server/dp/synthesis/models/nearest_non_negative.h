// The Euclidean projection of noisy counts onto those that a table can have.
//
// Thread-safe: a pure function.
#pragma once

#include <vector>

namespace curator::dp {

// The counts nearest to `counts` (least squares) among those that are not negative and sum to
// `total` >= 0.
std::vector<double> NearestNonNegative(std::vector<double> counts, double total);

}  // namespace curator::dp
