// How many groups there are of which sizes, from noisy counts.
//
// Thread-safe: pure functions of public numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace curator::dp {

// About `groups` groups with `least` to `most` records each.
struct SizeClass {
  int64_t least = 1;
  int64_t most = 1;
  double groups = 0;
};

// The non-negative numbers of groups nearest to the noisy ones, in squared error, among those with the same
// sum (at least one group). The last class reaches to `largest`.
std::vector<SizeClass> EstimateSizes(std::span<const int64_t> least_sizes, int64_t largest,
                                     std::span<const int64_t> noisy_counts);

// The same among those that hold about `records` records: where that number is known better than the classes,
// noise in a class of large groups does not invent thousands of records.
std::vector<SizeClass> EstimateSizesOf(double records, std::span<const int64_t> least_sizes, int64_t largest,
                                       std::span<const int64_t> noisy_counts);

double GroupsIn(std::span<const SizeClass> classes);
double RecordsIn(std::span<const SizeClass> classes);

}  // namespace curator::dp
