// Layer 3 of the audit, on the samplers: no onlooker proves more against them than they claim, and broken
// ones are proved to break their claim. Seeds are fixed unless asked otherwise (audit_mode.h); for fresh ones
// the false alarm of each check is at most kFalseAlarm.
#include "tests/statistical/black_box.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "dp/noise/discrete_gaussian.h"
#include "dp/noise/discrete_laplace.h"
#include "dp/noise/exponential_mechanism.h"
#include "dp/noise/noise_spec.h"
#include "dp/noise/testing/log_probability.h"
#include "tests/statistical/audit_mode.h"
#include "tests/testing/seeded_bits.h"

namespace curator::statistics {
namespace {

// A count of 0 on the table, of 1 on its neighbour, each with noise.
PairOfSamples NoisyCounts(size_t size, uint64_t seed,
                          const std::function<void(dp::BitSource&, std::span<int64_t>)>& fill) {
  PairOfSamples samples{std::vector<int64_t>(size), std::vector<int64_t>(size)};
  seeded::SeededBits bits(AuditSeed(seed));
  fill(bits, samples.on_table);
  fill(bits, samples.on_neighbour);
  for (int64_t& value : samples.on_neighbour) value += 1;
  return samples;
}

PairOfSamples LaplaceCounts(size_t size, dp::Rational scale, uint64_t seed) {
  const dp::DiscreteLaplace noise = dp::DiscreteLaplace::Create(scale).value();
  return NoisyCounts(size, seed,
                     [&](dp::BitSource& bits, std::span<int64_t> values) { noise.Fill(bits, values); });
}

PairOfSamples GaussianCounts(size_t size, dp::Rational sigma_squared, uint64_t seed) {
  const dp::DiscreteGaussian noise = dp::DiscreteGaussian::Create(sigma_squared).value();
  return NoisyCounts(size, seed,
                     [&](dp::BitSource& bits, std::span<int64_t> values) { noise.Fill(bits, values); });
}

// Scores on the table and on a neighbour that raises one by the sensitivity 1 and lowers the others by it:
// the worst case for a factor of epsilon / 2. The output is the index.
PairOfSamples Selections(size_t size, size_t candidates, dp::Rational factor, uint64_t seed) {
  const auto draw = [&](const std::vector<int64_t>& scores, uint64_t stream) {
    seeded::SeededBits bits(AuditSeed(stream));
    std::vector<int64_t> values(size);
    for (int64_t& value : values)
      value = static_cast<int64_t>(dp::DrawExponential(bits, scores, factor).value());
    return values;
  };
  std::vector<int64_t> scores(candidates, 10);
  std::vector<int64_t> neighbour(candidates, 9);
  neighbour[0] = 11;
  return {draw(scores, seed), draw(neighbour, seed + 1)};
}

double ExactGaussianDelta(dp::Rational sigma_squared, double epsilon) {
  return DeltaOfCount(
      [sigma_squared](int64_t x) { return dp::DiscreteGaussianLogProbability(sigma_squared, x); }, epsilon);
}

TEST(BlackBox, LaplaceCountsKeepTheirEpsilon) {
  uint64_t seed = 1;
  for (const dp::Rational scale : {dp::Rational{1, 2}, {1, 1}, {10, 3}, {25, 1}}) {
    const double epsilon = static_cast<double>(scale.denominator) / static_cast<double>(scale.numerator);
    const LowerBound bound = PureLossLowerBound(LaplaceCounts(AuditSize(200'000), scale, seed++));
    EXPECT_LE(bound.value, epsilon) << bound.event;
  }
}

TEST(BlackBox, LaplaceCountsAreFoundToLoseNearlyTheirEpsilon) {  // the check is no blank
  EXPECT_GT(PureLossLowerBound(LaplaceCounts(AuditSize(400'000), {1, 1}, 11)).value, 0.96);
}

// Power: of all epsilons, 2 shows a wrong scale with the fewest samples.
TEST(BlackBoxCanary, ALaplaceScaleFivePercentTooSmallIsProved) {
  EXPECT_GT(PureLossLowerBound(LaplaceCounts(AuditSize(200'000), {19, 40}, 21)).value, 2);
}

TEST(BlackBoxCanary, HalfTheLaplaceScaleIsProved) {
  EXPECT_GT(PureLossLowerBound(LaplaceCounts(AuditSize(50'000), {1, 2}, 22)).value, 1);
}

TEST(BlackBoxCanary, ACountWithoutNoiseIsProved) {
  EXPECT_GT(PureLossLowerBound(NoisyCounts(1000, 23, [](dp::BitSource&, std::span<int64_t>) {})).value, 1);
}

TEST(BlackBox, GaussianCountsKeepTheirDeltaCurve) {
  uint64_t seed = 31;
  for (const dp::Rational sigma_squared : {dp::Rational{1, 1}, {9, 4}, {25, 1}}) {
    const PairOfSamples samples = GaussianCounts(AuditSize(200'000), sigma_squared, seed++);
    for (const double epsilon : {0.0, 0.1, 0.5, 1.0}) {
      const LowerBound bound = DeltaLowerBound(samples, epsilon);
      EXPECT_LE(bound.value, ExactGaussianDelta(sigma_squared, epsilon)) << epsilon << ": " << bound.event;
    }
  }
}

TEST(BlackBoxCanary, AGaussianSigmaFivePercentTooSmallIsProved) {
  const PairOfSamples samples = GaussianCounts(AuditSize(1'000'000), {95 * 95, 100 * 100}, 41);
  EXPECT_GT(DeltaLowerBound(samples, 0.5).value, ExactGaussianDelta({1, 1}, 0.5));
}

TEST(BlackBoxCanary, AGaussianSigmaTwoPercentTooSmallIsProved) {
  const PairOfSamples samples =
      GaussianCounts(nightly::Volume(4'000'000, 10'000'000), {98 * 98, 100 * 100}, 42);
  EXPECT_GT(DeltaLowerBound(samples, 0.5).value, ExactGaussianDelta({1, 1}, 0.5));
}

TEST(BlackBox, SelectionsKeepTheirEpsilon) {
  EXPECT_LE(PureLossLowerBound(Selections(AuditSize(100'000), 2, {1, 2}, 51)).value, 1);
  EXPECT_LE(PureLossLowerBound(Selections(AuditSize(100'000), 10, {1, 2}, 53)).value, 1);
  EXPECT_LE(PureLossLowerBound(Selections(AuditSize(20'000), 1000, {1, 2}, 55)).value, 1);
}

TEST(BlackBoxCanary, SelectionWithTwiceTheEpsilonIsProved) {
  EXPECT_GT(PureLossLowerBound(Selections(AuditSize(100'000), 10, {1, 1}, 61)).value, 1);
}

}  // namespace
}  // namespace curator::statistics
