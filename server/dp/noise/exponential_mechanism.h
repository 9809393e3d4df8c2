// The exact exponential mechanism over integer scores: selection with probability proportional to
// exp(factor * score).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "dp/accounting/units.h"
#include "dp/noise/bit_source.h"

namespace curator::dp {

inline constexpr size_t kMaxCandidates = size_t{1} << 28;

// The index i with probability exp(factor * scores[i]) / sum over j of exp(factor * scores[j]), exactly,
// whatever the gaps: any int64 scores, any rational factor >= 0 (0: uniform). Ties are equally likely.
//
// For scores of sensitivity D, factor = epsilon / (2 D) makes the selection epsilon-DP (McSherry, Talwar
// 2007), and factor = epsilon / D suffices where every score moves in the same direction.
//
// Time and memory are linear in the number of candidates, and (but for an event of probability below 2^-20 at
// 10^6 candidates) the same for all scores. Errors: INVALID_ARGUMENT, naming "scores" when there are none or
// more than kMaxCandidates, or "factor" for a negative numerator or a denominator that is not positive.
absl::StatusOr<size_t> DrawExponential(BitSource& bits, std::span<const int64_t> scores, Rational factor);

}  // namespace curator::dp
