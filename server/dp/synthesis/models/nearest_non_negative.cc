#include "dp/synthesis/models/nearest_non_negative.h"

#include <algorithm>
#include <cstddef>
#include <functional>

namespace curator::dp {

std::vector<double> NearestNonNegative(std::vector<double> counts, double total) {
  std::vector<double> falling = counts;
  std::ranges::sort(falling, std::greater<>());
  double sum = 0;
  double excess = 0;
  for (size_t i = 0; i < falling.size(); ++i) {
    sum += falling[i];
    const double shift = (sum - total) / static_cast<double>(i + 1);
    if (falling[i] <= shift) break;
    excess = shift;
  }
  for (double& count : counts) count = std::max(0.0, count - excess);
  return counts;
}

}  // namespace curator::dp
