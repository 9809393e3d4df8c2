// Layer 2 of the audit: the samplers against the exact laws of the reference values, and broken samplers that
// the same check catches. Seeds are fixed unless asked otherwise (audit_mode.h); for fresh ones the false
// alarm of each check is at most kFalseAlarm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "dp/noise/discrete_gaussian.h"
#include "dp/noise/discrete_laplace.h"
#include "dp/noise/noise_spec.h"
#include "dp/noise/testing/log_probability.h"
#include "tests/statistical/audit_mode.h"
#include "tests/statistical/noise_vectors.h"
#include "tests/testing/seeded_bits.h"
#include "tests/testing/shared_folder.h"

namespace curator::statistics {
namespace {

const size_t kSampleSize = AuditSize(400'000);
using Law = NoiseVector::Law;

std::vector<int64_t> Sample(Law law, dp::Rational parameter, uint64_t seed) {
  seeded::SeededBits bits(AuditSeed(seed));
  std::vector<int64_t> values(kSampleSize);
  if (law == Law::kDiscreteLaplace) {
    dp::DiscreteLaplace::Create(parameter).value().Fill(bits, values);
  } else {
    dp::DiscreteGaussian::Create(parameter).value().Fill(bits, values);
  }
  return values;
}

dp::Rational Times(dp::Rational value, dp::Rational factor) {
  return {value.numerator * factor.numerator, value.denominator * factor.denominator};
}

TEST(SamplerLaws, SamplersFollowTheReferenceProbabilities) {
  REQUIRE_SHARED(kNoiseVectors);
  uint64_t seed = 1;
  for (const NoiseVector& vector : ReadNoiseVectors()) {
    const Verdict verdict = CheckFrequencies(Sample(vector.law, vector.parameter, seed++), vector.Events());
    EXPECT_GT(verdict.p_value, kFalseAlarm) << vector.id << ": " << verdict.worst;
  }
}

// A plain check of two moments, to eight standard deviations and, for variances so small that nearly every
// draw is 0, 24 draws that are not (both by Bennett's inequality far below one in 10^10).
TEST(SamplerLaws, SamplesHaveTheReferenceVarianceAndMeanZero) {
  REQUIRE_SHARED(kNoiseVectors);
  uint64_t seed = 1001;
  for (const NoiseVector& vector : ReadNoiseVectors()) {
    double sum = 0;
    double squares = 0;
    for (const int64_t value : Sample(vector.law, vector.parameter, seed++)) {
      sum += static_cast<double>(value);
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const auto n = static_cast<double>(kSampleSize);
    EXPECT_NEAR(sum, 0, 8 * std::sqrt(n * vector.variance) + 24) << vector.id;
    // A kurtosis of at most 6 + 1/variance holds for both laws.
    const double deviation = std::sqrt(n * (5 * vector.variance * vector.variance + vector.variance));
    EXPECT_NEAR(squares, n * vector.variance, 8 * deviation + 24) << vector.id;
  }
}

TEST(SamplerLaws, LargeScalesFollowTheClosedForm) {
  uint64_t seed = 2001;
  for (const dp::Rational scale : {dp::Rational{1'000'000'000'000, 1},
                                   {1'000'000'000'000'000, 7},
                                   {int64_t{1} << 52, 1},
                                   {12'345'678'901, 10}}) {
    const double b = static_cast<double>(scale.numerator) / static_cast<double>(scale.denominator);
    std::vector<Event> events;
    for (const double at : {0.01, 0.1, 0.3, 1.0, 2.0, 4.0, 8.0}) {
      const auto k = static_cast<int64_t>(at * b);
      // P(X >= k) = q^k / (1 + q)
      const double p = std::exp(-static_cast<double>(k) / b) / (1 + std::exp(-1 / b));
      events.push_back({k, Event::kNoLimit, p});
      events.push_back({-Event::kNoLimit, -k, p});
    }
    const Verdict verdict = CheckFrequencies(Sample(Law::kDiscreteLaplace, scale, seed++), events);
    EXPECT_GT(verdict.p_value, kFalseAlarm) << scale.numerator << ": " << verdict.worst;
  }
}

TEST(SamplerLaws, LargeSigmasFollowTheGaussianIntegral) {
  uint64_t seed = 3001;
  for (const dp::Rational sigma_squared :
       {dp::Rational{1'000'000, 1}, {500'000'000'000'000'000, 1}, {1'000'000'000'000, 26}}) {
    const double s = std::sqrt(static_cast<double>(sigma_squared.numerator) /
                               static_cast<double>(sigma_squared.denominator));
    std::vector<Event> events;
    for (const double at : {0.01, 0.1, 0.3, 1.0, 2.0, 3.0, 4.0}) {
      const auto k = static_cast<int64_t>(at * s);
      // The midpoint rule's error is below 1e-7 of the probability here: nothing against 400,000 draws.
      const double p = std::erfc((static_cast<double>(k) - 0.5) / (s * std::sqrt(2.0))) / 2;
      events.push_back({k, Event::kNoLimit, p});
      events.push_back({-Event::kNoLimit, -k, p});
    }
    const Verdict verdict = CheckFrequencies(Sample(Law::kDiscreteGaussian, sigma_squared, seed++), events);
    EXPECT_GT(verdict.p_value, kFalseAlarm) << sigma_squared.numerator << ": " << verdict.worst;
  }
}

// Cases of our own, in which a law that is five percent narrower shows: neither does nearly everything lie at
// 0, nor nearly everything beyond the values that are looked at.
std::vector<NoiseVector> CanaryCases(Law law) {
  const bool laplace = law == Law::kDiscreteLaplace;
  const std::vector<dp::Rational> parameters =
      laplace ? std::vector<dp::Rational>{{1, 2}, {3, 2}, {3, 1}, {20, 1}}
              : std::vector<dp::Rational>{{1, 4}, {1, 1}, {10, 1}, {400, 1}};
  std::vector<NoiseVector> cases;
  for (const dp::Rational parameter : parameters) {
    NoiseVector one{.id = std::to_string(parameter.numerator) + "/" + std::to_string(parameter.denominator),
                    .law = law,
                    .parameter = parameter};
    double at_least = 0;
    for (int64_t x = 1000; x >= 0; --x) {
      const double p = std::exp(laplace ? dp::DiscreteLaplaceLogProbability(parameter, x)
                                        : dp::DiscreteGaussianLogProbability(parameter, x));
      at_least += p;
      if (x <= 5) one.probability[x] = p;
      if (x <= 5 || x == 20 || x == 50) one.at_least[x] = at_least;
    }
    cases.push_back(std::move(one));
  }
  return cases;
}

TEST(SamplerLaws, SamplersFollowTheLawsOfTheCanaries) {
  uint64_t seed = 6001;
  for (const Law law : {Law::kDiscreteLaplace, Law::kDiscreteGaussian}) {
    for (const NoiseVector& one : CanaryCases(law)) {
      const Verdict verdict = CheckFrequencies(Sample(law, one.parameter, seed++), one.Events());
      EXPECT_GT(verdict.p_value, kFalseAlarm) << one.id << ": " << verdict.worst;
    }
  }
}

void ExpectCaught(Law law,
                  const std::function<std::vector<int64_t>(const NoiseVector&, uint64_t seed)>& broken) {
  uint64_t seed = 4001;
  for (const NoiseVector& one : CanaryCases(law))
    EXPECT_LT(CheckFrequencies(broken(one, seed++), one.Events()).p_value, kFalseAlarm) << one.id;
}

TEST(SamplerLawsCanary, ALaplaceScaleFivePercentTooSmallIsCaught) {
  ExpectCaught(Law::kDiscreteLaplace, [](const NoiseVector& vector, uint64_t seed) {
    return Sample(vector.law, Times(vector.parameter, {95, 100}), seed);
  });
}

TEST(SamplerLawsCanary, HalfTheLaplaceScaleIsCaught) {
  ExpectCaught(Law::kDiscreteLaplace, [](const NoiseVector& vector, uint64_t seed) {
    return Sample(vector.law, Times(vector.parameter, {1, 2}), seed);
  });
}

TEST(SamplerLawsCanary, AGaussianSigmaFivePercentTooSmallIsCaught) {
  ExpectCaught(Law::kDiscreteGaussian, [](const NoiseVector& vector, uint64_t seed) {
    return Sample(vector.law, Times(vector.parameter, {95 * 95, 100 * 100}), seed);
  });
}

// -scale ln(u) for a uniform double: what a textbook's discrete or continuous Laplace is made of.
double NaiveExponential(const NoiseVector& vector, uint64_t word) {
  const double scale =
      static_cast<double>(vector.parameter.numerator) / static_cast<double>(vector.parameter.denominator);
  return -scale * std::log((static_cast<double>(word >> 12) + 0.5) * 0x1p-52);
}

std::vector<int64_t> FromWords(uint64_t seed,
                               const std::function<int64_t(uint64_t magnitude, uint64_t sign)>& draw) {
  seeded::SeededBits bits(AuditSeed(seed));
  std::vector<uint64_t> words(2 * kSampleSize);
  bits.Fill(words);
  std::vector<int64_t> values(kSampleSize);
  for (size_t i = 0; i < kSampleSize; ++i) values[i] = draw(words[2 * i], words[2 * i + 1] & 1);
  return values;
}

// Rounding a continuous Laplace variable moves the probability of 0 by about 1/(24 scale^3), which 400,000
// draws show up to scale 3.
TEST(SamplerLawsCanary, ANaiveFloatingPointLaplaceRoundedToIntegersIsCaught) {
  uint64_t seed = 5001;
  for (const NoiseVector& vector : CanaryCases(Law::kDiscreteLaplace)) {
    if (vector.parameter.numerator > 3 * vector.parameter.denominator) continue;
    const std::vector<int64_t> values = FromWords(seed++, [&vector](uint64_t word, uint64_t sign) {
      const double magnitude = NaiveExponential(vector, word);
      return std::llround(sign == 1 ? -magnitude : magnitude);
    });
    EXPECT_LT(CheckFrequencies(values, vector.Events()).p_value, kFalseAlarm) << vector.id;
  }
}

TEST(SamplerLawsCanary, AMinusZeroThatIsNotDrawnAnewIsCaught) {
  ExpectCaught(Law::kDiscreteLaplace, [](const NoiseVector& vector, uint64_t seed) {
    return FromWords(seed, [&vector](uint64_t word, uint64_t sign) {
      const auto magnitude = static_cast<int64_t>(NaiveExponential(vector, word));
      return sign == 1 ? -magnitude : magnitude;
    });
  });
}

TEST(SamplerLawsCanary, AnUnfairSignIsCaught) {
  for (const Law law : {Law::kDiscreteLaplace, Law::kDiscreteGaussian}) {
    ExpectCaught(law, [](const NoiseVector& vector, uint64_t seed) {
      std::vector<int64_t> values = Sample(vector.law, vector.parameter, seed);
      for (size_t i = 0; i < values.size(); i += 10) values[i] = std::abs(values[i]);
      return values;
    });
  }
}

}  // namespace
}  // namespace curator::statistics
