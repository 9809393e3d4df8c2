#include "dp/noise/exponential_mechanism.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/errors.h"
#include "dp/noise/exact_uniform.h"
#include "tests/statistical/binomial.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();
constexpr double kFalseAlarm = 1e-10;

size_t Draw(BitSource& bits, const std::vector<int64_t>& scores, Rational factor) {
  return DrawExponential(bits, scores, factor).value();
}

// The p-value of the least likely frequency, corrected for the number of candidates.
double PValue(const std::vector<int64_t>& scores, Rational drawn_factor, Rational claimed_factor,
              uint64_t seed) {
  constexpr uint64_t kTrials = 100'000;
  seeded::SeededBits bits(seed);
  std::vector<uint64_t> counts(scores.size());
  for (uint64_t i = 0; i < kTrials; ++i) ++counts[Draw(bits, scores, drawn_factor)];
  const double factor =
      static_cast<double>(claimed_factor.numerator) / static_cast<double>(claimed_factor.denominator);
  const int64_t best = *std::max_element(scores.begin(), scores.end());
  std::vector<double> weights;
  for (const int64_t score : scores)
    weights.push_back(std::exp(-factor * (static_cast<double>(best) - static_cast<double>(score))));
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double smallest = 1;
  for (size_t i = 0; i < scores.size(); ++i) {
    smallest = std::min(smallest, statistics::BinomialPValue(kTrials, counts[i], weights[i] / total));
  }
  return std::min(1.0, smallest * static_cast<double>(scores.size()));
}

TEST(ExponentialMechanism, SelectsWithTheExactProbabilities) {
  EXPECT_GT(PValue({0, 1, 2, 3}, {1, 2}, {1, 2}, 1), kFalseAlarm);
  EXPECT_GT(PValue({-5, 3, 3, 0, -5}, {1, 3}, {1, 3}, 2), kFalseAlarm);
  EXPECT_GT(PValue({1'000'000'000'000'000, 999'999'999'999'999}, {1, 10}, {1, 10}, 3), kFalseAlarm);
  EXPECT_GT(PValue({0, 700, 1000}, {1, 1000}, {1, 1000}, 4), kFalseAlarm);
  EXPECT_GT(PValue({7}, {1, 1}, {1, 1}, 5), kFalseAlarm);
  std::vector<int64_t> staircase(200);
  std::iota(staircase.begin(), staircase.end(), -100);
  EXPECT_GT(PValue(staircase, {1, 25}, {1, 25}, 6), kFalseAlarm);
}

TEST(ExponentialMechanismCanary, TwiceTheEpsilonIsCaught) {
  EXPECT_LT(PValue({0, 1, 2, 3}, {2, 2}, {1, 2}, 1), kFalseAlarm);
  EXPECT_LT(PValue({0, 700, 1000}, {2, 1000}, {1, 1000}, 2), kFalseAlarm);
}

TEST(ExponentialMechanismCanary, AFactorTenPercentTooLargeIsCaught) {
  EXPECT_LT(PValue({0, 1, 2, 3}, {110, 200}, {1, 2}, 3), kFalseAlarm);
}

TEST(ExponentialMechanismCanary, AlwaysTakingTheBestIsCaught) {
  EXPECT_LT(PValue({0, 1, 2, 3}, {1'000'000, 1}, {1, 2}, 4), kFalseAlarm);
}

TEST(ExponentialMechanism, TiesAndAFactorOfZeroAreUniform) {
  EXPECT_GT(PValue(std::vector<int64_t>(10, 42), {1, 1}, {0, 1}, 7), kFalseAlarm);
  EXPECT_GT(PValue({kSmallest, 0, kLargest}, {0, 1}, {0, 1}, 8), kFalseAlarm);
}

TEST(ExponentialMechanism, AGapOfAMillionSensitivitiesNeitherThrowsNorErrs) {
  seeded::SeededBits bits(9);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(Draw(bits, {-1'000'000, 0, -999'999}, {1, 2}), 1u);
    EXPECT_EQ(Draw(bits, {kSmallest, kLargest, 0}, {kLargest, 1}), 1u);
    EXPECT_EQ(Draw(bits, {-1'000'000'000'000'000, 1'000'000'000'000'000}, {1, 1}), 1u);
  }
}

TEST(ExponentialMechanism, ManyHopelessCandidatesDoNotOutweighTheBest) {
  std::vector<int64_t> scores(100'000, -200);
  scores[31'415] = 0;  // the others together: 1e5 e^-200
  seeded::SeededBits bits(10);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Draw(bits, scores, {1, 1}), 31'415u);
}

TEST(ExponentialMechanism, ManyEqualCandidatesAreAllReached) {
  const std::vector<int64_t> scores(100'000, 5);
  seeded::SeededBits bits(11);
  uint64_t in_first_half = 0;
  for (int i = 0; i < 200; ++i) in_first_half += Draw(bits, scores, {1, 1}) < 50'000 ? 1 : 0;
  EXPECT_GT(statistics::BinomialPValue(200, in_first_half, 0.5), kFalseAlarm);
}

TEST(ExponentialMechanism, SameKeySameSelection) {
  std::vector<int64_t> scores(1000);
  std::iota(scores.begin(), scores.end(), 0);
  seeded::SeededBits bits(12);
  seeded::SeededBits same_bits(12);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Draw(bits, scores, {1, 500}), Draw(same_bits, scores, {1, 500}));
}

TEST(ExponentialMechanism, TakesOneWordWhateverTheScores) {
  for (const std::vector<int64_t>& scores :
       {std::vector<int64_t>(1000, 0), {0, -1'000'000}, {1, 2, 3, 4, 5}}) {
    seeded::ScriptedBits bits({0x123456789abcdef0});
    Draw(bits, scores, {1, 2});
    EXPECT_EQ(bits.taken(), 1u);
  }
}

// Two equal candidates part at U = 1/2: the bits of one half need more words, and the boundary belongs to the
// second.
TEST(ExponentialMechanism, SettlesATieByFurtherBits) {
  seeded::ScriptedBits at_the_boundary({uint64_t{1} << 63, 0});
  EXPECT_EQ(Draw(at_the_boundary, {3, 3}, {1, 1}), 1u);
  EXPECT_EQ(at_the_boundary.taken(), 2u);
  seeded::ScriptedBits just_below({(uint64_t{1} << 63) - 1, ~uint64_t{0}});
  EXPECT_EQ(Draw(just_below, {3, 3}, {1, 1}), 0u);
  EXPECT_EQ(just_below.taken(), 2u);
}

// The last candidates of a row of hopeless ones are reached only by words near 2^64, and by the right share
// of them.
TEST(ExponentialMechanism, ReachesWeightsFarBelowTheFirstWordsResolution) {
  // exp(-100) is about 2^-144.3: U must begin with 144 ones.
  const uint64_t ones = ~uint64_t{0};
  seeded::ScriptedBits enough({ones, ones, ones});
  EXPECT_EQ(Draw(enough, {0, -100}, {1, 1}), 1u);
  seeded::ScriptedBits too_few({ones, ones, 0});
  EXPECT_EQ(Draw(too_few, {0, -100}, {1, 1}), 0u);
}

// Inversion with sums of weights that are known to 200 bits.
size_t DrawByExactSums(uint64_t word, const std::vector<int64_t>& scores, Rational factor) {
  const int64_t best = *std::max_element(scores.begin(), scores.end());
  std::vector<mpz_class> sums;
  mpz_class sum;
  for (const int64_t score : scores) {
    mpq_class exponent((mpz_class(best) - score) * factor.numerator, mpz_class(factor.denominator));
    exponent.canonicalize();
    sums.push_back(sum += EncloseExpOfMinus(exponent, 200).lower);
  }
  size_t i = 0;
  while ((sums[i] << 64) <= sum * mpz_class(word)) ++i;
  return i;
}

TEST(ExponentialMechanism, AgreesWithExactArithmeticOnTheSameBits) {
  seeded::SeededBits script(13);
  std::vector<int64_t> scores(50);
  for (int i = 0; i < 2000; ++i) {
    std::vector<uint64_t> words(scores.size() + 1);
    script.Fill(words);
    const int shift = 40 + i % 24;  // gaps from about 2^24 down to 0
    for (size_t j = 0; j < scores.size(); ++j) scores[j] = static_cast<int64_t>(words[j]) >> shift;
    seeded::ScriptedBits bits({words.back()});
    const Rational factor{1 + i % 7, int64_t{1} << (i % 20)};
    ASSERT_EQ(Draw(bits, scores, factor), DrawByExactSums(words.back(), scores, factor)) << i;
  }
}

TEST(ExponentialMechanism, RefusesNoCandidatesAndBadFactors) {
  seeded::SeededBits bits(14);
  const absl::StatusOr<size_t> none = DrawExponential(bits, {}, {1, 1});
  ASSERT_EQ(none.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldViolationOf(none.status())->field, "scores");
  for (const Rational factor : {Rational{-1, 1}, {1, 0}, {1, -1}, {0, 0}}) {
    const std::vector<int64_t> scores = {1, 2};
    const absl::StatusOr<size_t> drawn = DrawExponential(bits, scores, factor);
    ASSERT_EQ(drawn.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(FieldViolationOf(drawn.status())->field, "factor");
  }
}

}  // namespace
}  // namespace curator::dp
