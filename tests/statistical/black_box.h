// Layer 3 of the audit: what an onlooker can prove against a mechanism from its outputs alone.
//
// Two samples, of the outputs on two neighbouring tables. On the first half of each an event "output <= t",
// "output >= t" or "output = t" is chosen; on the second half its two probabilities are bounded by
// Clopper-Pearson, and from the bounds follows a privacy loss that the mechanism has at least. Because the
// halves are independent, the choice costs nothing: if the mechanism keeps its claim, the bound exceeds the
// claim with probability at most kFalseAlarm (of frequencies.h), whatever the mechanism is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace curator::statistics {

struct PairOfSamples {
  std::vector<int64_t> on_table;      // independent outputs, as integers
  std::vector<int64_t> on_neighbour;  // as many
};

struct LowerBound {
  double value = 0;
  std::string event;  // the evidence: what was counted
};

// The mechanism is not epsilon-DP for any epsilon below `value`. (0 when nothing can be proved.)
LowerBound PureLossLowerBound(const PairOfSamples& samples);

// delta(epsilon) is at least `value` for the epsilon given, in either direction: P(E) - e^epsilon Q(E) for
// some event E.
LowerBound DeltaLowerBound(const PairOfSamples& samples, double epsilon);

// The exact delta(epsilon) of a count that moves by one, with integer noise whose ln P(x) is given: the sum
// of the positive parts of P - e^epsilon Q, over |x| up to 2000.
double DeltaOfCount(const std::function<double(int64_t x)>& log_probability, double epsilon);

}  // namespace curator::statistics
