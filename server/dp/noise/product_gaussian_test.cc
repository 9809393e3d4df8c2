#include "dp/noise/product_gaussian.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/errors.h"
#include "dp/noise/exact_uniform.h"
#include "dp/noise/noise_spec.h"
#include "dp/noise/testing/exact_gaussian.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr int64_t kLargestNumber = std::numeric_limits<int64_t>::max();

using Factors = std::vector<std::vector<int64_t>>;

std::vector<int64_t> CellDraws(Rational sigma_squared, const Factors& factors, uint64_t seed) {
  const ProductGaussian noise = ProductGaussian::Create(sigma_squared, factors).value();
  seeded::SeededBits bits(seed);
  std::vector<int64_t> values(noise.cells());
  noise.Fill(bits, values);
  return values;
}

TEST(ProductGaussian, RefusesParametersOutsideItsRange) {
  const auto field = [](Rational sigma_squared, const Factors& factors) {
    const auto made = ProductGaussian::Create(sigma_squared, factors);
    const auto violation = FieldViolationOf(made.status());
    return violation ? violation->field : "";
  };
  for (const Rational sigma_squared : {Rational{0, 1}, {-1, 1}, {1, 0}, {1, -1}})
    EXPECT_EQ(field(sigma_squared, {}), "sigma_squared");
  EXPECT_EQ(field({int64_t{1} << 62, 1}, {{1, 1 << 20}, {1 << 20}}), "");
  EXPECT_EQ(field({int64_t{1} << 62, 1}, {{1, 1 << 20}, {1 << 20, 1 << 21}}), "sigma_squared");
  EXPECT_EQ(field({1, 1}, {{1}, {}}), "factors");
  EXPECT_EQ(field({1, 1}, {{2, 0}}), "factors");
  EXPECT_EQ(field({1, 1}, Factors(10, {1})), "factors");
}

TEST(ProductGaussian, HasACellForEachProductOfIndices) {
  EXPECT_EQ(ProductGaussian::Create({1, 1}, {}).value().cells(), 1);
  EXPECT_EQ(ProductGaussian::Create({1, 1}, {{1, 2}, {1, 2, 3}}).value().cells(), 6);
}

// A release that was charged is drawn again from its key after a crash, by whatever build is running then.
TEST(ProductGaussian, TheDrawsOfAKeyAreTheSameForEver) {
  EXPECT_THAT(CellDraws({100, 1}, {{2, 6}, {2, 6, 12}}, 1), testing::ElementsAre(16, -74, 28, -20, -11, 55));
}

// The integer nearest to 2^(step/2 - 1/4), where step/2 is the logarithm of sqrt(2 p/q) in halves, cut.
int64_t ProposalScale(const mpz_class& p, const mpz_class& q) {
  const double variance = mpq_class(p, q).get_d();
  const int step = std::max(0, static_cast<int>(std::floor(std::log2(2 * variance))));
  return std::max<int64_t>(1, std::llround(std::exp2(step / 2.0 - 0.25)));
}

TEST(ProductGaussian, AgreesWithExactArithmeticOnTheSameBits) {
  // No product but the first is half a power of two, whose root may be rounded to another proposal's.
  const Factors axes = {{1, 6, 12, 99 * 100}, {1, 3, 2'000'003}, {1, 5, 7'000}};
  uint64_t seed = 300;
  for (const Rational sigma_squared : {Rational{1, 1000},
                                       {1, 127},
                                       {1, 4},
                                       {1, 1},
                                       {9, 4},
                                       {1'000, 3},
                                       {20'000, 1},
                                       {999'999'999'989, 1'000'000'007},
                                       {4095, kLargestNumber}}) {
    for (int round = 0; round < 20; ++round) {
      seeded::SeededBits bits(++seed);
      BitBuffer buffer(bits, 512);
      std::vector<int64_t> expected;
      for (const int64_t a : axes[0]) {
        for (const int64_t b : axes[1]) {
          for (const int64_t c : axes[2]) {
            const mpz_class p = mpz_class(sigma_squared.numerator) * a * b * c;
            const mpz_class q(sigma_squared.denominator);
            expected.push_back(DrawInExactArithmetic(buffer, p, q, ProposalScale(p, q)));
          }
        }
      }
      EXPECT_EQ(CellDraws(sigma_squared, axes, seed), expected)
          << sigma_squared.numerator << "/" << sigma_squared.denominator;
    }
  }
}

TEST(ProductGaussian, CellsHaveTheVarianceOfTheirFactors) {
  constexpr size_t kRepeats = 20'000;
  const std::vector<int64_t> first = {2, 6, 12};
  const std::vector<int64_t> second = {1, 50};
  const ProductGaussian noise = ProductGaussian::Create({5, 2}, {first, second}).value();
  seeded::SeededBits bits(7);
  std::vector<double> squares(noise.cells());
  std::vector<int64_t> values(noise.cells());
  for (size_t i = 0; i < kRepeats; ++i) {
    noise.Fill(bits, values);
    for (size_t cell = 0; cell < values.size(); ++cell)
      squares[cell] += static_cast<double>(values[cell]) * static_cast<double>(values[cell]);
  }
  const double slack = 5 * std::sqrt(2.0 / kRepeats);
  for (size_t i = 0; i < first.size(); ++i) {
    for (size_t j = 0; j < second.size(); ++j) {
      const double variance = DiscreteGaussianVariance({5 * first[i] * second[j], 2});
      EXPECT_NEAR(squares[i * second.size() + j] / kRepeats / variance, 1, slack) << i << ", " << j;
    }
  }
}

TEST(ProductGaussian, HasItsVarianceAtTheLargestParameterToo) {
  constexpr size_t kDraws = 20'000;
  for (const int64_t factor : {1, 1 << 20}) {
    const ProductGaussian noise =
        ProductGaussian::Create({int64_t{1} << 62, 1}, {std::vector<int64_t>(kDraws, factor), {1 << 20}})
            .value();
    seeded::SeededBits bits(8);
    std::vector<int64_t> values(noise.cells());
    noise.Fill(bits, values);
    double squares = 0;
    for (const int64_t value : values) squares += static_cast<double>(value) * static_cast<double>(value);
    const double parameter = std::ldexp(static_cast<double>(factor), 82);
    EXPECT_NEAR(squares / kDraws / parameter, 1, 5 * std::sqrt(2.0 / kDraws));
  }
}

// For sigma^2 = 1 a proposal of 0 has z^2 = 1/2; its trial begins with 64 bits that do not say whether it is
// accepted.
TEST(ProductGaussian, DrawsMoreBitsWhereTheFirstOnesLeaveATrialOpen) {
  const uint64_t open = EncloseExpOfMinus(mpq_class(1, 2), 64).lower.get_ui();
  constexpr uint64_t kNoMultiple = ~uint64_t{0};
  seeded::ScriptedBits below({0, 0, kNoMultiple, 0, open, 0});
  std::vector<int64_t> value(1);
  ProductGaussian::Create({1, 1}, {}).value().Fill(below, value);
  EXPECT_EQ(value[0], 0);
}

}  // namespace
}  // namespace curator::dp
