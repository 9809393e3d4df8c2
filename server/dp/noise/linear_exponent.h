// d -> d * numerator / denominator as a fixed-point exponent, for many d: one multiplication each.
//
// Inside the noise room only. Thread-safe: immutable.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/int128.h"
#include "dp/noise/fixed_point_exp.h"

namespace curator::dp {

class LinearExponent {
 public:
  // The true exponent is at least what operator() says and less than this many units of 2^-58 above it; where
  // it says FixedExponent::kLargest, the true exponent may also be any larger one.
  static constexpr uint64_t kError = 4;

  // Slope numerator / denominator, with numerator < 2^63 and 0 < denominator < 2^63.
  constexpr LinearExponent(uint64_t numerator, uint64_t denominator) {
    if (numerator == 0) return;
    limit_ = 0;
    if (numerator / denominator >= 64) return;
    // Long division brings slope_ = floor(2^(58 + shift_) numerator / denominator) to [2^63, 2^64).
    slope_ = numerator / denominator;
    uint64_t remainder = numerator % denominator;
    shift_ = -FixedExponent::kFractionBits;
    while (slope_ < (uint64_t{1} << 63)) {
      remainder *= 2;
      slope_ = 2 * slope_ + (remainder >= denominator ? 1 : 0);
      if (remainder >= denominator) remainder -= denominator;
      ++shift_;
    }
    // From here on d slope_ / 2^shift_ reaches 2^64, that is, the exponent reaches 64. (shift_ >= 0, as the
    // slope is below 64.)
    constexpr Uint128 kLargestWord = ~uint64_t{0};
    limit_ =
        shift_ >= 64
            ? ~uint64_t{0}
            : static_cast<uint64_t>(std::min(kLargestWord, ((Uint128{1} << (64 + shift_)) - 1) / slope_));
  }

  // Error, for d <= limit_: that of slope_ counts d / 2^shift_ <= 2^64 / slope_ <= 2 units, the rounding one.
  // Without a branch on d, so that its time does not tell d.
  constexpr FixedExponent operator()(uint64_t d) const {
    const uint64_t all_ones_beyond_limit = 0 - static_cast<uint64_t>(d > limit_);
    return {static_cast<uint64_t>((static_cast<Uint128>(d) * slope_) >> shift_) | all_ones_beyond_limit};
  }

 private:
  uint64_t slope_ = 0;
  int shift_ = 0;
  uint64_t limit_ = ~uint64_t{0};
};

}  // namespace curator::dp
