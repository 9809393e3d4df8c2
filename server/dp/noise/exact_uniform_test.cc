#include "dp/noise/exact_uniform.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

TEST(EncloseExpOfMinus, EnclosesTheKnownDigitsOfOneOverE) {
  // floor(2^128 / e), from its decimal expansion 0.36787944117144232159552377016146086744581...
  const ExpEnclosure enclosure = EncloseExpOfMinus(mpq_class(1), 128);
  EXPECT_LE(enclosure.lower, enclosure.upper);
  EXPECT_LE(enclosure.upper - enclosure.lower, 2);
  const mpz_class digits("36787944117144232159552377016146086744");
  const mpz_class ten_to_38("100000000000000000000000000000000000000");
  EXPECT_GE(enclosure.upper * ten_to_38, digits << 128);
  EXPECT_LE(enclosure.lower * ten_to_38, (digits + 1) << 128);
}

TEST(EncloseExpOfMinus, IsExactAtZeroAndHoldsForExponentsBeyondAllBounds) {
  const ExpEnclosure one = EncloseExpOfMinus(mpq_class(0), 64);
  EXPECT_EQ(one.lower, mpz_class(1) << 64);
  EXPECT_EQ(one.upper, mpz_class(1) << 64);
  const ExpEnclosure nothing = EncloseExpOfMinus(mpq_class(mpz_class(1) << 127), 64);
  EXPECT_EQ(nothing.lower, 0);
  EXPECT_EQ(nothing.upper, 1);
}

// The first three words of the binary expansion of exp(-exponent).
std::vector<uint64_t> WordsOfExp(const mpq_class& exponent) {
  const mpz_class scaled = EncloseExpOfMinus(exponent, 192).lower;
  const mpz_class mask((mpz_class(1) << 64) - 1);
  return {mpz_class(scaled >> 128).get_ui(), mpz_class((scaled >> 64) & mask).get_ui(),
          mpz_class(scaled & mask).get_ui()};
}

bool IsBelow(std::vector<uint64_t> words, const mpq_class& exponent, size_t expected_words) {
  const uint64_t first = words.front();
  words.erase(words.begin());
  seeded::ScriptedBits source(words);
  BitBuffer buffer(source, 1);
  ExactUniform uniform(buffer, first);
  const bool below = uniform.IsBelowExpOfMinus(exponent);
  EXPECT_EQ(uniform.bit_count(), 64 * expected_words);
  return below;
}

TEST(ExactUniform, DrawsAsManyWordsAsTheComparisonNeeds) {
  for (const mpq_class& exponent :
       {mpq_class(1), mpq_class(1, 3), mpq_class(22, 7), mpq_class(1, 1'000'000'007)}) {
    const std::vector<uint64_t> words = WordsOfExp(exponent);
    EXPECT_TRUE(IsBelow({words[0] - 1}, exponent, 1));
    EXPECT_FALSE(IsBelow({words[0] + 1}, exponent, 1));
    EXPECT_TRUE(IsBelow({words[0], words[1] - 1}, exponent, 2));
    EXPECT_FALSE(IsBelow({words[0], words[1] + 1}, exponent, 2));
    EXPECT_TRUE(IsBelow({words[0], words[1], words[2] - 2}, exponent, 3));
    EXPECT_FALSE(IsBelow({words[0], words[1], words[2] + 2}, exponent, 3));
  }
}

TEST(ExactUniform, IsAlwaysBelowOne) {
  EXPECT_TRUE(IsBelow({~uint64_t{0}}, mpq_class(0), 1));
}

}  // namespace
}  // namespace curator::dp
