// The exact discrete Laplace distribution: P(x) = (1 - q)/(1 + q) * q^|x| over the integers,
// q = exp(-1/scale).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "dp/accounting/units.h"
#include "dp/noise/bit_source.h"
#include "dp/noise/fixed_point_exp.h"

namespace curator::dp {

// A sampler for one scale. Immutable: may be shared by threads, each with its own BitSource.
//
// Draws are a function of the source's words alone, the same on every machine and in every build.
class DiscreteLaplace {
 public:
  // Scales above this are refused, so that no draw can leave (-2^62, 2^62): see the range proof in
  // discrete_laplace.cc.
  static constexpr int64_t kMaxScale = int64_t{1} << 52;

  // Errors: INVALID_ARGUMENT, naming "scale", unless 0 < scale <= kMaxScale and the denominator is positive.
  static absl::StatusOr<DiscreteLaplace> Create(Rational scale);

  // One draw; |value| < 2^62.
  int64_t Draw(BitSource& bits) const;

  // Independent draws into all of `values`: much faster than as many calls of Draw(), and not the same
  // values.
  void Fill(BitSource& bits, std::span<int64_t> values) const;

  // The scale in lowest terms.
  Rational scale() const { return scale_; }

  // One draw from words that the caller buffers: for samplers built on this one.
  int64_t Draw(BitBuffer& bits) const;

 private:
  static constexpr size_t kWordsPerDraw = 6;  // about; the size of a block of bits, nothing else

  explicit DiscreteLaplace(Rational reduced_scale);

  bool KeepRemainder(BitBuffer& bits, uint64_t remainder) const;

  Rational scale_;
  LinearExponent remainder_exponent_;  // u -> u / scale_.numerator
};

}  // namespace curator::dp
