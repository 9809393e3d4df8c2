#include "dp/noise/discrete_gaussian.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/errors.h"
#include "dp/noise/exact_uniform.h"
#include "dp/noise/testing/exact_gaussian.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

DiscreteGaussian Make(Rational sigma_squared) {
  return DiscreteGaussian::Create(sigma_squared).value();
}

std::vector<int64_t> Draws(Rational sigma_squared, uint64_t seed, size_t count) {
  seeded::SeededBits bits(seed);
  std::vector<int64_t> values(count);
  Make(sigma_squared).Fill(bits, values);
  return values;
}

TEST(DiscreteGaussian, RefusesParametersOutsideItsRange) {
  for (const Rational sigma_squared : {Rational{0, 1}, {-1, 1}, {1, 0}, {1, -1}, {kLargest, 1}}) {
    const absl::StatusOr<DiscreteGaussian> made = DiscreteGaussian::Create(sigma_squared);
    ASSERT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(FieldViolationOf(made.status())->field, "sigma_squared");
  }
}

TEST(DiscreteGaussian, AcceptsWhateverPricesMake) {
  constexpr int64_t kUnitsPerOne = 1'000'000'000'000;
  for (const int64_t squared_sensitivity : {1, 1000, 1'000'000}) {
    for (const int64_t rho_units : {int64_t{1}, int64_t{999'999'999'989}, int64_t{10'000'000'000'000}}) {
      EXPECT_TRUE(DiscreteGaussian::Create({squared_sensitivity * kUnitsPerOne, 2 * rho_units}).ok())
          << rho_units;
    }
  }
  EXPECT_TRUE(DiscreteGaussian::Create({DiscreteGaussian::kMaxSigmaSquared, 1}).ok());
  EXPECT_TRUE(DiscreteGaussian::Create({1, kLargest}).ok());
}

TEST(DiscreteGaussian, KeepsItsParameterInLowestTerms) {
  EXPECT_EQ(Make({50, 20}).sigma_squared(), (Rational{5, 2}));
  EXPECT_EQ(Draws({50, 20}, 1, 1000), Draws({5, 2}, 1, 1000));
}

TEST(DiscreteGaussian, SameKeySameDrawsAnotherKeyOthers) {
  EXPECT_EQ(Draws({100, 1}, 1, 1000), Draws({100, 1}, 1, 1000));
  EXPECT_NE(Draws({100, 1}, 1, 1000), Draws({100, 1}, 2, 1000));
}

// See DiscreteLaplace.TheDrawsOfAKeyAreTheSameForEver.
TEST(DiscreteGaussian, TheDrawsOfAKeyAreTheSameForEver) {
  EXPECT_THAT(Draws({100, 1}, 1, 8), testing::ElementsAre(1, 9, -21, 5, -6, -2, 8, -3));
  seeded::SeededBits bits(1);
  EXPECT_EQ(Make({1'000'000'000'001, 7}).Draw(bits), 336788);
}

TEST(DiscreteGaussian, OfATinyParameterIsZero) {
  for (const Rational sigma_squared : {Rational{1, 1000}, {1, 1'000'000'000}, {1, kLargest}}) {
    EXPECT_THAT(Draws(sigma_squared, 1, 10'000), testing::Each(0));
  }
}

TEST(DiscreteGaussian, OfTheLargestParameterHasTheSizeOfItsSigma) {
  constexpr int64_t kSigma = int64_t{1} << 31;
  int64_t largest = 0;
  for (const int64_t value : Draws({DiscreteGaussian::kMaxSigmaSquared, 1}, 1, 100'000)) {
    largest = std::max(largest, std::abs(value));
  }
  EXPECT_GT(largest, 3 * kSigma);
  EXPECT_LT(largest, 12 * kSigma);
}

// For sigma^2 = 1 a proposal of 0 is accepted with probability exp(-1/8); its trial begins with 64 bits that
// do not say whether it is.
TEST(DiscreteGaussian, DrawsMoreBitsWhereTheFirstOnesLeaveATrialOpen) {
  constexpr uint64_t kOneOfTwo = uint64_t{1} << 63;
  constexpr uint64_t kNoMultiple = ~uint64_t{0};
  const uint64_t open = EncloseExpOfMinus(mpq_class(1, 8), 64).lower.get_ui();
  const DiscreteGaussian standard = Make({1, 1});
  seeded::ScriptedBits just_below({0, 0, kNoMultiple, 0, open, 0});
  EXPECT_EQ(standard.Draw(just_below), 0);
  seeded::ScriptedBits just_above({0, 0, kNoMultiple, 0, open, ~uint64_t{0}, kOneOfTwo, 0, kNoMultiple, 0});
  EXPECT_EQ(standard.Draw(just_above), 1) << "the next proposal";
}

TEST(DiscreteGaussian, AgreesWithExactArithmeticOnTheSameBits) {
  constexpr size_t kDraws = 4'000;
  uint64_t seed = 200;
  for (const Rational sigma_squared : {Rational{1, 1000},
                                       {1, 127},
                                       {1, 4},
                                       {1, 1},
                                       {9, 4},
                                       {100, 1},
                                       {1'000'000, 1},
                                       {999'999'999'989, 1'000'000'007},
                                       {kLargest, 4096},
                                       {4095, kLargest},
                                       {500'000'000'000'000'000, 1},
                                       {DiscreteGaussian::kMaxSigmaSquared, 1}}) {
    seeded::SeededBits bits(++seed);
    BitBuffer buffer(bits, 512);
    std::vector<int64_t> expected(kDraws);
    const Rational reduced = Make(sigma_squared).sigma_squared();
    const mpz_class t = sqrt(mpz_class(reduced.numerator / reduced.denominator)) + 1;
    for (int64_t& value : expected)
      value = DrawInExactArithmetic(buffer, reduced.numerator, reduced.denominator, t.get_si());
    EXPECT_EQ(Draws(sigma_squared, seed, kDraws), expected)
        << sigma_squared.numerator << "/" << sigma_squared.denominator;
  }
}

}  // namespace
}  // namespace curator::dp
