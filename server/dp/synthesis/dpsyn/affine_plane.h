// The lines of a finite affine plane: sets of points of which every pair lies on exactly one.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

// The lines of the plane over the smallest field of q elements with q^2 >= `points`, cut to the points
// 0..points-1, without lines of fewer than two points; empty when q (a prime, 4, 8 or 16) exceeds `width`.
// Every pair of points is on exactly one line, and no line has more than `width` points.
std::vector<AttributeSet> AffinePlaneLines(size_t points, size_t width);

}  // namespace curator::dp
