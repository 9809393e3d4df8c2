#include "dp/noise/bernoulli_exp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/errors.h"
#include "dp/noise/exact_uniform.h"
#include "tests/statistical/binomial.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

bool Draw(BitSource& bits, Rational exponent) {
  return DrawBernoulliExp(bits, exponent).value();
}

TEST(BernoulliExp, RefusesExponentsThatAreNegativeOrNoNumbers) {
  seeded::SeededBits bits(1);
  for (const Rational exponent : {Rational{-1, 1}, {1, 0}, {0, 0}, {1, -1}, {-1, -1}}) {
    const absl::StatusOr<bool> drawn = DrawBernoulliExp(bits, exponent);
    ASSERT_EQ(drawn.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(FieldViolationOf(drawn.status())->field, "exponent");
  }
}

TEST(BernoulliExp, IsCertainAtZeroAndTakesNoBitsForIt) {
  seeded::ScriptedBits bits({});
  EXPECT_TRUE(Draw(bits, {0, kLargest}));
  EXPECT_EQ(bits.taken(), 0u);
}

TEST(BernoulliExp, ComesTrueAsOftenAsItShould) {
  constexpr uint64_t kTrials = 200'000;
  seeded::SeededBits bits(2);
  for (const Rational exponent :
       {Rational{1, 1}, {1, 1000}, {7, 3}, {10, 1}, {kLargest / 2, kLargest}, {1, kLargest}}) {
    uint64_t successes = 0;
    for (uint64_t i = 0; i < kTrials; ++i) successes += Draw(bits, exponent) ? 1 : 0;
    const double p =
        std::exp(-static_cast<double>(exponent.numerator) / static_cast<double>(exponent.denominator));
    EXPECT_GT(statistics::BinomialPValue(kTrials, successes, p), 1e-10) << exponent.numerator;
  }
}

TEST(BernoulliExpCanary, AnExponentTwoPercentOffIsCaught) {
  constexpr uint64_t kTrials = 200'000;
  seeded::SeededBits bits(3);
  uint64_t successes = 0;
  for (uint64_t i = 0; i < kTrials; ++i) successes += Draw(bits, {98, 100}) ? 1 : 0;
  EXPECT_LT(statistics::BinomialPValue(kTrials, successes, std::exp(-1.0)), 1e-10);
}

TEST(BernoulliExp, SettlesATieOfSixtyFourBitsByFurtherBits) {
  const mpz_class scaled = EncloseExpOfMinus(mpq_class(22, 7), 192).lower;
  const mpz_class mask((mpz_class(1) << 64) - 1);
  const uint64_t first = mpz_class(scaled >> 128).get_ui();
  const uint64_t second = mpz_class((scaled >> 64) & mask).get_ui();
  seeded::ScriptedBits below({first, second - 1});
  EXPECT_TRUE(Draw(below, {22, 7}));
  EXPECT_EQ(below.taken(), 2u);
  seeded::ScriptedBits above({first, second + 1});
  EXPECT_FALSE(Draw(above, {22, 7}));
  EXPECT_EQ(above.taken(), 2u);
}

TEST(BernoulliExp, IsFalseForHugeExponentsEvenWhenTheFirstBitsAreZero) {
  seeded::ScriptedBits bits({0, 0, 0, 1});
  EXPECT_FALSE(Draw(bits, {kLargest, 1}));
  EXPECT_EQ(bits.taken(), 4u);
}

TEST(BernoulliExp, AgreesWithExactArithmeticOnTheSameBits) {
  seeded::SeededBits bits(4);
  seeded::SeededBits same_bits(4);
  BitBuffer buffer(same_bits, 1);
  for (int64_t i = 1; i < 20'000; ++i) {
    const Rational exponent{i * i, 3 * i + 1'000'000};
    mpq_class exact(mpz_class(exponent.numerator), mpz_class(exponent.denominator));
    exact.canonicalize();
    ASSERT_EQ(Draw(bits, exponent), ExactUniform(buffer, buffer.NextWord()).IsBelowExpOfMinus(exact)) << i;
  }
}

}  // namespace
}  // namespace curator::dp
