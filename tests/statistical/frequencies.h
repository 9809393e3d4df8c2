// Does a sample follow a known law? Exact binomial tests of many events, corrected for their number.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace curator::statistics {

// The event low <= X <= high, and its exact probability under the law that is claimed.
struct Event {
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

  int64_t low = -kNoLimit;
  int64_t high = kNoLimit;
  double probability = 0;
};

struct Verdict {
  double p_value = 1;  // of the least likely event, times the number of events (Bonferroni), at most 1
  std::string worst;   // that event: what was expected and what was counted
};

// A false-alarm rate of one test: far below one in 10^7 for a whole run.
inline constexpr double kFalseAlarm = 1e-10;

// If the sample is independent and follows the law, P(p_value <= a) <= a for every a.
Verdict CheckFrequencies(std::vector<int64_t> sample, std::span<const Event> events);

}  // namespace curator::statistics
