// All intervals of an attribute, for tests of range queries.
#pragma once

#include <cstdint>

#include "dp/queries/linear_queries.h"

namespace curator::dp {

// By their first codes and then by their last, of an attribute of `size` bins: size (size + 1) / 2.
inline Boxes AllIntervals(int64_t size) {
  Boxes boxes;
  for (uint32_t first = 0; first < size; ++first) {
    for (uint32_t last = first; last < size; ++last) boxes.sides.push_back({first, last});
  }
  return boxes;
}

}  // namespace curator::dp
