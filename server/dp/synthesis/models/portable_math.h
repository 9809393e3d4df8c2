// Exponential and logarithm with the same bits on every machine: elementary operations only, in a fixed
// order, so that a model refitted elsewhere from the same draws is the same model. Those of the C library
// depend on the processor.
//
// PortableExp() compiles to straight-line vector code inside a loop. Thread-safe: pure functions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace curator::dp {

// Arguments are clamped to this range on both sides; exp() of it is a normal double.
inline constexpr double kLargestExponent = 700;

// e^x within 2 units in the last place, for finite x.
[[gnu::always_inline]] inline double PortableExp(double x) {
  // x = k ln 2 + r with |r| <= ln(2)/2; k comes out of the low bits of a number so large that its last place
  // is 1.
  constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52
  constexpr double kInverseLn2 = 1.4426950408889634074;
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  const double bounded = std::min(std::max(x, -kLargestExponent), kLargestExponent);
  const double shifted = bounded * kInverseLn2 + kShift;
  const double k = shifted - kShift;
  const double r = (bounded - k * kLn2High) - k * kLn2Low;
  // The Taylor polynomial of degree 13: its remainder is below 2^-57 on this interval.
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  // 2^k: k sits in the low bits of `shifted`; it goes into the exponent field.
  const uint64_t exponent = (std::bit_cast<uint64_t>(shifted) + 1023) << 52;
  return p * std::bit_cast<double>(exponent);
}

// ln x within 1e-12, for normal positive x.
inline double PortableLog(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & ((uint64_t{1} << 52) - 1)) | (uint64_t{1023} << 52));
  if (mantissa > 1.4142135623730951) {
    mantissa /= 2;
    ++exponent;
  }
  // ln m = 2 artanh((m - 1) / (m + 1)), |argument| < 0.172: eight terms.
  const double t = (mantissa - 1) / (mantissa + 1);
  const double square = t * t;
  double series = 0;
  for (int k = 17; k >= 1; k -= 2) series = series * square + 1.0 / k;
  return 2 * t * series + exponent * 0.693147180559945309;
}

}  // namespace curator::dp
