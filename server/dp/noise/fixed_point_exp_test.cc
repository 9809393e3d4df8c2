#include "dp/noise/fixed_point_exp.h"

#include <gtest/gtest.h>

#include "dp/noise/exact_uniform.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

// |value - exp(-numerator / denominator) 2^63|, rounded up to whole units.
uint64_t ErrorInUnits(uint64_t value, const mpz_class& numerator, const mpz_class& denominator) {
  mpq_class exponent(numerator, denominator);
  exponent.canonicalize();
  const ExpEnclosure exact = EncloseExpOfMinus(exponent, 63);
  const mpz_class above = abs(mpz_class(exact.upper - value));
  const mpz_class below = abs(mpz_class(exact.lower - value));
  return std::max(above.get_ui(), below.get_ui());
}

TEST(FixedPointExp, TableEntriesAreWithinTheirError) {
  for (uint64_t i = 0; i < 256; ++i) {
    EXPECT_LE(ErrorInUnits(fixed_point::kTables.coarse[i], i, 256), 1u) << i;
    EXPECT_LE(ErrorInUnits(fixed_point::kTables.fine[i], i, 65536), 1u) << i;
  }
  for (uint64_t i = 0; i < 64; ++i) {
    EXPECT_LE(ErrorInUnits(fixed_point::kTables.whole[i], i, 1), fixed_point::kTableError) << i;
  }
}

TEST(FixedPointExp, IsWithinItsErrorAtTheEdgesOfEveryTable) {
  uint64_t largest = 0;
  for (const uint64_t base : {uint64_t{1} << 42, uint64_t{1} << 50, uint64_t{1} << 58}) {
    for (uint64_t multiple = 0; multiple < 64; ++multiple) {
      for (const uint64_t offset :
           {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {  // on the edge, after it, before it
        const FixedExponent x{base * multiple + offset};
        largest = std::max(largest, ErrorInUnits(ExpOfMinus(x), x.units, mpz_class(1) << 58));
      }
    }
  }
  EXPECT_LE(largest, kExpError);
}

TEST(FixedPointExp, IsWithinItsErrorAtRandomExponents) {
  seeded::SeededBits bits(1);
  BitBuffer buffer(bits, 512);
  uint64_t largest = 0;
  for (int i = 0; i < 20'000; ++i) {
    const FixedExponent x{buffer.NextWord() >> (i % 12)};  // from all of [0, 64) to [0, 1/32)
    largest = std::max(largest, ErrorInUnits(ExpOfMinus(x), x.units, mpz_class(1) << 58));
  }
  EXPECT_LE(largest, 12u);  // as the proof above ExpOfMinus() says
}

TEST(FixedPointExp, IsOneAtZeroAndNothingAtTheEnd) {
  EXPECT_LE(fixed_point::kOne - ExpOfMinus({0}), kExpError);
  EXPECT_LE(ExpOfMinus({FixedExponent::kLargest}), kExpError);
}

TEST(CompareUniform, DecidesOnlyWhatTheErrorLeavesDecided) {
  constexpr uint64_t kThreshold = 1000;
  constexpr uint64_t kError = 10;
  // 2^63 U lies in [v, v + 1), the true threshold in [990, 1010].
  const auto compare = [](uint64_t v) { return CompareUniform(2 * v + 1, kThreshold, kError); };
  EXPECT_EQ(compare(0), Comparison::kBelow);
  EXPECT_EQ(compare(989), Comparison::kBelow);
  EXPECT_EQ(compare(990), Comparison::kUndecided);
  EXPECT_EQ(compare(1009), Comparison::kUndecided);
  EXPECT_EQ(compare(1010), Comparison::kNotBelow);
  EXPECT_EQ(CompareUniform(~uint64_t{0}, 0, kError), Comparison::kNotBelow);
  EXPECT_EQ(CompareUniform(~uint64_t{0}, fixed_point::kOne, kError), Comparison::kUndecided);
}

}  // namespace
}  // namespace curator::dp
