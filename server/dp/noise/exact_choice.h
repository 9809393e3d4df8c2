// One of several by inversion, from enclosures of their weights: what the exponential mechanisms share.
//
// Inside the noise room only. Thread-safe: pure functions.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dp/noise/exact_uniform.h"
#include "dp/noise/fixed_point_exp.h"
#include "dp/noise/linear_exponent.h"

namespace curator::dp {

// exp(-factor gap) in units of 2^-63: at least what LowerWeight() says, and at most kWeightWidth units more.
inline constexpr uint64_t kWeightWidth = 2 * (kExpError + 32 * LinearExponent::kError);

// Without a branch on the gap, so that its time does not tell scores.
inline uint64_t LowerWeight(const LinearExponent& exponent, uint64_t gap) {
  constexpr uint64_t kError = kWeightWidth / 2;
  const uint64_t weight = ExpOfMinus(exponent(gap));
  return (weight - kError) & (0 - static_cast<uint64_t>(weight > kError));
}

// The i with C_{i-1} <= U C_{n-1} < C_i, if it is the same for all sums C that lie within `lower` and `upper`
// (both rise) and all U that begin with the bits drawn so far.
inline std::optional<size_t> Invert(const ExactUniform& uniform, std::span<const mpz_class> lower,
                                    std::span<const mpz_class> upper) {
  const mpz_class from = uniform.prefix() * lower.back();         // times 2^-bit_count: from <= U C
  const mpz_class below = (uniform.prefix() + 1) * upper.back();  // U C < below
  for (size_t i = 0; i < lower.size(); ++i) {
    if ((lower[i] << uniform.bit_count()) < below) continue;
    const mpz_class before = i == 0 ? mpz_class(0) : upper[i - 1];
    if ((before << uniform.bit_count()) > from) return std::nullopt;
    return i;
  }
  return std::nullopt;
}

}  // namespace curator::dp
