#include "dp/noise/discrete_laplace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/errors.h"
#include "dp/noise/exact_uniform.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

DiscreteLaplace Make(Rational scale) {
  return DiscreteLaplace::Create(scale).value();
}

std::vector<int64_t> Draws(Rational scale, uint64_t seed, size_t count) {
  seeded::SeededBits bits(seed);
  std::vector<int64_t> values(count);
  Make(scale).Fill(bits, values);
  return values;
}

TEST(DiscreteLaplace, RefusesScalesOutsideItsRange) {
  for (const Rational scale : {Rational{0, 1},
                               {-1, 1},
                               {1, 0},
                               {1, -1},
                               {kLargest, 1},
                               {DiscreteLaplace::kMaxScale + 1, 1},
                               {kLargest, 2047}}) {
    const absl::StatusOr<DiscreteLaplace> made = DiscreteLaplace::Create(scale);
    ASSERT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument)
        << scale.numerator << "/" << scale.denominator;
    EXPECT_EQ(FieldViolationOf(made.status())->field, "scale");
  }
}

TEST(DiscreteLaplace, AcceptsWhateverPricesMake) {
  constexpr int64_t kUnitsPerOne = 1'000'000'000'000;
  for (const int64_t sensitivity : {1, 1000, 1'000'000}) {
    for (const int64_t epsilon_units :
         {int64_t{1'000}, int64_t{999'999'999'989}, int64_t{10'000'000'000'000}}) {
      EXPECT_TRUE(DiscreteLaplace::Create({sensitivity * kUnitsPerOne, epsilon_units}).ok()) << epsilon_units;
    }
  }
  EXPECT_TRUE(DiscreteLaplace::Create({DiscreteLaplace::kMaxScale, 1}).ok());
  EXPECT_TRUE(DiscreteLaplace::Create({kLargest, 2048}).ok());
  EXPECT_TRUE(DiscreteLaplace::Create({1, kLargest}).ok());
}

TEST(DiscreteLaplace, KeepsItsScaleInLowestTerms) {
  EXPECT_EQ(Make({1'000'000, 4'000'000}).scale(), (Rational{1, 4}));
  EXPECT_EQ(Draws({2, 6}, 1, 1000), Draws({1, 3}, 1, 1000));
}

TEST(DiscreteLaplace, SameKeySameDrawsAnotherKeyOthers) {
  EXPECT_EQ(Draws({10, 3}, 1, 1000), Draws({10, 3}, 1, 1000));
  EXPECT_NE(Draws({10, 3}, 1, 1000), Draws({10, 3}, 2, 1000));
}

// A draw that a crash interrupted is repeated by whatever version of the program runs next: the stream of a
// key must not change. If this fails, sealed keys of unfinished draws must not be carried over.
TEST(DiscreteLaplace, TheDrawsOfAKeyAreTheSameForEver) {
  EXPECT_THAT(Draws({10, 1}, 1, 8), testing::ElementsAre(1, 2, -19, 10, -5, -38, 6, -16));
  seeded::SeededBits bits(1);
  EXPECT_EQ(Make({1'000'000'000'001, 7}).Draw(bits), 19996301711);
}

TEST(DiscreteLaplace, OfATinyScaleIsZero) {
  for (const Rational scale : {Rational{1, 1000}, {1, kLargest}, {999'999'937, kLargest}}) {
    EXPECT_THAT(Draws(scale, 1, 10'000), testing::Each(0));
  }
}

TEST(DiscreteLaplace, OfTheLargestScalesFillsItsRangeAndStaysInIt) {
  for (const Rational scale : {Rational{DiscreteLaplace::kMaxScale, 1}, {kLargest, 2048}}) {
    int64_t largest = 0;
    for (const int64_t value : Draws(scale, 1, 100'000)) largest = std::max(largest, std::abs(value));
    EXPECT_GT(largest, 8 * DiscreteLaplace::kMaxScale);  // missed with probability below e^-30
    EXPECT_LT(largest, 40 * DiscreteLaplace::kMaxScale);
  }
}

TEST(DiscreteLaplace, IsCutOnlyAtTheEndOfItsRange) {
  // The remainder 0, kept; then a geometric word of zeros followed by enough zeros to run into the cut; then
  // a sign.
  std::vector<uint64_t> script = {0, 0, 0};
  script.resize(40);
  seeded::ScriptedBits bits(script);
  EXPECT_EQ(Make({DiscreteLaplace::kMaxScale, 1}).Draw(bits), 1023 * DiscreteLaplace::kMaxScale);
}

// The trial of the remainder 1 of 2 begins with 64 bits that do not say whether it is below exp(-1/2).
TEST(DiscreteLaplace, DrawsMoreBitsWhereTheFirstOnesLeaveARemainderOpen) {
  constexpr uint64_t kOneOfTwo = uint64_t{1} << 63;
  constexpr uint64_t kNoMultiple = ~uint64_t{0};
  const uint64_t open = EncloseExpOfMinus(mpq_class(1, 2), 64).lower.get_ui();
  const DiscreteLaplace of_two = Make({2, 1});
  seeded::ScriptedBits just_below({kOneOfTwo, open, 0, kNoMultiple, 0});
  EXPECT_EQ(of_two.Draw(just_below), 1);
  seeded::ScriptedBits just_above({kOneOfTwo, open, ~uint64_t{0}, 0, 0, kNoMultiple, 0});
  EXPECT_EQ(of_two.Draw(just_above), 0) << "another remainder, which is 0";
}

// Canonne, Kamath, Steinke 2020, Algorithm 2, with every comparison made in exact arithmetic.
int64_t DrawBySlowAlgorithm(BitBuffer& bits, Rational scale) {
  const mpz_class t(scale.numerator);
  while (true) {
    const uint64_t remainder = bits.NextBelow(static_cast<uint64_t>(scale.numerator));
    mpq_class exponent(mpz_class(remainder), t);
    exponent.canonicalize();
    if (!ExactUniform(bits, bits.NextWord()).IsBelowExpOfMinus(exponent)) continue;
    unsigned long whole = 0;
    ExactUniform uniform(bits, bits.NextWord());
    while (uniform.IsBelowExpOfMinus(mpq_class(whole + 1))) ++whole;
    const mpz_class magnitude((mpz_class(remainder) + t * whole) / scale.denominator);
    const bool negative = bits.NextBit() == 1;
    if (negative && magnitude == 0) continue;
    return negative ? -magnitude.get_si() : magnitude.get_si();
  }
}

TEST(DiscreteLaplace, AgreesWithExactArithmeticOnTheSameBits) {
  constexpr size_t kDraws = 2'000;
  uint64_t seed = 100;
  for (const Rational scale : {Rational{1, 2},
                               {1, 1},
                               {10, 3},
                               {100, 1},
                               {999'999'999'989, 1'000'000'007},
                               {kLargest, 4096},
                               {4095, kLargest},
                               {DiscreteLaplace::kMaxScale, 1},
                               {3, 1'000'000}}) {
    seeded::SeededBits bits(++seed);
    BitBuffer buffer(bits, 512);
    std::vector<int64_t> expected(kDraws);
    for (int64_t& value : expected) value = DrawBySlowAlgorithm(buffer, Make(scale).scale());
    EXPECT_EQ(Draws(scale, seed, kDraws), expected) << scale.numerator << "/" << scale.denominator;
  }
}

}  // namespace
}  // namespace curator::dp
