// Discrete Gaussian noise for the cells of a product of axes, where the variance parameter is a product as
// well: a cell (k_1, k_2, ...) has P(x) ~ exp(-x^2 / (2 sigma_squared f_1[k_1] f_2[k_2] ...)).
//
// What a DiscreteGaussian computes once for all draws of one parameter takes longer than a draw; here it is
// put together from tables of the axes, so that a draw takes about as long, whatever its cell.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/accounting/units.h"
#include "dp/noise/bit_source.h"
#include "dp/noise/discrete_gaussian.h"
#include "dp/noise/discrete_laplace.h"

namespace curator::dp {

// Immutable: may be shared by threads, each with its own BitSource. Draws are a function of the source's
// words alone, the same on every machine and in every build.
class ProductGaussian {
 public:
  static constexpr size_t kMostAxes = 9;
  // The largest parameter is 2 to this: such noise is of 51 bits.
  static constexpr int kLargestLogParameter = 102;

  // `factors` has a list for each axis, of a positive integer for each index. Errors: INVALID_ARGUMENT,
  // naming "sigma_squared", unless all products are positive and at most 2^kLargestLogParameter;
  // naming "factors" for more than kMostAxes axes, an empty one, and a factor below 1.
  static absl::Status Check(Rational sigma_squared, const std::vector<std::vector<int64_t>>& factors);

  // Takes half a microsecond for each factor. Errors: those of Check().
  static absl::StatusOr<ProductGaussian> Create(Rational sigma_squared,
                                                const std::vector<std::vector<int64_t>>& factors);

  // The number of cells: the product of the axes' lengths; 1 without axes.
  size_t cells() const { return cells_; }

  // An independent draw for each cell, the last axis running fastest; |value| < 2^62. `values` has cells()
  // places.
  void Fill(BitSource& bits, std::span<int64_t> values) const;

 private:
  // mantissa 2^exponent, with the mantissa in [2^63, 2^64): a positive number, rounded down.
  struct Float {
    uint64_t mantissa = 0;
    int exponent = 0;
  };
  // sqrt(x) and 1 / sqrt(x): of 2 s, where s = sigma_squared f_1 f_2 ... of some axes, and of each factor.
  struct Roots {
    Float root;
    Float inverse;
  };
  struct Factor {
    int64_t value = 1;
    Roots roots;
  };
  struct Proposal {
    DiscreteLaplace laplace;  // of scale t
    Float inverse;            // 1 / t
  };
  // What a draw needs of its cell.
  struct Trial {
    const Proposal* proposal = nullptr;
    uint64_t slope = 0;   // the mantissa of 1 / sqrt(2 s)
    int shift = 0;        // 2^60 |Y| / sqrt(2 s) is |Y| slope / 2^shift; negative where only 0 is near
    uint64_t offset = 0;  // 2^60 sqrt(2 s) / (2 t)
  };

  ProductGaussian() = default;

  static Float RootOf(const mpz_class& numerator, const mpz_class& denominator);
  static const std::vector<Proposal>& Proposals();
  static Roots RootsOf(const mpz_class& numerator, const mpz_class& denominator);
  static Float Product(Float a, Float b);
  static Roots Product(const Roots& a, const Roots& b);
  Trial TrialOf(const Roots& roots) const;
  bool Accept(BitBuffer& bits, const Trial& trial, uint64_t magnitude, size_t cell) const;
  bool AcceptExactly(BitBuffer& bits, uint64_t word, const Trial& trial, uint64_t magnitude,
                     size_t cell) const;
  void FillFrom(BitBuffer& bits, size_t axis, const Roots& roots, size_t first,
                std::span<int64_t> values) const;

  Rational sigma_squared_;
  Roots roots_;  // of 2 sigma_squared
  std::vector<std::vector<Factor>> axes_;
  std::vector<size_t> strides_;  // the cells of one index of each axis
  size_t cells_ = 1;
  const std::vector<Proposal>* proposals_ = &Proposals();
};

}  // namespace curator::dp
