// Centres of points by k-means.
#pragma once

#include <cstddef>
#include <vector>

namespace curator::bench {

using Points = std::vector<std::vector<double>>;

// `count` centres of at least one point: the best of five runs of 30 rounds, which start from points drawn in
// proportion to their squared distances from those drawn before. Deterministic.
Points CentresOf(const Points& points, size_t count);

// The mean squared distance to the nearest centre.
double CostOf(const Points& points, const Points& centres);

}  // namespace curator::bench
