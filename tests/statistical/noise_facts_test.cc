// The published facts about the noise (variance, probabilities, half widths) against the reference values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dp/noise/noise_spec.h"
#include "dp/noise/testing/log_probability.h"
#include "tests/statistical/noise_vectors.h"
#include "tests/testing/shared_folder.h"

namespace curator::statistics {
namespace {

TEST(NoiseFacts, VariancesAgreeWithTheReference) {
  REQUIRE_SHARED(kNoiseVectors);
  for (const NoiseVector& vector : ReadNoiseVectors()) {
    const double variance = vector.law == NoiseVector::Law::kDiscreteLaplace
                                ? dp::DiscreteLaplaceVariance(vector.parameter)
                                : dp::DiscreteGaussianVariance(vector.parameter);
    EXPECT_NEAR(variance / vector.variance, 1, 1e-12) << vector.id;
  }
}

TEST(NoiseFacts, LogProbabilitiesAgreeWithTheReference) {
  REQUIRE_SHARED(kNoiseVectors);
  for (const NoiseVector& vector : ReadNoiseVectors()) {
    for (const auto& [x, p] : vector.probability) {
      if (p < 1e-300) continue;  // a double holds it no longer in full
      const double log_p = vector.law == NoiseVector::Law::kDiscreteLaplace
                               ? dp::DiscreteLaplaceLogProbability(vector.parameter, -x)
                               : dp::DiscreteGaussianLogProbability(vector.parameter, -x);
      // A reference close to 1 is known to the precision of a double alone.
      EXPECT_NEAR(log_p, std::log(p), 1e-12 * std::fabs(std::log(p)) + 1e-15) << vector.id << " at " << x;
    }
  }
}

TEST(NoiseFacts, TheProbabilityOfNoNoiseIsOneOverTheReferenceNormaliser) {
  REQUIRE_SHARED(kNoiseVectors);
  for (const NoiseVector& vector : ReadNoiseVectors()) {
    if (vector.law != NoiseVector::Law::kDiscreteGaussian || !vector.normaliser) continue;
    EXPECT_NEAR(dp::DiscreteGaussianLogProbability(vector.parameter, 0), -std::log(*vector.normaliser),
                1e-12 * std::max(1.0, std::fabs(std::log(*vector.normaliser))))
        << vector.id;
  }
}

// P(|X| <= k - 1) = 1 - 2 P(X >= k): a level a little below it needs no more than k - 1, one a little above
// it needs k.
TEST(NoiseFacts, HalfWidthsAreTheSmallestThatReachTheirLevel) {
  REQUIRE_SHARED(kNoiseVectors);
  for (const NoiseVector& vector : ReadNoiseVectors()) {
    for (const auto& [k, p] : vector.at_least) {
      if (k <= 0 || p < 1e-9)
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
