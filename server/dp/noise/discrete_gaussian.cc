// Source: Canonne, Kamath, Steinke 2020, "The Discrete Gaussian for Differential Privacy", Algorithm 3.
//
// With t = floor(sigma) + 1: Y discrete Laplace of scale t, kept with probability exp(-z^2),
// z = (|Y| - sigma^2/t) / (sigma sqrt(2)). The product exp(-|y|/t) exp(-z^2) is exp(-y^2 / (2 sigma^2)) times
// a constant.
//
// Exactness. The proposal is exact. The trial compares a uniform real with exp(-z^2):
// z = |Y| / (sigma sqrt(2)) - sigma / (t sqrt(2)) from two square roots rounded down (exact integer square
// roots of GMP), whose errors are carried below; where they leave it open, with the rational
// z^2 = (|Y| q t - p)^2 / (2 p q t^2) for sigma^2 = p/q, in GMP and MPFR.
//
// Range. sigma^2 <= 2^62, so t <= 2^31 + 1, and |Y| < 1024 t < 2^42 (see discrete_laplace.cc).
#include "dp/noise/discrete_gaussian.h"

#include <numeric>
#include <utility>

#include "base/errors.h"
#include "base/int128.h"
#include "dp/noise/exact_uniform.h"
#include "dp/noise/fixed_point_exp.h"

namespace curator::dp {
namespace {

// z is held in units of 2^-60 and is below 8, so that it fits an int64.
constexpr int kZFractionBits = 60;

// The fixed-point z^2 is less than this many units of 2^-58 off. z itself: the slope's error counts
// |Y| / 2^shift <= 2 units of 2^-60 (as the slope is at least 2^62 and the product at most 2^63), its
// rounding one, the offset's one: 3 at most, of one sign each way. So z^2 is off by at most 2 * 8 * 3 + 1
// units of 2^-60, less than 13 units of 2^-58, and one for rounding.
constexpr uint64_t kExponentError = 16;

// floor(sqrt(numerator / denominator)): floor of the root of the floor.
mpz_class FloorSqrt(const mpz_class& numerator, const mpz_class& denominator) {
  const mpz_class quotient = numerator / denominator;
  return sqrt(quotient);
}

}  // namespace

absl::StatusOr<DiscreteGaussian> DiscreteGaussian::Create(Rational sigma_squared) {
  if (sigma_squared.denominator <= 0 || sigma_squared.numerator <= 0 ||
      sigma_squared.numerator > static_cast<Int128>(kMaxSigmaSquared) * sigma_squared.denominator) {
    return InvalidField("sigma_squared", "must be above 0 and at most 2^62");
  }
  const int64_t divisor = std::gcd(sigma_squared.numerator, sigma_squared.denominator);
  const Rational reduced{sigma_squared.numerator / divisor, sigma_squared.denominator / divisor};
  const mpz_class t = FloorSqrt(reduced.numerator, reduced.denominator) + 1;
  absl::StatusOr<DiscreteLaplace> proposal = DiscreteLaplace::Create({t.get_si(), 1});
  if (!proposal.ok()) return proposal.status();
  return DiscreteGaussian(reduced, *std::move(proposal));
}

DiscreteGaussian::DiscreteGaussian(Rational reduced_sigma_squared, DiscreteLaplace proposal)
    : sigma_squared_(reduced_sigma_squared), proposal_(std::move(proposal)) {
  const mpz_class p(sigma_squared_.numerator);
  const mpz_class q(sigma_squared_.denominator);
  const mpz_class t(proposal_.scale().numerator);
  const mpz_class offset = FloorSqrt(p << (2 * kZFractionBits), 2 * q * t * t);
  offset_ = offset.get_ui();

  const mpz_class largest = mpz_class(1) << 63;
  mpz_class slope = FloorSqrt(q << (2 * kZFractionBits), 2 * p);
  if (slope >= largest) return;  // 1 / (sigma sqrt(2)) >= 8: only magnitude 0 is near
  while (slope < largest / 2) {
    ++slope_shift_;
    slope = FloorSqrt(q << (2 * (kZFractionBits + slope_shift_)), 2 * p);
  }
  slope_ = slope.get_ui();
  const mpz_class nearest = ((largest << slope_shift_) - 1) / slope;
  largest_near_ = nearest.get_ui();
}

// One trial of probability exp(-z^2).
bool DiscreteGaussian::Accept(BitBuffer& bits, uint64_t magnitude) const {
  const uint64_t word = bits.NextWord();
  // Beyond largest_near_, |Y| / (sigma sqrt(2)) >= 8 and z > 8 - 1/sqrt(2), z^2 > 53: the threshold is below
  // one unit.
  FixedExponent exponent{FixedExponent::kLargest};
  if (magnitude <= largest_near_) {
    const auto z = static_cast<int64_t>((static_cast<Uint128>(magnitude) * slope_) >> slope_shift_) -
                   static_cast<int64_t>(offset_);
    constexpr int kSquareShift = 2 * kZFractionBits - FixedExponent::kFractionBits;
    exponent.units = static_cast<uint64_t>(static_cast<Uint128>(static_cast<Int128>(z) * z) >> kSquareShift);
  }
  const Comparison comparison = CompareUniformWithExp(word, exponent, kExponentError);
  if (comparison != Comparison::kUndecided) return comparison == Comparison::kBelow;
  return AcceptExactly(bits, word, magnitude);
}

bool DiscreteGaussian::AcceptExactly(BitBuffer& bits, uint64_t word, uint64_t magnitude) const {
  const mpz_class p(sigma_squared_.numerator);
  const mpz_class q(sigma_squared_.denominator);
  const mpz_class t(proposal_.scale().numerator);
  const mpz_class difference = mpz_class(magnitude) * q * t - p;
  mpq_class exponent(difference * difference, 2 * p * q * t * t);
  exponent.canonicalize();
  return ExactUniform(bits, word).IsBelowExpOfMinus(exponent);
}

int64_t DiscreteGaussian::Draw(BitBuffer& bits) const {
  while (true) {
    const int64_t proposal = proposal_.Draw(bits);
    if (Accept(bits, static_cast<uint64_t>(proposal < 0 ? -proposal : proposal))) return proposal;
  }
}

int64_t DiscreteGaussian::Draw(BitSource& bits) const {
  BitBuffer buffer(bits, kWordsPerDraw);
  return Draw(buffer);
}

void DiscreteGaussian::Fill(BitSource& bits, std::span<int64_t> values) const {
  BitBuffer buffer(bits, kWordsPerDraw * values.size());
  for (int64_t& value : values) value = Draw(buffer);
}

}  // namespace curator::dp
