#include "tests/statistical/binomial.h"

#include <algorithm>
#include <cmath>

namespace curator::statistics {
namespace {

// The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. Converges fast
// for x < (a + 1) / (a + b + 2).
long double BetaFraction(long double x, long double a, long double b) {
  constexpr long double kTiny = 1e-4000L;
  long double c = 1;
  long double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
  long double result = d;
  for (int m = 1; m < 100'000; ++m) {
    const auto k = static_cast<long double>(m);
    const long double terms[] = {k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k)),
                                 -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))};
    long double step = 1;
    for (const long double term : terms) {
      d = 1 + term * d;
      c = 1 + term / c;
      d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
      c = std::fabs(c) < kTiny ? kTiny : c;
      step = c * d;
      result *= step;
    }
    if (std::fabs(step - 1) < 1e-17L) break;
  }
  return result;
}

// The regularised incomplete beta function I_x(a, b) for whole a, b >= 1.
long double IncompleteBeta(long double x, long double a, long double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - IncompleteBeta(1 - x, b, a);
  const long double log_front =
      std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  return std::exp(log_front) * BetaFraction(x, a, b) / a;
}

double Rounded(long double value) {
  return static_cast<double>(value);
}

}  // namespace

double BinomialAtLeast(uint64_t n, uint64_t k, double p) {
  if (k == 0) return 1;
  if (k > n) return 0;
  return Rounded(IncompleteBeta(p, static_cast<long double>(k), static_cast<long double>(n - k + 1)));
}

double BinomialAtMost(uint64_t n, uint64_t k, double p) {
  if (k >= n) return 1;
  return Rounded(IncompleteBeta(1 - static_cast<long double>(p), static_cast<long double>(n - k),
                                static_cast<long double>(k + 1)));
}

double BinomialPValue(uint64_t n, uint64_t k, double p) {
  return std::min(1.0, 2 * std::min(BinomialAtLeast(n, k, p), BinomialAtMost(n, k, p)));
}

double ProbabilityLowerBound(uint64_t n, uint64_t k, double alpha) {
  if (k == 0) return 0;
  double low = 0;
  double high = static_cast<double>(k) / static_cast<double>(n);
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (BinomialAtLeast(n, k, middle) <= alpha ? low : high) = middle;
  }
  return low;
}

double ProbabilityUpperBound(uint64_t n, uint64_t k, double alpha) {
  return 1 - ProbabilityLowerBound(n, n - k, alpha);
}

}  // namespace curator::statistics
