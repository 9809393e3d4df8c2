#include "dp/accounting/numerical/fft.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dp/accounting/testing/random_events.h"

namespace curator::dp {
namespace {

std::vector<double> Sequence(size_t length, testing::RandomEvents& random) {
  std::vector<double> values;
  for (size_t i = 0; i < length; ++i) {
    values.push_back(static_cast<double>(random.Between(0, 1'000'000)) *
                     std::pow(10.0, -static_cast<double>(random.Between(6, 30))));
  }
  return values;
}

TEST(Convolution, ErrorsStayWithinTheStatedBound) {
  testing::RandomEvents random(21);
  for (const auto& [n, m] : {std::pair<size_t, size_t>{1, 5}, {24, 300}, {25, 25}, {100, 700}, {513, 512}}) {
    const std::vector<double> a = Sequence(n, random);
    const std::vector<double> b = Sequence(m, random);
    const Convolution convolution = Convolve(a, b);
    ASSERT_EQ(convolution.values.size(), n + m - 1);
    for (size_t k = 0; k < n + m - 1; ++k) {
      long double exact = 0;
      for (size_t i = k < m ? 0 : k - m + 1; i < n && i <= k; ++i) {
        exact += static_cast<long double>(a[i]) * static_cast<long double>(b[k - i]);
      }
      const long double error = std::abs(static_cast<long double>(convolution.values[k]) - exact);
      ASSERT_LE(error, convolution.relative_error * exact + convolution.absolute_error)
          << n << " " << m << " " << k;
    }
  }
}

TEST(Convolution, ASquareIsAConvolutionWithItself) {
  testing::RandomEvents random(22);
  const std::vector<double> a = Sequence(200, random);
  const std::vector<double> copy = a;
  EXPECT_EQ(Convolve(a, a).values, Convolve(a, copy).values);
}

// Rounding that nobody accounts for can make a mass negative; the bound must cover it.
TEST(Convolution, TheBoundCoversNegativeMasses) {
  std::vector<double> a(400, 0.0);
  a.front() = 1;
  a.back() = 1e-3;
  const Convolution convolution = Convolve(a, a);
  for (const double value : convolution.values) EXPECT_GE(value, -convolution.absolute_error);
}

}  // namespace
}  // namespace curator::dp
