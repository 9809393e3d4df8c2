// Source: Canonne, Kamath, Steinke 2020, "The Discrete Gaussian for Differential Privacy", Algorithm 2, with
// the trials of its Algorithm 1 replaced by comparisons of a uniform real number with exp(-x)
// (fixed_point_exp.h).
//
// For scale = t/s: U uniform on 0..t-1, kept with probability exp(-U/t); V geometric, P(V >= k) = e^-k; so
// X = U + t V has P(X = x) ~ exp(-x/t) on x >= 0, and Y = floor(X/s) has P(Y >= y) = exp(-y s/t). A fair
// sign, with -0 drawn again, gives P(y) ~ exp(-|y| s/t).
//
// Exactness. U: see BitBuffer::NextBelow(). Kept: one uniform real below exp(-U/t). V: the number of k >= 1
// with a uniform real W < e^-k, one W for all k, so P(V >= k) = e^-k. Each comparison is decided from 63 bits
// where the proved error of the threshold allows it, otherwise by drawing further bits of the same real.
//
// Range. V is cut at 1023, an event of probability e^-1023 < 2^-1475 that no experiment and no privacy
// parameter here can see (a delta is at least 2^-60). Then X < 1024 t < 2^73 fits 128 bits, and
// Y <= X/s < 1024 t/s <= 2^10 kMaxScale = 2^62.
#include "dp/noise/discrete_laplace.h"

#include <array>
#include <numeric>

#include "base/errors.h"
#include "base/int128.h"
#include "dp/noise/exact_uniform.h"
#include "dp/noise/fixed_point_exp.h"

namespace curator::dp {
namespace {

constexpr uint64_t kLargestGeometric = 1023;

// P(k) = e^-k (1 - 1/e), cut at kLargestGeometric: the number of k >= 1 for which a uniform real U is below
// e^-k.
//
// The first thresholds are counted without branches, so that the time of a draw does not reveal its size (but
// for the one draw in 160,000 that is larger).
uint64_t DrawGeometric(BitBuffer& bits) {
  constexpr uint64_t kCounted = 12;
  const std::array<uint64_t, 64>& threshold = fixed_point::kTables.whole;
  const uint64_t word = bits.NextWord();
  uint64_t count = 0;
  for (uint64_t k = 1; k <= kCounted; ++k) {
    count += static_cast<uint64_t>(CompareUniform(word, threshold[k], fixed_point::kTableError) ==
                                   Comparison::kBelow);
  }
  // The thresholds fall: what is not surely below the next one is either surely above it, and above all
  // others, or undecided.
  if (CompareUniform(word, threshold[count + 1], fixed_point::kTableError) == Comparison::kNotBelow)
    return count;
  ExactUniform uniform(bits, word);
  while (count < kLargestGeometric && uniform.IsBelowExpOfMinus(mpq_class(count + 1))) ++count;
  return count;
}

Uint128 Quotient(Uint128 dividend, uint64_t divisor) {
  if (divisor == 1) return dividend;
  if ((dividend >> 64) == 0) return static_cast<uint64_t>(dividend) / divisor;
  return dividend / divisor;
}

}  // namespace

absl::StatusOr<DiscreteLaplace> DiscreteLaplace::Create(Rational scale) {
  if (scale.denominator <= 0 || scale.numerator <= 0 ||
      scale.numerator > static_cast<Int128>(kMaxScale) * scale.denominator) {
    return InvalidField("scale", "must be above 0 and at most 2^52");
  }
  const int64_t divisor = std::gcd(scale.numerator, scale.denominator);
  return DiscreteLaplace({scale.numerator / divisor, scale.denominator / divisor});
}

DiscreteLaplace::DiscreteLaplace(Rational reduced_scale)
    : scale_(reduced_scale), remainder_exponent_(1, static_cast<uint64_t>(reduced_scale.numerator)) {}

// One trial of probability exp(-remainder / t).
bool DiscreteLaplace::KeepRemainder(BitBuffer& bits, uint64_t remainder) const {
  const uint64_t word = bits.NextWord();
  const Comparison comparison =
      CompareUniformWithExp(word, remainder_exponent_(remainder), LinearExponent::kError);
  if (comparison != Comparison::kUndecided) return comparison == Comparison::kBelow;
  mpq_class exponent(mpz_class(remainder), mpz_class(scale_.numerator));
  exponent.canonicalize();
  return ExactUniform(bits, word).IsBelowExpOfMinus(exponent);
}

int64_t DiscreteLaplace::Draw(BitBuffer& bits) const {
  const auto t = static_cast<uint64_t>(scale_.numerator);
  const auto s = static_cast<uint64_t>(scale_.denominator);
  while (true) {
    const uint64_t remainder = bits.NextBelow(t);
    if (!KeepRemainder(bits, remainder)) continue;
    const Uint128 x = static_cast<Uint128>(t) * DrawGeometric(bits) + remainder;
    const auto magnitude = static_cast<int64_t>(Quotient(x, s));
    const bool negative = bits.NextBit() == 1;
    if (negative && magnitude == 0) continue;
    return negative ? -magnitude : magnitude;
  }
}

int64_t DiscreteLaplace::Draw(BitSource& bits) const {
  BitBuffer buffer(bits, kWordsPerDraw);
  return Draw(buffer);
}

void DiscreteLaplace::Fill(BitSource& bits, std::span<int64_t> values) const {
  BitBuffer buffer(bits, kWordsPerDraw * values.size());
  for (int64_t& value : values) value = Draw(buffer);
}

}  // namespace curator::dp
