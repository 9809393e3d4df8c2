// Source: Canonne, Kamath, Steinke 2020, "The Discrete Gaussian for Differential Privacy", Algorithm 3, as in
// discrete_gaussian.cc, with another scale of the proposal.
//
// For any integer t > 0: Y discrete Laplace of scale t, kept with probability exp(-z^2) for
// z = (|Y| - s/t) / sqrt(2 s), is discrete Gaussian with the parameter s: the product of exp(-|y|/t) and
// exp(-z^2) is exp(-y^2 / (2 s)) times a constant. The fewest proposals are rejected at t near sqrt(s); t is
// the nearest integer to a power of sqrt(2), so for large s within a factor 2^(1/4) of it, which costs 3%
// more of them at most.
//
// Exactness. The proposal is exact. z = |Y| / sqrt(2 s) - sqrt(2 s) / (2 t) is computed from the roots of
// sigma_squared and of each factor, each rounded down, whose errors are carried below; where they leave the
// trial open, it is decided with the rational z^2, in GMP and MPFR.
//
// Range. s <= 2^102, so t <= 2^52, the largest scale that a proposal may have: |Y| < 2^62 (see
// discrete_laplace.cc).
#include "dp/noise/product_gaussian.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/int128.h"
#include "base/status_macros.h"
#include "dp/noise/exact_uniform.h"
#include "dp/noise/fixed_point_exp.h"

namespace curator::dp {
namespace {

// z is held in units of 2^-60 and is below 8, so that it fits an int64.
constexpr int kZBits = 60;

// The fixed-point z^2 is less than this many units of 2^-58 off. A root of a parameter is a product of at
// most 10 numbers that are each rounded down, as are the 9 products: it is too small by less than 19 2^-63 of
// itself. So |Y| / sqrt(2 s), below 8, is too small by at most 19 units of 2^-60, and one for its rounding;
// sqrt(2 s) / (2 t), at most 1, by 4 units, with those of 1/t, its product and its rounding. z is off by at
// most 20 units either way, z^2 by 2 * 8 * 20 + 1 units of 2^-60, less than 81 of 2^-58, and one for
// rounding.
constexpr uint64_t kSquareError = 88;

constexpr uint64_t kHalfOfAWord = uint64_t{1} << 63;
constexpr uint64_t kRootOfTwo = 13043817825332782212U;  // 2^63 sqrt(2), rounded down
constexpr int kMostSteps = 103;                         // of sqrt(2), up to sqrt(2 s) = 2^51.5

}  // namespace

// sqrt(numerator / denominator).
ProductGaussian::Float ProductGaussian::RootOf(const mpz_class& numerator, const mpz_class& denominator) {
  const auto bits_of = [](const mpz_class& number) {
    return static_cast<int>(mpz_sizeinbase(number.get_mpz_t(), 2));
  };
  // 2^(2 scale) times the quotient has 127 or 128 bits, so that its root has 64.
  int scale = (128 - bits_of(numerator) + bits_of(denominator)) / 2;
  while (true) {
    const mpz_class scaled = scale >= 0 ? mpz_class((numerator << (2 * scale)) / denominator)
                                        : mpz_class(numerator / (denominator << (-2 * scale)));
    const int bits = bits_of(scaled);
    if (bits == 127 || bits == 128) return {mpz_class(sqrt(scaled)).get_ui(), -scale};
    scale += bits < 127 ? 1 : -1;
  }
}

ProductGaussian::Roots ProductGaussian::RootsOf(const mpz_class& numerator, const mpz_class& denominator) {
  return {RootOf(numerator, denominator), RootOf(denominator, numerator)};
}

ProductGaussian::Float ProductGaussian::Product(Float a, Float b) {
  const auto product = static_cast<Uint128>(a.mantissa) * b.mantissa;  // in [2^126, 2^128)
  const int shift = 64 - std::countl_zero(static_cast<uint64_t>(product >> 64));
  return {static_cast<uint64_t>(product >> shift), a.exponent + b.exponent + shift};
}

ProductGaussian::Roots ProductGaussian::Product(const Roots& a, const Roots& b) {
  return {Product(a.root, b.root), Product(a.inverse, b.inverse)};
}

// By twice the logarithm of sqrt(2 s) to base 2: for sqrt(2 s) between 2^(step/2) and 2^((step + 1)/2), so
// that t^2 is to be 2^(step - 1/2).
const std::vector<ProductGaussian::Proposal>& ProductGaussian::Proposals() {
  static const auto* const proposals = [] {
    auto* made = new std::vector<Proposal>();
    for (int step = 0; step <= kMostSteps; ++step) {
      const mpz_class squared_twice = (mpz_class(kRootOfTwo) << (step + 2)) >> 64;
      const int64_t t = std::max<int64_t>(1, mpz_class((sqrt(squared_twice) + 1) / 2).get_si());
      made->push_back({DiscreteLaplace::Create({t, 1}).value(), RootOf(1, mpz_class(t) * t)});
    }
    return made;
  }();
  return *proposals;
}

absl::Status ProductGaussian::Check(Rational sigma_squared,
                                    const std::vector<std::vector<int64_t>>& factors) {
  if (factors.size() > kMostAxes)
    return InvalidField("factors", absl::StrCat("has more than ", kMostAxes, " axes"));
  mpz_class largest(1);
  for (const std::vector<int64_t>& axis : factors) {
    if (axis.empty() || *std::ranges::min_element(axis) < 1)
      return InvalidField("factors", "must have a positive number for each index of an axis");
    largest *= mpz_class(*std::ranges::max_element(axis));
  }
  if (sigma_squared.denominator <= 0 || sigma_squared.numerator <= 0 ||
      sigma_squared.numerator * largest >
          (mpz_class(1) << kLargestLogParameter) * sigma_squared.denominator) {
    return InvalidField("sigma_squared", absl::StrCat("must be above 0 and, with all factors, at most 2^",
                                                      kLargestLogParameter));
  }
  return absl::OkStatus();
}

absl::StatusOr<ProductGaussian> ProductGaussian::Create(Rational sigma_squared,
                                                        const std::vector<std::vector<int64_t>>& factors) {
  RETURN_IF_ERROR(Check(sigma_squared, factors));
  ProductGaussian made;
  const int64_t divisor = std::gcd(sigma_squared.numerator, sigma_squared.denominator);
  made.sigma_squared_ = {sigma_squared.numerator / divisor, sigma_squared.denominator / divisor};
  made.roots_ = RootsOf(2 * mpz_class(made.sigma_squared_.numerator), made.sigma_squared_.denominator);
  for (const std::vector<int64_t>& axis : factors) {
    std::vector<Factor>& own = made.axes_.emplace_back();
    for (const int64_t value : axis) own.push_back({value, RootsOf(value, 1)});
    made.cells_ *= axis.size();
  }
  size_t stride = made.cells_;
  for (const std::vector<int64_t>& axis : factors) made.strides_.push_back(stride /= axis.size());
  return made;
}

ProductGaussian::Trial ProductGaussian::TrialOf(const Roots& roots) const {
  const int logarithm = roots.root.exponent + 63;
  const int step = 2 * logarithm + (roots.root.mantissa >= kRootOfTwo ? 1 : 0);
  Trial trial;
  trial.proposal = &(*proposals_)[static_cast<size_t>(std::clamp(step, 0, kMostSteps))];
  const Float offset = Product(roots.root, trial.proposal->inverse);  // twice the offset
  trial.offset = offset.mantissa >> std::min(63, 1 - kZBits - offset.exponent);
  trial.slope = roots.inverse.mantissa;
  trial.shift = -roots.inverse.exponent - kZBits;
  return trial;
}

// One trial of probability exp(-z^2).
bool ProductGaussian::Accept(BitBuffer& bits, const Trial& trial, uint64_t magnitude, size_t cell) const {
  const uint64_t word = bits.NextWord();
  FixedExponent exponent{FixedExponent::kLargest};
  // Where |Y| / sqrt(2 s) reaches 8, z >= 7: the threshold is below one unit.
  const Uint128 scaled = trial.shift > 0 ? (static_cast<Uint128>(magnitude) * trial.slope) >> trial.shift
                                         : static_cast<Uint128>(magnitude) << 64;
  if (scaled < kHalfOfAWord) {
    const auto z = static_cast<int64_t>(scaled) - static_cast<int64_t>(trial.offset);
    constexpr int kSquareShift = 2 * kZBits - FixedExponent::kFractionBits;
    exponent.units = static_cast<uint64_t>(static_cast<Uint128>(static_cast<Int128>(z) * z) >> kSquareShift);
  }
  const Comparison comparison = CompareUniformWithExp(word, exponent, kSquareError);
  if (comparison != Comparison::kUndecided) return comparison == Comparison::kBelow;
  return AcceptExactly(bits, word, trial, magnitude, cell);
}

bool ProductGaussian::AcceptExactly(BitBuffer& bits, uint64_t word, const Trial& trial, uint64_t magnitude,
                                    size_t cell) const {
  mpz_class p(sigma_squared_.numerator);
  for (size_t axis = 0; axis < axes_.size(); ++axis)
    p *= mpz_class(axes_[axis][cell / strides_[axis] % axes_[axis].size()].value);
  const mpz_class q(sigma_squared_.denominator);
  const mpz_class t(trial.proposal->laplace.scale().numerator);
  const mpz_class difference = mpz_class(magnitude) * q * t - p;
  mpq_class exponent(difference * difference, 2 * p * q * t * t);
  exponent.canonicalize();
  return ExactUniform(bits, word).IsBelowExpOfMinus(exponent);
}

// The cells from `first` on that share the indices of the axes before `axis`, whose roots are `roots`.
void ProductGaussian::FillFrom(BitBuffer& bits, size_t axis, const Roots& roots, size_t first,
                               std::span<int64_t> values) const {
  if (axis < axes_.size()) {
    for (const Factor& factor : axes_[axis]) {
      FillFrom(bits, axis + 1, Product(roots, factor.roots), first, values);
      first += strides_[axis];
    }
    return;
  }
  const Trial trial = TrialOf(roots);
  while (true) {
    const int64_t proposal = trial.proposal->laplace.Draw(bits);
    if (!Accept(bits, trial, static_cast<uint64_t>(proposal < 0 ? -proposal : proposal), first)) continue;
    values[first] = proposal;
    return;
  }
}

void ProductGaussian::Fill(BitSource& bits, std::span<int64_t> values) const {
  constexpr size_t kWordsPerDraw = 8;  // about; the size of a block of bits, nothing else
  BitBuffer buffer(bits, kWordsPerDraw * values.size());
  FillFrom(buffer, 0, roots_, 0, values);
}

}  // namespace curator::dp
