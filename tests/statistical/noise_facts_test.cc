// The published facts about the noise (variance, probabilities, half widths) against the reference values.
#include <gtest/gtest.h>

#include <cmath>

#include "dp/noise/discrete_distributions.h"
#include "tests/statistical/noise_vectors.h"
#include "tests/testing/shared_folder.h"

namespace curator::statistics {
namespace {

constexpr char kVectors[] = "vectors/discrete_noise.json";

TEST(NoiseFacts, VariancesAgreeWithTheReference) {
  REQUIRE_SHARED(kVectors);
  for (const NoiseVector& vector : ReadNoiseVectors(kVectors)) {
    const double variance = vector.law == NoiseVector::Law::kDiscreteLaplace
                                ? dp::DiscreteLaplaceVariance(vector.parameter)
                                : dp::DiscreteGaussianVariance(vector.parameter);
    EXPECT_NEAR(variance / vector.variance, 1, 1e-12) << vector.id;
  }
}

TEST(NoiseFacts, LogProbabilitiesAgreeWithTheReference) {
  REQUIRE_SHARED(kVectors);
  for (const NoiseVector& vector : ReadNoiseVectors(kVectors)) {
    for (const auto& [x, p] : vector.probability) {
      if (p < 1e-300) continue;  // a double holds it no longer in full
      const double log_p = vector.law == NoiseVector::Law::kDiscreteLaplace
                               ? dp::DiscreteLaplaceLogProbability(vector.parameter, -x)
                               : dp::DiscreteGaussianLogProbability(vector.parameter, -x);
      EXPECT_NEAR(log_p, std::log(p), 1e-12 * std::fabs(std::log(p))) << vector.id << " at " << x;
    }
  }
}

// P(|X| <= k - 1) = 1 - 2 P(X >= k): a level a little below it needs no more than k - 1, one a little above
// it needs k.
TEST(NoiseFacts, HalfWidthsAreTheSmallestThatReachTheirLevel) {
  REQUIRE_SHARED(kVectors);
  for (const NoiseVector& vector : ReadNoiseVectors(kVectors)) {
    for (const auto& [k, p] : vector.at_least) {
      if (k == 0 || p < 1e-9)
        continue;  // closer to 1 than that, a double cannot tell levels apart well enough
      const auto half_width = vector.law == NoiseVector::Law::kDiscreteLaplace
                                  ? dp::DiscreteLaplaceHalfWidth
                                  : dp::DiscreteGaussianHalfWidth;
      const auto below = static_cast<double>(1 - 2 * p * 1.000001);
      const auto above = static_cast<double>(1 - 2 * p * 0.999999);
      EXPECT_LE(half_width(vector.parameter, below).value(), k - 1) << vector.id;
      EXPECT_EQ(half_width(vector.parameter, above).value(), k) << vector.id;
    }
  }
}

}  // namespace
}  // namespace curator::statistics
