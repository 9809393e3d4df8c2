// The interval that is shown with an answer that was changed after it was measured.
//
// Thread-safe: pure functions.
#pragma once

#include <algorithm>
#include <limits>

namespace curator::dp {

struct ShownInterval {
  double low = 0;
  double high = 0;
};

inline constexpr double kNoLeast = -std::numeric_limits<double>::infinity();

// Of an unbiased answer whose interval of half width `half_width` holds the true one with some probability,
// and what it was changed to. `least` is what the true answer is known not to be below: 0 for counts that are
// not to be shown below it, else kNoLeast. The part of the unbiased interval from `least` on holds the truth
// whenever that interval does, so with no less probability, and is widened to hold the changed answer, which
// takes nothing from that. Where all of the unbiased interval is below `least`, it has missed the truth:
// [least, least] is then shown, widened likewise.
inline ShownInterval IntervalShown(double unbiased, double half_width, double changed, double least) {
  const double low = std::max(unbiased - half_width, least);
  const double high = std::max(unbiased + half_width, least);
  return {.low = std::min(low, changed), .high = std::max(high, changed)};
}

}  // namespace curator::dp
