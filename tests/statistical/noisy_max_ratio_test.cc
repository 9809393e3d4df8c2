// Layer 1 of the audit, on a mechanism that the product does not have: report noisy max, and what becomes of
// it when the winner's noisy score is taken along. The noise that decided the selection has told of every
// score; published once more as a measurement, it is not paid for by the selection, nor by the price of an
// independent measurement.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dp/accounting/interval.h"
#include "tests/statistical/exact_ratio.h"

namespace curator::statistics {
namespace {

using dp::Interval;
using Scores = std::vector<int64_t>;

constexpr int64_t kScale = 2;  // of each score's discrete Laplace noise; the sensitivity of a score is 1
const Interval kRate = Interval(1) / Interval(kScale);

Interval Probability(int64_t noise) {
  return (Interval(1) - Exp(-kRate)) / (Interval(1) + Exp(-kRate)) *
         Exp(-(kRate * Interval(noise < 0 ? -noise : noise)));
}

// P(noise <= k): its lower tail is q^-k / (1 + q), with q = exp(-1 / scale).
Interval AtMost(int64_t k) {
  const Interval tail = Exp(-(kRate * Interval(k < 0 ? -k : k + 1))) / (Interval(1) + Exp(-kRate));
  return k < 0 ? tail : Interval(1) - tail;
}

// The winner is `index` and its noisy score `score`; of equal ones the first wins.
Interval WinsWith(const Scores& scores, size_t index, int64_t score) {
  Interval probability = Probability(score - scores[index]);
  for (size_t i = 0; i < scores.size(); ++i) {
    if (i != index) probability = probability * AtMost(score - scores[i] - (i < index ? 1 : 0));
  }
  return probability;
}

// The winner is `index`. Scores are from 9 to 11 here, so what a noisy score outside of [-80, 100] adds is at
// most the probability of a noise beyond 85 for one of them.
Interval Wins(const Scores& scores, size_t index) {
  Interval probability = Interval::ZeroUpTo(Interval(2 * static_cast<int64_t>(scores.size())) * AtMost(-85));
  for (int64_t score = -80; score <= 100; ++score) probability = probability + WinsWith(scores, index, score);
  return probability;
}

// ln P(index, value) of a selection and a number that is published with it.
using Law = std::function<Interval(const Scores& scores, size_t index, int64_t value)>;

Interval FreshMeasurement(const Scores& scores, size_t index, int64_t value) {
  return Log(Wins(scores, index)) + Log(Probability(value - scores[index]));
}
Interval SharedNoise(const Scores& scores, size_t index, int64_t value) {
  return Log(WinsWith(scores, index, value));
}

// A selection alone moves by 2 / scale (scores that move apart), a measurement by 1 / scale more.
const Interval kSelectionPrice = Interval(2) * kRate;
const Interval kBothPrices = Interval(3) * kRate;

// All scores tied, against one up and the rest down, and against one down and the rest up.
RatioAudit AuditNoisyMax(const Law& law, const Interval& price) {
  RatioAudit finding(price);
  for (const size_t candidates : {2, 10}) {
    for (const int64_t up : {1, -1}) {
      const Scores tied(candidates, 10);
      Scores apart(candidates, 10 - up);
      apart[0] = 10 + up;
      for (const size_t index : {size_t{0}, candidates - 1}) {
        for (const int64_t value : {-30, 10, 50}) {
          finding.Compare(std::to_string(candidates) + " candidates, " + std::to_string(value),
                          law(tied, index, value), law(apart, index, value));
        }
      }
    }
  }
  return finding;
}

TEST(NoisyMax, ASelectionAndAFreshMeasurementLoseNoMoreThanBothPrices) {
  const RatioAudit finding = AuditNoisyMax(FreshMeasurement, kBothPrices);
  EXPECT_FALSE(finding.exceeds()) << finding.worst();
}

TEST(NoisyMaxCanary, TheWinningNoisyScoreReleasedUnpaidIsCaught) {
  EXPECT_TRUE(AuditNoisyMax(SharedNoise, kSelectionPrice).exceeds());
}

TEST(NoisyMaxCanary, SelectionAndMeasurementSharingNoiseIsCaughtAtThePriceOfBoth) {
  EXPECT_TRUE(AuditNoisyMax(SharedNoise, kBothPrices).exceeds());
}

}  // namespace
}  // namespace curator::statistics
