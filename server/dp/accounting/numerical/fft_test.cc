#include "dp/accounting/numerical/fft.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <unsupported/Eigen/FFT>

#include "dp/accounting/testing/random_events.h"

namespace curator::dp {
namespace {

constexpr double kUnitRoundoff = 0x1p-53;

using Complex = std::complex<double>;
using Transforms = Eigen::internal::kissfft_impl<double>;

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

// Integers whose products and sums are exact in 64 bits: the truth is known to the last bit.
std::vector<double> Integers(size_t length, int64_t largest, testing::RandomEvents& random) {
  std::vector<double> values;
  for (size_t i = 0; i < length; ++i) values.push_back(static_cast<double>(random.Between(0, largest)));
  return values;
}

double Norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

// The largest error of a convolution of two sequences of integers, in units of the proven bound; looked for
// at every `stride`-th value.
double LargestError(const std::vector<double>& a, const std::vector<double>& b,
                    const std::vector<double>& convolved, int levels, size_t stride) {
  double largest = 0;
  for (size_t k = 0; k < convolved.size(); k += stride) {
    int64_t exact = 0;
    for (size_t i = k < b.size() ? 0 : k - b.size() + 1; i < a.size() && i <= k; ++i)
      exact += static_cast<int64_t>(a[i]) * static_cast<int64_t>(b[k - i]);
    largest = std::max(largest, std::abs(convolved[k] - static_cast<double>(exact)));  // below 2^53: exact
  }
  return largest / (TransformRounding(levels) * Norm(a) * Norm(b));
}

// Two sequences of 2^(levels - 1) integers, whose convolution fills transforms of 2^levels.
struct Pair {
  std::vector<double> a;
  std::vector<double> b;
};

Pair PairFor(int levels, uint64_t seed) {
  testing::RandomEvents random(seed);
  const auto length = size_t{1} << (levels - 1);
  const int64_t largest = int64_t{1} << (24 - levels / 2);
  return {Integers(length, largest, random), Integers(length, largest, random)};
}

TEST(Convolution, TheLargestErrorIsBelowTheProvenBoundAndNotFarBelow) {
  for (int levels = 6; levels <= 16; ++levels) {
    const Pair pair = PairFor(levels, static_cast<uint64_t>(levels));
    const size_t stride = levels <= 11 ? 1 : size_t{1} << (levels - 6);
    const double error = LargestError(pair.a, pair.b, Convolve(pair.a, pair.b).values, levels, stride);
    EXPECT_LT(error, 1) << levels;
    EXPECT_GT(error, 1e-4) << levels << ": the bound is out of proportion";
  }
}

// Lengths whose factors are computed again for each convolution.
TEST(Convolution, LongSequencesKeepTheBound) {
  testing::RandomEvents random(23);
  const std::vector<double> a = Integers(200'000, 1 << 16, random);
  const std::vector<double> b = Integers(200'000, 1 << 16, random);
  EXPECT_LT(LargestError(a, b, Convolve(a, b).values, 19, 20'011), 1);
}

TEST(Convolution, TheBoundOfASequenceCoversItsNorms) {
  testing::RandomEvents random(24);
  for (const double scale : {1.0, 1e-120, 1e-170}) {  // the squares of the last underflow
    std::vector<double> a(100);
    for (double& value : a) value = scale * static_cast<double>(random.Between(1, 1000));
    const std::vector<double> b(100, 1.0);
    double norm = 0;
    for (const double value : a) norm = std::hypot(norm, value);
    EXPECT_GE(Convolve(a, b).absolute_error, TransformRounding(8) * norm * 10) << scale;
    EXPECT_LE(Convolve(a, b).absolute_error, TransformRounding(8) * norm * 10 * (1 + 1e-5) + 1e-300) << scale;
  }
}

// The roots of unity to more digits than a double has.
double DistanceFromRoot(Complex value, size_t k, size_t length) {
  const long double angle =
      -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(length);
  return static_cast<double>(std::hypot(std::cos(angle) - static_cast<long double>(value.real()),
                                        std::sin(angle) - static_cast<long double>(value.imag())));
}

// Transforms of impulses: whatever is added to a factor is 0, whatever it is multiplied by is 1 or i, so the
// twiddle factors themselves come out. That of a complex impulse at 1, 2, 3 has all factors of its length; a
// real one at 1 has those that join the halves.
TEST(Transform, TheFactorsAreAsCloseToTheRootsOfUnityAsTheProofTakesThem) {
  for (const int levels : {5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 19, 22}) {
    const auto length = size_t{1} << levels;
    const size_t stride = levels <= 16 ? 1 : 101;
    const auto size = static_cast<int>(length);
    double complex = 0;
    for (const size_t at : {1, 2, 3}) {
      std::vector<Complex> impulse(length);
      impulse[at] = 1;
      std::vector<Complex> spectrum(length);
      Transforms().fwd(spectrum.data(), impulse.data(), size);
      for (size_t k = 0; k < length; k += stride)
        complex = std::max(complex, DistanceFromRoot(spectrum[k], at * k % length, length));
    }
    std::vector<double> impulse(length);
    impulse[1] = 1;
    std::vector<Complex> spectrum(length / 2 + 1);
    Transforms().fwd(spectrum.data(), impulse.data(), size);
    double halves = 0;
    for (size_t k = 0; k < spectrum.size(); k += stride)
      halves = std::max(halves, DistanceFromRoot(spectrum[k], k, length));
    EXPECT_LT(complex, 2.5 * kUnitRoundoff) << levels;
    EXPECT_GT(complex, 0) << levels;
    EXPECT_LT(halves, 5.7 * kUnitRoundoff) << levels;
    EXPECT_GT(halves, 0) << levels;
  }
}

// The proof counts stages of radix 4, and one of radix 2 at the end of odd powers.
TEST(Transform, ItsStagesAreTheOnesThatTheProofCounts) {
  for (int levels = 2; levels <= 22; ++levels) {
    Eigen::internal::kiss_cpx_fft<double> plan;
    plan.factorize(1 << levels);
    std::vector<int> expected(static_cast<size_t>(levels / 2), 4);
    if (levels % 2 == 1) expected.push_back(2);
    EXPECT_EQ(plan.m_stageRadix, expected) << levels;
  }
}

// Transforms whose twiddle factors are all off by one part in 10^12.
class BentTransforms : public Transforms {
 public:
  explicit BentTransforms(int length) {
    for (const bool is_inverse : {false, true}) {
      for (Complex& factor : get_plan(length / 2, is_inverse).m_twiddles) factor *= 1 + 1e-12;
    }
  }
};

std::vector<double> ConvolvedBy(Transforms& transforms, const Pair& pair) {
  const size_t length = pair.a.size() + pair.b.size();
  const auto size = static_cast<int>(length);
  std::vector<double> buffer(length);
  const auto spectrum = [&](const std::vector<double>& values) {
    std::fill(std::copy(values.begin(), values.end(), buffer.begin()), buffer.end(), 0.0);
    std::vector<Complex> result(length / 2 + 1);
    transforms.fwd(result.data(), buffer.data(), size);
    return result;
  };
  std::vector<Complex> product = spectrum(pair.a);
  const std::vector<Complex> other = spectrum(pair.b);
  for (size_t k = 0; k < product.size(); ++k) product[k] *= other[k];
  transforms.inv(buffer.data(), product.data(), size);
  for (double& value : buffer) value /= static_cast<double>(length);
  buffer.pop_back();
  return buffer;
}

TEST(TransformCanary, FactorsThatAreOffByOnePartInATrillionAreCaught) {
  for (const int levels : {6, 8, 11}) {
    const Pair pair = PairFor(levels, 25);
    Transforms sound;
    EXPECT_LT(LargestError(pair.a, pair.b, ConvolvedBy(sound, pair), levels, 1), 1) << levels;
    BentTransforms bent(1 << levels);
    EXPECT_GT(LargestError(pair.a, pair.b, ConvolvedBy(bent, pair), levels, 1), 1) << levels;
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
