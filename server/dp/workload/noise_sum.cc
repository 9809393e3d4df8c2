#include "dp/workload/noise_sum.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "dp/noise/noise_spec.h"

namespace curator::dp {
namespace {

// The moment generating function E exp(z X) of one noise value X, on the complex line z = theta + i t.
class MomentFunction {
 public:
  using Real = long double;
  using Complex = std::complex<long double>;

  explicit MomentFunction(const NoiseSpec& noise);

  Real variance() const { return variance_; }

  // The pole; none for Gaussian noise.
  std::optional<Real> pole() const;

  // ln M(z). Any branch of the logarithm: it is raised to whole powers only.
  Complex Log(Complex z) const;

  // A bound of ln |M(theta + i t)| - ln M(theta) that holds for all of [t, pi].
  //
  // Laplace: 1/|M|^2 rises with |t| on [0, pi], so the value itself. Gaussian with sigma^2 >= 1/2: the terms
  // of the Poisson sum by absolute value, sigma^2 t^2 / 2 down and at most ln 2 up. Gaussian below: with the
  // tilted probabilities p_x, |sum p_x exp(i t x)|^2 = 1 - sum p_x p_y (1 - cos(t (x - y))), of which only
  // neighbours are kept.
  Real LogRatioBound(Real theta, Real t) const;

 private:
  Complex LogGaussian(Complex z) const;
  Real NeighbourMass(Real theta) const;

  const Mechanism mechanism_;
  Real parameter_ = 1;       // the scale, or sigma squared
  Real half_rate_sinh_ = 1;  // of Laplace noise: sinh(1 / (2 scale))
  Real variance_ = 0;
  Real log_at_zero_ = 0;  // of Gaussian noise, before it is normalised
};

using Real = MomentFunction::Real;
using Complex = MomentFunction::Complex;

constexpr Real kPi = std::numbers::pi_v<Real>;
constexpr Real kPoissonFrom = 0.5;  // sigma squared
constexpr int kNearTerms = 12;      // on either side: 17 sigma at least

Real Value(Rational rational) {
  return static_cast<Real>(rational.numerator) / static_cast<Real>(rational.denominator);
}

MomentFunction::MomentFunction(const NoiseSpec& noise)
    : mechanism_(noise.mechanism), parameter_(Value(noise.parameter)) {
  if (mechanism_ == Mechanism::kDiscreteLaplace) {
    half_rate_sinh_ = std::sinh(1 / (2 * parameter_));
    variance_ = DiscreteLaplaceVariance(noise.parameter);
  } else {
    variance_ = DiscreteGaussianVariance(noise.parameter);
    log_at_zero_ = LogGaussian(0).real();
  }
}

std::optional<Real> MomentFunction::pole() const {
  if (mechanism_ == Mechanism::kDiscreteGaussian) return std::nullopt;
  return 1 / parameter_;
}

Complex MomentFunction::Log(Complex z) const {
  if (mechanism_ == Mechanism::kDiscreteGaussian) return LogGaussian(z) - log_at_zero_;
  const Complex ratio = std::sinh(z / Real{2}) / half_rate_sinh_;
  const Complex square = ratio * ratio;
  if (z.imag() == 0) return -std::log1p(-square.real());
  return -std::log(Real{1} - square);
}

Complex MomentFunction::LogGaussian(Complex z) const {
  if (parameter_ >= kPoissonFrom) {
    Complex sum = 1;
    for (int k = 1; k <= 2; ++k) {
      const Real decay = -2 * kPi * kPi * parameter_ * k * k;
      const Complex turn = Complex(0, 2 * kPi * k * parameter_) * z;
      sum += std::exp(decay + turn) + std::exp(decay - turn);
    }
    return parameter_ * z * z / Real{2} + std::log(sum);
  }
  const Real centre = std::round(parameter_ * z.real());
  const Real largest = centre * (z.real() - centre / (2 * parameter_));
  Complex sum = 0;
  for (int step = -kNearTerms; step <= kNearTerms; ++step) {
    const Real x = centre + step;
    const Real size = x * (z.real() - x / (2 * parameter_)) - largest;
    sum += std::exp(size) * Complex(std::cos(z.imag() * x), std::sin(z.imag() * x));
  }
  return largest + std::log(sum);
}

Real MomentFunction::LogRatioBound(Real theta, Real t) const {
  if (mechanism_ == Mechanism::kDiscreteLaplace)
    return Log(Complex(theta, t)).real() - Log(Complex(theta, 0)).real();
  if (parameter_ >= kPoissonFrom) {
    const Real first =
        std::exp(-2 * kPi * parameter_ * (kPi - t)) + std::exp(-2 * kPi * parameter_ * (kPi + t));
    const Real rest = 3 * std::exp(-4 * kPi * kPi * parameter_);   // k = 2 and -2, and all beyond
    const Real floor = 3 * std::exp(-2 * kPi * kPi * parameter_);  // what M(theta) may lack
    return -parameter_ * t * t / 2 + std::log1p(first + rest) - std::log1p(-floor);
  }
  const Real half_sine = std::sin(t / 2);
  return std::log1p(-4 * NeighbourMass(theta) * half_sine * half_sine) / 2;
}

Real MomentFunction::NeighbourMass(Real theta) const {
  const Real centre = std::round(parameter_ * theta);
  const auto weight = [&](Real x) {
    return std::exp(x * (theta - x / (2 * parameter_)) - centre * (theta - centre / (2 * parameter_)));
  };
  Real total = 0;
  Real pairs = 0;
  for (int step = -kNearTerms; step <= kNearTerms; ++step) {
    total += weight(centre + step);
    pairs += weight(centre + step) * weight(centre + step + 1);
  }
  return pairs / (total * total);
}

constexpr int64_t kMostMixed = 16;     // discrete Laplace values whose sum is a short mixture
constexpr Real kRounding = 1 + 1e-9L;  // outward

Real Power(Real base, int64_t exponent) {
  return std::pow(base, static_cast<Real>(exponent));
}

// Sums of few discrete Laplace values. With a = 1/(1 - q x) and b = (q/x)/(1 - q/x), the generating function
// of one value is (1 - q)^2 a (1 + b), and a b = (q^2 a + b)/(1 - q^2): a product of powers of a and b comes
// apart into powers of a alone (sums of at least 0) and of b alone (negative sums), all with positive
// weights. The power a^n has the coefficients C(n - 1 + s, s) q^s.
class LaplaceMixture {
 public:
  LaplaceMixture(Real scale, int64_t terms)
      : q_(std::exp(-1 / scale)), p_(-std::expm1(-1 / scale)), terms_(static_cast<size_t>(terms)) {
    const Real gap = -std::expm1(-2 / scale);  // 1 - q^2
    weights_.assign(terms_ + 1, 0);
    // left[i]: the weight of a^i b^j, for j falling from `terms`; what is left at j = 0 are powers of a.
    std::vector<Real> left(terms_ + 1, 0);
    Real binomial = 1;  // C(terms, j)
    std::vector<Real> start(terms_ + 1, 0);
    for (size_t j = 0; j <= terms_; ++j) {
      start[j] = binomial / Power(gap, terms);
      binomial = binomial * static_cast<Real>(terms_ - j) / static_cast<Real>(j + 1);
    }
    for (size_t j = terms_; j >= 1; --j) {
      left[terms_ - j] += start[j];
      // a^i b^j = (q^2 a^i b^(j-1) + a^(i-1) b^j) / (1 - q^2): from the highest power of a down.
      std::vector<Real> next(terms_ + 1, 0);
      for (size_t i = terms_; i >= 1; --i) {
        next[i] += q_ * q_ * left[i] / gap;
        left[i - 1] += left[i] / gap;
      }
      left = std::move(next);
    }
    left[terms_] += start[0];
    for (size_t n = 1; n <= terms_; ++n) weights_[n] = left[n] * Power(p_, 2 * terms);
  }

  // P(S >= w) for w >= 1: the sum over s >= w of C(n - 1 + s, s) q^s is p^-n P(Binomial(w + n - 1, p) < n).
  Real Tail(int64_t w) const {
    Real tail = 0;
    for (size_t n = 1; n <= terms_; ++n) {
      const Real trials = static_cast<Real>(w) + static_cast<Real>(n) - 1;
      Real term = std::pow(q_, trials);
      Real below = 0;
      for (size_t i = 0; i < n; ++i) {
        below += term;
        term *= (trials - static_cast<Real>(i)) / static_cast<Real>(i + 1) * p_ / q_;
      }
      tail += weights_[n] * below / Power(p_, static_cast<int64_t>(n));
    }
    return tail;
  }

 private:
  const Real q_;
  const Real p_;
  const size_t terms_;
  std::vector<Real> weights_;
};

// The integral of the header.
class SaddlePointTail {
 public:
  SaddlePointTail(const NoiseSpec& noise, int64_t terms)
      : moments_(noise),
        terms_(static_cast<Real>(terms)),
        deviation_(std::sqrt(moments_.variance() * terms_)) {}

  Real deviation() const { return deviation_; }

  // P(S >= w) for w >= 1.
  Real operator()(int64_t w) const {
    const Real edge = static_cast<Real>(w);
    const Real theta = SaddlePoint(edge);
    const Real chernoff = terms_ * LogMoment(theta) - theta * edge;
    const Real points = Points(theta, edge, chernoff);
    const Real step = 2 * std::numbers::pi_v<Real> / points;
    const Real negligible = -45 - std::log1p(deviation_);
    const Complex at_saddle = moments_.Log({theta, 0});
    Real sum = 1 / -std::expm1(-theta) / 2;
    bool cut = false;
    const auto last = static_cast<int64_t>(points / 2);
    for (int64_t k = 1; k <= last && !cut; ++k) {
      const Real t = std::min(step * static_cast<Real>(k), std::numbers::pi_v<Real>);
      const Complex z(theta, t);
      const Complex exponent = terms_ * (moments_.Log(z) - at_saddle) - Complex(0, t * edge);
      const Real weight = k == last ? 0.5L : 1;
      sum += weight * (std::exp(exponent) / (Real{1} - std::exp(-z))).real();
      cut = terms_ * moments_.LogRatioBound(theta, t) < negligible;
    }
    Real mean = 2 * sum / points;
    if (cut) mean += std::exp(negligible) / -std::expm1(-theta);
    return std::exp(chernoff) * mean;
  }

 private:
  Real LogMoment(Real theta) const { return moments_.Log({theta, 0}).real(); }

  Real Exponent(Real theta, Real edge) const {
    return terms_ * LogMoment(theta) - theta * edge - std::log(-std::expm1(-theta));
  }

  // Where the integrand on the real line is smallest, to a per mille: it has one minimum, being convex.
  Real SaddlePoint(Real edge) const {
    Real low = std::log(1e-3L / deviation_);
    Real high = low + 1;
    const std::optional<Real> pole = moments_.pole();
    const Real limit = pole ? std::log(*pole * (1 - 1e-6L)) : std::numeric_limits<Real>::infinity();
    while (high < limit && Exponent(std::exp(high), edge) < Exponent(std::exp(high - 1), edge)) high += 1;
    high = std::min(high, limit);
    low = std::min(low, high - 1);
    while (high - low > 1e-3L) {
      const Real third = (high - low) / 3;
      const bool falling = Exponent(std::exp(low + third), edge) > Exponent(std::exp(high - third), edge);
      (falling ? low : high) = falling ? low + third : high - third;
    }
    return std::exp((low + high) / 2);
  }

  // Even, and large enough that both neighbours of the true value, N away, are below 1e-12 of it.
  Real Points(Real theta, Real edge, Real chernoff) const {
    constexpr Real kDigits = 35;
    const std::optional<Real> pole = moments_.pole();
    const Real room = pole ? (*pole - theta) / 2 : std::numeric_limits<Real>::infinity();
    const Real small = std::log1p(theta * deviation_);  // what the tail is below its Chernoff bound
    // Chernoff's bound of what lies N above, at theta + shift: the shift that asks for the fewest points.
    Real fewest = std::numeric_limits<Real>::infinity();
    Real shift = std::min(room, 8 / deviation_);
    for (int halvings = 0; halvings < 40; ++halvings, shift /= 2) {
      const Real above = terms_ * (LogMoment(theta + shift) - LogMoment(theta)) - shift * edge;
      fewest = std::min(fewest, (kDigits + std::max<Real>(above, 0) + small) / shift);
    }
    const Real needed = std::max((kDigits - chernoff + small) / theta, fewest);
    return 2 * std::ceil(needed / 2) + 2;
  }

  const MomentFunction moments_;
  const Real terms_;
  const Real deviation_;
};

bool IsShortMixture(const NoiseSpec& noise, int64_t terms) {
  return noise.mechanism == Mechanism::kDiscreteLaplace && terms <= kMostMixed;
}

Real ScaleOf(const NoiseSpec& noise) {
  return static_cast<Real>(noise.parameter.numerator) / static_cast<Real>(noise.parameter.denominator);
}

double TwoSided(Real tail) {
  return static_cast<double>(std::min<Real>(1, 2 * tail * kRounding));
}

// The smallest w >= 0 with tail(w) <= excluded, for a falling `tail`; `start` is the first guess.
template <typename Tail>
int64_t SmallestWithin(Real excluded, int64_t start, const Tail& tail) {
  int64_t enough = std::max<int64_t>(start, 1);
  int64_t short_of = -1;
  while (tail(enough) > excluded) {
    short_of = enough;
    enough *= 2;
  }
  while (enough - short_of > 1) {
    const int64_t middle = short_of + (enough - short_of) / 2;
    (tail(middle) <= excluded ? enough : short_of) = middle;
  }
  return enough;
}

// P(|X| > 0) of one value, at most: nothing is left to sum where even all values together are almost surely
// 0.
Real NonzeroProbability(const NoiseSpec& noise) {
  const Real parameter = ScaleOf(noise);
  const Real rate = noise.mechanism == Mechanism::kDiscreteLaplace ? 1 / parameter : 1 / (2 * parameter);
  return std::min<Real>(1, 2 * std::exp(-rate) / -std::expm1(-rate));
}

}  // namespace

double SumTailProbability(const NoiseSpec& noise, int64_t terms, int64_t w) {
  const Real crude = NonzeroProbability(noise) * static_cast<Real>(terms);
  if (crude < 1e-300L) return static_cast<double>(crude);
  if (IsShortMixture(noise, terms)) return TwoSided(LaplaceMixture(ScaleOf(noise), terms).Tail(w + 1));
  return TwoSided(SaddlePointTail(noise, terms)(w + 1));
}

absl::StatusOr<int64_t> SumConfidenceHalfWidth(const NoiseSpec& noise, int64_t terms, double level) {
  if (!(level > 0 && level < 1)) {
    return InvalidField("confidence_level", "must lie strictly between 0 and 1, e.g. 0.95");
  }
  if (terms < 1 || terms > kMostSummedValues) {
    return InvalidField("terms", "must be 1 to " + std::to_string(kMostSummedValues));
  }
  if (terms == 1) return ConfidenceHalfWidth(noise, level);
  const Real excluded = 1 - static_cast<Real>(level);
  if (NonzeroProbability(noise) * static_cast<Real>(terms) <= excluded) return 0;
  if (IsShortMixture(noise, terms)) {
    const LaplaceMixture mixture(ScaleOf(noise), terms);
    return SmallestWithin(excluded, static_cast<int64_t>(4 * ScaleOf(noise)),
                          [&](int64_t w) { return TwoSided(mixture.Tail(w + 1)); });
  }
  const SaddlePointTail tail(noise, terms);
  return SmallestWithin(excluded, static_cast<int64_t>(2 * tail.deviation()),
                        [&](int64_t w) { return TwoSided(tail(w + 1)); });
}

}  // namespace curator::dp
