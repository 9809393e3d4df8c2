// The exact discrete Gaussian distribution: P(x) ~ exp(-x^2 / (2 sigma_squared)) over the integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "dp/accounting/units.h"
#include "dp/noise/bit_source.h"
#include "dp/noise/discrete_laplace.h"

namespace curator::dp {

// A sampler for one variance parameter. Immutable: may be shared by threads, each with its own BitSource.
//
// Draws are a function of the source's words alone, the same on every machine and in every build.
class DiscreteGaussian {
 public:
  // Larger parameters are refused, so that no draw can leave (-2^62, 2^62): see the range proof in
  // discrete_gaussian.cc.
  static constexpr int64_t kMaxSigmaSquared = int64_t{1} << 62;

  // Errors: INVALID_ARGUMENT, naming "sigma_squared", unless 0 < sigma_squared <= kMaxSigmaSquared and the
  // denominator is positive.
  static absl::StatusOr<DiscreteGaussian> Create(Rational sigma_squared);

  // One draw; |value| < 2^62.
  int64_t Draw(BitSource& bits) const;

  // Independent draws into all of `values`: much faster than as many calls of Draw(), and not the same
  // values.
  void Fill(BitSource& bits, std::span<int64_t> values) const;

  // The parameter in lowest terms. The variance is a little smaller: see noise_spec.h.
  Rational sigma_squared() const { return sigma_squared_; }

 private:
  static constexpr size_t kWordsPerDraw = 8;  // about; the size of a block of bits, nothing else

  DiscreteGaussian(Rational reduced_sigma_squared, DiscreteLaplace proposal);

  int64_t Draw(BitBuffer& bits) const;
  bool Accept(BitBuffer& bits, uint64_t magnitude) const;
  bool AcceptExactly(BitBuffer& bits, uint64_t word, uint64_t magnitude) const;

  Rational sigma_squared_;
  DiscreteLaplace proposal_;  // of scale t = floor(sigma) + 1
  // For Accept(), in fixed point, rounded down.
  uint64_t slope_ = 0;  // 2^(60 + slope_shift_) / (sigma sqrt(2)), in [2^62, 2^63)
  int slope_shift_ = 0;
  uint64_t offset_ = 0;        // 2^60 sigma / (t sqrt(2))
  uint64_t largest_near_ = 0;  // the largest magnitude with magnitude / (sigma sqrt(2)) below 8
};

}  // namespace curator::dp
