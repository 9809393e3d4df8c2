#include "dp/workload/threshold_counts.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace curator::dp {
namespace {

// Attribute by attribute. After the first i of them, tables[j] holds, for y in those and x in the others, the
// sum over cells that end in x and agree with y exactly j times among the first i (j = at_least: at least so
// often). One more attribute turns, for each value v of it,
//   tables[j][v] into tables[j - 1][v] + (sum over all values of tables[j]) - tables[j][v].
template <typename T>
std::vector<T> Thresholds(const Domain& domain, const AttributeSet& set, int64_t at_least,
                          std::span<const T> counts) {
  if (at_least == static_cast<int64_t>(set.size())) return {counts.begin(), counts.end()};
  const auto most = static_cast<size_t>(at_least);
  std::vector<std::vector<T>> tables(most + 1, std::vector<T>(counts.size()));
  tables[0].assign(counts.begin(), counts.end());
  size_t stride = counts.size();
  for (const uint32_t attribute : set) {
    const auto size = static_cast<size_t>(domain.attributes()[attribute].size());
    const size_t outer = counts.size() / stride;
    stride /= size;
    for (size_t high = 0; high < outer; ++high) {
      for (size_t low = 0; low < stride; ++low) {
        const size_t first = high * stride * size + low;
        // From the highest: what comes from a lower table must still be there.
        for (size_t j = most + 1; j-- > 0;) {
          T sum = 0;
          for (size_t v = 0; v < size; ++v) sum += tables[j][first + v * stride];
          for (size_t v = 0; v < size; ++v) {
            const size_t at = first + v * stride;
            const T matching = j == 0 ? T{0} : tables[j - 1][at];
            // Who has matched often enough stays; the others stay only where they differ.
            tables[j][at] = j == most ? sum + matching : sum - tables[j][at] + matching;
          }
        }
      }
    }
  }
  return std::move(tables[most]);
}

}  // namespace

std::vector<int64_t> CountsAtLeast(const Domain& domain, const AttributeSet& set, int64_t at_least,
                                   std::span<const int64_t> counts) {
  return Thresholds(domain, set, at_least, counts);
}

std::vector<double> CountsAtLeast(const Domain& domain, const AttributeSet& set, int64_t at_least,
                                  std::span<const double> counts) {
  return Thresholds(domain, set, at_least, counts);
}

LinearQuery ThresholdQuery(const Domain& domain, const AttributeSet& set, int64_t at_least, int64_t cell) {
  std::vector<int64_t> codes(set.size(), 0);
  std::vector<int64_t> wanted(set.size(), 0);
  int64_t cells = 1;
  for (size_t i = set.size(); i-- > 0;) {
    const int64_t size = domain.attributes()[set[i]].size();
    wanted[i] = cell % size;
    cell /= size;
    cells *= size;
  }
  LinearQuery query;
  for (int64_t other = 0; other < cells; ++other) {
    int64_t matches = 0;
    for (size_t i = 0; i < set.size(); ++i) matches += codes[i] == wanted[i] ? 1 : 0;
    if (matches >= at_least) query.push_back({.cell = static_cast<uint32_t>(other), .weight = 1});
    for (size_t i = set.size(); i-- > 0;) {
      if (++codes[i] < domain.attributes()[set[i]].size()) break;
      codes[i] = 0;
    }
  }
  return query;
}

}  // namespace curator::dp
