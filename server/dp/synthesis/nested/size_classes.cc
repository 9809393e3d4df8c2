#include "dp/synthesis/nested/size_classes.h"

#include <algorithm>
#include <functional>

namespace curator::dp {

namespace {

std::vector<SizeClass> EmptyClasses(std::span<const int64_t> least_sizes, int64_t largest) {
  std::vector<SizeClass> classes;
  for (size_t i = 0; i < least_sizes.size(); ++i) {
    const int64_t most = i + 1 < least_sizes.size() ? least_sizes[i + 1] - 1 : largest;
    classes.push_back({.least = least_sizes[i], .most = std::max(least_sizes[i], most)});
  }
  if (least_sizes.size() == 1) classes.front().least = largest;  // all groups have the same, public size
  return classes;
}

double MeanSize(const SizeClass& each) {
  return static_cast<double>(each.least + each.most) / 2;
}

// By the conditions of Karush, Kuhn and Tucker, the nearest numbers are what is left of the noisy ones when
// each record costs `price`.
void SetGroups(std::vector<SizeClass>& classes, std::span<const int64_t> noisy_counts, double price) {
  for (size_t i = 0; i < classes.size(); ++i)
    classes[i].groups = std::max(0.0, static_cast<double>(noisy_counts[i]) - price * MeanSize(classes[i]));
}

}  // namespace

std::vector<SizeClass> EstimateSizes(std::span<const int64_t> least_sizes, int64_t largest,
                                     std::span<const int64_t> noisy_counts) {
  double total = 0;
  for (const int64_t count : noisy_counts) total += static_cast<double>(count);
  total = std::max(1.0, total);
  // The projection onto the simplex of this sum: what exceeds a common level.
  std::vector<double> sorted(noisy_counts.begin(), noisy_counts.end());
  std::ranges::sort(sorted, std::greater<>());
  double level = 0;
  double sum = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double of_these = (sum - total) / static_cast<double>(i + 1);
    if (i == 0 || sorted[i] > of_these) level = of_these;
  }
  std::vector<SizeClass> classes = EmptyClasses(least_sizes, largest);
  for (size_t i = 0; i < classes.size(); ++i)
    classes[i].groups = std::max(0.0, static_cast<double>(noisy_counts[i]) - level);
  return classes;
}

std::vector<SizeClass> EstimateSizesOf(double records, std::span<const int64_t> least_sizes, int64_t largest,
                                       std::span<const int64_t> noisy_counts) {
  std::vector<SizeClass> classes = EmptyClasses(least_sizes, largest);
  // At the lowest price each class alone holds enough; at the highest none is left.
  double lowest = 0;
  double highest = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    const double size = MeanSize(classes[i]);
    const double count = static_cast<double>(noisy_counts[i]);
    lowest = std::min(lowest, (count - records / size) / size);
    highest = std::max(highest, count / size);
  }
  constexpr int kHalvings = 100;
  for (int i = 0; i < kHalvings; ++i) {
    const double price = lowest + (highest - lowest) / 2;
    SetGroups(classes, noisy_counts, price);
    (RecordsIn(classes) > records ? lowest : highest) = price;
  }
  SetGroups(classes, noisy_counts, lowest);
  return classes;
}

double GroupsIn(std::span<const SizeClass> classes) {
  double groups = 0;
  for (const SizeClass& each : classes) groups += each.groups;
  return groups;
}

double RecordsIn(std::span<const SizeClass> classes) {
  double records = 0;
  for (const SizeClass& each : classes) records += each.groups * MeanSize(each);
  return records;
}

}  // namespace curator::dp
