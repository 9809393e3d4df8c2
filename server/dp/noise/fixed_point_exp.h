// exp(-x) in fixed point with a proved error, and the comparison of a uniform real number with it.
//
// Integers only, so every machine computes the same. The samplers need no more precision than this: where 63
// bits of a uniform number and this error leave a comparison open (probability about 2^-53),
// exact_uniform.h decides it.
//
// For dp/noise only. Thread-safe: pure functions and immutable values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/int128.h"

namespace curator::dp {

// An exponent x in [0, 64) in units of 2^-58. How it is rounded, and by how much, its user states.
struct FixedExponent {
  static constexpr int kFractionBits = 58;
  static constexpr uint64_t kLargest = ~uint64_t{0};  // stands for every x > 63.99 too

  uint64_t units = 0;
};

namespace fixed_point {

inline constexpr uint64_t kOne = uint64_t{1} << 63;  // 1 in units of 2^-63

// a b for factors in [0, 1] in units of 2^-63, rounded down.
constexpr uint64_t Multiply(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>((static_cast<Uint128>(a) * b) >> 63);
}

// exp(-numerator / 2^denominator_log2) to the nearest unit of 2^-63, for an argument in [0, 1] with
// numerator <= 256. The series is summed in units of 2^-112; 40 terms leave a rest below 1/40! < 2^-159, and
// the divisions, rounded down, err by less than 3 units each: 2^-105 in all, which can move the result by one
// unit of 2^-63.
constexpr uint64_t ExpOfMinusByTaylor(uint64_t numerator, int denominator_log2) {
  Uint128 term = Uint128{1} << 112;
  Uint128 even = 0;
  Uint128 odd = 0;
  for (uint64_t k = 0; k < 40; ++k) {
    (k % 2 == 0 ? even : odd) += term;
    term = ((term * numerator) >> denominator_log2) / (k + 1);
  }
  return static_cast<uint64_t>((even - odd + (Uint128{1} << 48)) >> 49);
}

struct Tables {
  std::array<uint64_t, 64>
      whole{};  // exp(-i), within 2 units: each step multiplies the error by 1/e and adds one
  std::array<uint64_t, 256> coarse{};  // exp(-i / 2^8), within 1 unit
  std::array<uint64_t, 256> fine{};    // exp(-i / 2^16), within 1 unit
};

constexpr Tables MakeTables() {
  Tables tables;
  for (uint64_t i = 0; i < 256; ++i) {
    tables.coarse[i] = ExpOfMinusByTaylor(i, 8);
    tables.fine[i] = ExpOfMinusByTaylor(i, 16);
  }
  const uint64_t inverse_e = ExpOfMinusByTaylor(1, 0);
  tables.whole[0] = kOne;
  for (size_t i = 1; i < tables.whole.size(); ++i) {
    tables.whole[i] = Multiply(tables.whole[i - 1], inverse_e);
  }
  return tables;
}

inline constexpr Tables kTables = MakeTables();
inline constexpr uint64_t kTableError = 2;

}  // namespace fixed_point

// exp(-x) in units of 2^-63, at most kExpError units off.
//
// x = i + j/2^8 + k/2^16 + r with r < 2^-16, and exp(-r) = 1 - r + r^2/2 - r^3/6 + (less than 2^-68). The
// tables err by 2, 1 and 1 units, the polynomial by 4 (its four roundings and its rest), and each of three
// products of factors <= 1 adds its factors' errors and one rounding: 2 + 1 + 1, 1 + 4 + 1, and together
// 4 + 6 + 1 = 11.
inline constexpr uint64_t kExpError = 16;

constexpr uint64_t ExpOfMinus(FixedExponent x) {
  using fixed_point::kTables;
  using fixed_point::Multiply;
  const uint64_t r = (x.units & ((uint64_t{1} << 42) - 1)) << 5;  // in units of 2^-63
  const uint64_t r_squared = Multiply(r, r);
  const uint64_t r_cubed = Multiply(r_squared, r);
  const uint64_t exp_of_minus_r = fixed_point::kOne - r + r_squared / 2 - r_cubed / 6;
  const uint64_t head = Multiply(kTables.whole[x.units >> 58], kTables.coarse[(x.units >> 50) & 255]);
  return Multiply(head, Multiply(kTables.fine[(x.units >> 42) & 255], exp_of_minus_r));
}

enum class Comparison { kBelow, kNotBelow, kUndecided };

// Where the uniform real U in [0, 1) that begins with the bits of `word` lies against `threshold`, in units
// of 2^-63 and at most `error` units off. With its first 63 bits as v, v <= 2^63 U < v + 1.
constexpr Comparison CompareUniform(uint64_t word, uint64_t threshold, uint64_t error) {
  const uint64_t v = word >> 1;
  if (v + 1 + error <= threshold) return Comparison::kBelow;
  if (v >= threshold + error) return Comparison::kNotBelow;
  return Comparison::kUndecided;
}

// U against exp(-x), where the true exponent is at most `exponent_error` units of 2^-58 from `x` (or
// beyond 63.99 when x is kLargest): exp has slope at most 1 there, so a unit of 2^-58 moves it by at most 32
// units of 2^-63.
constexpr Comparison CompareUniformWithExp(uint64_t word, FixedExponent x, uint64_t exponent_error) {
  return CompareUniform(word, ExpOfMinus(x), kExpError + 32 * exponent_error);
}

// d -> d * numerator / denominator as a fixed-point exponent, for many d: one multiplication each.
class LinearExponent {
 public:
  // The true exponent is at least what operator() returns and less than this many units of 2^-58 above it;
  // where it returns FixedExponent::kLargest, the true exponent may also be any larger one.
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
  // Without a branch on d, so that its time does not reveal d.
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
