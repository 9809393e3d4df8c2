#include "tests/statistical/frequencies.h"

#include <algorithm>
#include <sstream>

#include "tests/statistical/binomial.h"

namespace curator::statistics {

Verdict CheckFrequencies(std::vector<int64_t> sample, std::span<const Event> events) {
  std::sort(sample.begin(), sample.end());
  Verdict verdict;
  for (const Event& event : events) {
    const auto first = std::lower_bound(sample.begin(), sample.end(), event.low);
    const auto count = static_cast<uint64_t>(std::upper_bound(first, sample.end(), event.high) - first);
    const double p_value =
        static_cast<double>(events.size()) * BinomialPValue(sample.size(), count, event.probability);
    if (p_value >= verdict.p_value) continue;
    std::ostringstream worst;
    worst << "P(" << event.low << " <= X <= " << event.high << ") = " << event.probability << ", counted "
          << count << " of " << sample.size() << ", p-value " << p_value;
    verdict = {p_value, worst.str()};
  }
  return verdict;
}

}  // namespace curator::statistics
