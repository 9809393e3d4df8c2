#include "tests/statistical/binomial.h"

#include <gtest/gtest.h>

#include <cmath>

namespace curator::statistics {
namespace {

// The definition, summed.
double AtLeastBySum(uint64_t n, uint64_t k, double p) {
  double sum = 0;
  for (uint64_t i = n; i + 1 > k; --i) {
    const auto real_i = static_cast<double>(i);
    const auto real_n = static_cast<double>(n);
    sum += std::exp(std::lgamma(real_n + 1) - std::lgamma(real_i + 1) - std::lgamma(real_n - real_i + 1) +
                    real_i * std::log(p) + (real_n - real_i) * std::log1p(-p));
    if (i == 0) break;
  }
  return sum;
}

TEST(Binomial, TailsAgreeWithTheirSums) {
  for (const uint64_t n : {1u, 2u, 10u, 1000u}) {
    for (const double p : {1e-6, 0.01, 0.3, 0.5, 0.99}) {
      for (uint64_t k = 0; k <= n; k += 1 + n / 50) {
        const double sum = AtLeastBySum(n, k, p);
        if (sum < 1e-290) continue;  // where a double's precision ends
        EXPECT_NEAR(BinomialAtLeast(n, k, p) / sum, 1, 1e-9)
            << n << " " << k << " " << static_cast<double>(p);
        EXPECT_NEAR(BinomialAtMost(n, n - k, 1 - p) / sum, 1, 1e-8);  // 1 - p is rounded
      }
    }
  }
}

TEST(Binomial, TailsAreExactWhereTheyCanBeCountedByHand) {
  EXPECT_NEAR(BinomialAtLeast(3, 2, 0.5), 0.5, 1e-15);
  EXPECT_NEAR(BinomialAtLeast(2, 2, 0.1), 0.01, 1e-15);
  EXPECT_NEAR(BinomialAtMost(2, 0, 0.1), 0.81, 1e-15);
  EXPECT_EQ(BinomialAtLeast(5, 0, 0.2), 1);
  EXPECT_EQ(BinomialAtMost(5, 5, 0.2), 1);
  EXPECT_EQ(BinomialAtLeast(5, 1, 0), 0);
  EXPECT_EQ(BinomialAtLeast(5, 5, 1), 1);
}

TEST(Binomial, BoundsAreWhereTheTailHasTheirError) {
  for (const double alpha : {1e-10, 0.05}) {
    for (const uint64_t k : {0u, 1u, 50u, 999u, 1000u}) {
      const double low = ProbabilityLowerBound(1000, k, alpha);
      const double high = ProbabilityUpperBound(1000, k, alpha);
      EXPECT_LE(low, static_cast<double>(k) / 1000);
      EXPECT_GE(high, static_cast<double>(k) / 1000);
      if (k > 0) {
        EXPECT_NEAR(BinomialAtLeast(1000, k, low) / alpha, 1, 1e-6);
      }
      if (k < 1000) {
        EXPECT_NEAR(BinomialAtMost(1000, k, high) / alpha, 1, 1e-3);  // a double near 1 is coarse
      }
    }
  }
}

}  // namespace
}  // namespace curator::statistics
