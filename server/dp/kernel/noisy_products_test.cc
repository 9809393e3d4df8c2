// NoisyProducts: what it draws, its meter, its transcript, and the divergence of its outputs on neighbours.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/kernel/testing/no_bits.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/noise/noise_spec.h"
#include "dp/sensitivity/product_cost.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr UnitBound kAdded{NeighbourRelation::kAddRemove, 1};
constexpr UnitBound kReplaced{NeighbourRelation::kReplaceOne, 1};
const std::vector<Rational> kNoise = {{40, 1}, {7, 2}, {9, 1}};

const Domain& ThreeByTwo() {
  static const Domain domain = CodedDomain({3, 2});
  return domain;
}

// The number of records, weighted queries over the first attribute, and contrasts of both.
ProductQueries Questions() {
  return {.axes = {{}, {.weights = {2, -1, -1, 0, 3, -3}}},
          .groups = {{{}, {}}, {{0}, {1}}, {{0, 1}, {0, 0}}}};
}

SealedTableHandle FourRecords() {
  return SealRows(ThreeByTwo(), {{0, 0}, {0, 1}, {1, 1}, {2, 1}}).value();
}

Event PriceUnder(const UnitBound& unit) {
  return {ZcdpEvent{CostOfProducts(ThreeByTwo(), unit, Questions(), kNoise).value()}};
}

TEST(NoisyProducts, AddNoiseOfTheirOwnSpreadToEveryAnswer) {
  constexpr int kDraws = 20'000;
  seeded::SeededBits bits(1);
  Kernel kernel(FourRecords(), ThreeByTwo(), kAdded, Meter({{PriceUnder(kAdded), kDraws}}), bits);
  const std::vector<std::vector<Rational>> parameters = {
      {{40, 1}}, {{7, 2}, {7, 2}}, {{9 * 2 * 2, 1}, {9 * 6 * 2, 1}}};
  std::vector<std::vector<double>> sums = {{0}, {0, 0}, {0, 0}};
  std::vector<std::vector<double>> squares = sums;
  for (int i = 0; i < kDraws; ++i) {
    const auto values = kernel.NoisyProducts(Questions(), kNoise).value();
    ASSERT_EQ(values.size(), 3u);
    for (size_t g = 0; g < values.size(); ++g) {
      ASSERT_EQ(values[g].size(), sums[g].size());
      for (size_t q = 0; q < values[g].size(); ++q) {
        sums[g][q] += static_cast<double>(values[g][q]);
        squares[g][q] += std::pow(static_cast<double>(values[g][q]), 2);
      }
    }
  }
  const std::vector<int64_t> first =
      AnswersFromCounts(ThreeByTwo(), Questions(), Questions().groups[1], std::vector<int64_t>{2, 1, 1});
  const std::vector<int64_t> both = AnswersFromCounts(ThreeByTwo(), Questions(), Questions().groups[2],
                                                      std::vector<int64_t>{1, 1, 0, 1, 0, 1});
  const std::vector<std::vector<int64_t>> truth = {{4}, first, both};
  for (size_t g = 0; g < sums.size(); ++g) {
    for (size_t q = 0; q < sums[g].size(); ++q) {
      const double variance = DiscreteGaussianVariance(parameters[g][q]);
      const double mean = sums[g][q] / kDraws;
      EXPECT_LT(std::abs(mean - static_cast<double>(truth[g][q])), 6 * std::sqrt(variance / kDraws))
          << g << q;
      EXPECT_NEAR((squares[g][q] / kDraws - mean * mean) / variance, 1, 6 * std::sqrt(2.0 / kDraws))
          << g << q;
    }
  }
}

TEST(NoisyProducts, DebitTheirCostBeforeTheyDraw) {
  for (const UnitBound& unit : {kAdded, kReplaced}) {
    NoBits none;
    Kernel unpaid(FourRecords(), ThreeByTwo(), unit, Meter({}), none);
    EXPECT_EQ(unpaid.NoisyProducts(Questions(), kNoise).status().code(),
              absl::StatusCode::kFailedPrecondition);
    seeded::SeededBits bits(2);
    Kernel paid(FourRecords(), ThreeByTwo(), unit, Meter({{PriceUnder(unit), 1}}), bits);
    EXPECT_TRUE(paid.NoisyProducts(Questions(), kNoise).ok());
    EXPECT_EQ(paid.NoisyProducts(Questions(), kNoise).status().code(), absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_NE(PriceUnder(kAdded), PriceUnder(kReplaced));
}

TEST(NoisyProducts, MalformedOnesAreRefusedWithoutADebit) {
  NoBits none;
  Kernel kernel(FourRecords(), ThreeByTwo(), kAdded, Meter({{PriceUnder(kAdded), 1}}), none);
  EXPECT_EQ(kernel.NoisyProducts({}, {}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(kernel.NoisyProducts(Questions(), {{{1, 1}}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  ProductQueries unknown = Questions();
  unknown.groups[1].attributes = {7};
  EXPECT_EQ(kernel.NoisyProducts(unknown, kNoise).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(NoisyProducts, AreReplayedFromTheirTranscript) {
  seeded::SeededBits bits(3);
  Kernel kernel(FourRecords(), ThreeByTwo(), kAdded, Meter({{PriceUnder(kAdded), 1}}), bits);
  Transcript transcript;
  RecordingQueries recording(kernel, transcript);
  const auto values = recording.NoisyProducts(Questions(), kNoise).value();
  ReplayingQueries replaying(transcript, ThreeByTwo());
  EXPECT_FALSE(replaying.NoisyProducts(Questions(), {{{40, 1}, {7, 2}, {8, 1}}}).ok());
  EXPECT_EQ(replaying.NoisyProducts(Questions(), kNoise).value(), values);
}

// A group of more than a million cells is counted by itself. Noise with this parameter is not 0 once in 10^21
// draws.
TEST(NoisyProducts, OfManyCellsAreCountedPartByPart) {
  const Domain large = CodedDomain({1100, 1000});
  ProductQueries queries{
      .axes = {{.weights = std::vector<int32_t>(1100, 1)}, {.weights = std::vector<int32_t>(1000, 1)}},
      .groups = {{{0}, {0}}, {{0, 1}, {0, 1}}, {{1}, {1}}, {{}, {}}}};
  queries.axes[1].weights[20] = 5;
  queries.axes[1].weights[999] = -7;
  const std::vector<Rational> noise(4, Rational{1, 100});
  const Event price{ZcdpEvent{CostOfProducts(large, kAdded, queries, noise).value()}};
  seeded::SeededBits bits(5);
  Kernel kernel(SealRows(large, {{0, 3}, {7, 999}, {1099, 20}}).value(), large, kAdded, Meter({{price, 1}}),
                bits);
  EXPECT_EQ(kernel.NoisyProducts(queries, noise).value(),
            (std::vector<std::vector<int64_t>>{{3}, {-1}, {-1}, {3}}));
}

// The mean log-ratio of the likelihoods of draws from one table under both: the divergence of order 1, which
// rho bounds.
constexpr int kRatios = 500;
double MeanLogRatio(const UnitBound& unit, const std::vector<std::vector<uint32_t>>& here,
                    const std::vector<std::vector<uint32_t>>& there) {
  const SealedTableHandle one = SealRows(ThreeByTwo(), here).value();
  const SealedTableHandle other = SealRows(ThreeByTwo(), there).value();
  seeded::SeededBits bits(4);
  Kernel kernel(one, ThreeByTwo(), unit, Meter({{PriceUnder(unit), kRatios}}), bits);
  double sum = 0;
  for (int i = 0; i < kRatios; ++i) {
    const ProductsDraw draw{Questions(), kNoise, kernel.NoisyProducts(Questions(), kNoise).value()};
    sum += (LogProbability(draw, *one, ThreeByTwo(), unit).value() -
            LogProbability(draw, *other, ThreeByTwo(), unit).value())
               .Upper();
  }
  return sum / kRatios;
}

TEST(NoisyProducts, OutputsOnNeighboursDivergeByTheirRhoAtMostAndNearlyByIt) {
  const std::vector<std::vector<uint32_t>> rest = {{0, 1}, {1, 1}};
  std::vector<std::vector<uint32_t>> more = rest;
  more.push_back({2, 0});
  std::vector<std::vector<uint32_t>> replaced = rest;
  replaced.push_back({1, 0});
  const auto rho = [](const UnitBound& unit) {
    return static_cast<double>(CostOfProducts(ThreeByTwo(), unit, Questions(), kNoise)->units()) * 1e-12;
  };
  // The log-ratio has the variance 2 rho.
  const auto slack = [](double cost) { return 5 * std::sqrt(2 * cost / kRatios); };
  const double entered = MeanLogRatio(kAdded, rest, more);
  EXPECT_LT(entered, rho(kAdded) + slack(rho(kAdded)));
  EXPECT_GT(entered, 0.9 * rho(kAdded) - slack(rho(kAdded)));
  const double exchanged = MeanLogRatio(kReplaced, more, replaced);
  EXPECT_LT(exchanged, rho(kReplaced) + slack(rho(kReplaced)));
}

}  // namespace
}  // namespace curator::dp
