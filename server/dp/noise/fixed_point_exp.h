// exp(-x) in fixed point with a proved error, and the comparison of a uniform real number with it.
//
// Integers only, so every machine computes the same. The samplers need no more precision than this: where 63
// bits of a uniform number and this error do not settle a comparison (probability about 2^-53),
// exact_uniform.h settles it.
//
// Inside the noise room only. Thread-safe: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/int128.h"

namespace curator::dp {

// An exponent x in [0, 64) in units of 2^-58, rounded somehow: its user states the error.
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
// of 2^-63 and at most `error` units off. Its first 63 bits say that v <= 2^63 U < v + 1.
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

}  // namespace curator::dp
