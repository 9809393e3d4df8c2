#include "dp/data/project_counts.h"

#include <algorithm>
#include <utility>

namespace curator::dp {
namespace {

// The sums over the middle one of three axes.
std::vector<uint32_t> SumOut(const std::vector<uint32_t>& counts, size_t outer, size_t middle, size_t inner) {
  std::vector<uint32_t> sums(outer * inner);
  const uint32_t* from = counts.data();
  for (size_t i = 0; i < outer; ++i) {
    uint32_t* const to = sums.data() + i * inner;
    for (size_t j = 0; j < middle; ++j, from += inner) {
      for (size_t k = 0; k < inner; ++k) to[k] += from[k];
    }
  }
  return sums;
}

// The same where the axis is the last: sums of runs.
std::vector<uint32_t> SumRuns(const std::vector<uint32_t>& counts, size_t run) {
  std::vector<uint32_t> sums(counts.size() / run);
  const uint32_t* from = counts.data();
  for (uint32_t& sum : sums) {
    uint32_t total = 0;
    for (size_t j = 0; j < run; ++j) total += from[j];
    sum = total;
    from += run;
  }
  return sums;
}

}  // namespace

std::vector<uint32_t> ProjectCounts(const Domain& domain, const AttributeSet& from,
                                    std::vector<uint32_t> counts, const AttributeSet& to) {
  // Neighbouring attributes with the same fate are one axis. Outer axes are summed out first: their sums run
  // over long, contiguous stretches.
  AttributeSet left = from;
  while (left.size() > to.size()) {
    const auto is_wanted = [&to](uint32_t attribute) {
      return std::binary_search(to.begin(), to.end(), attribute);
    };
    const auto first = std::find_if_not(left.begin(), left.end(), is_wanted);
    const auto last = std::find_if(first, left.end(), is_wanted);
    const size_t middle = static_cast<size_t>(*domain.CellCount(AttributeSet(first, last)));
    const size_t inner = static_cast<size_t>(*domain.CellCount(AttributeSet(last, left.end())));
    counts = inner == 1 ? SumRuns(counts, middle)
                        : SumOut(counts, counts.size() / (middle * inner), middle, inner);
    left.erase(first, last);
  }
  return counts;
}

}  // namespace curator::dp
