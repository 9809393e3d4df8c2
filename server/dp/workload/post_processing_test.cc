#include "dp/workload/post_processing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>

#include "base/errors.h"
#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Pointwise;

double TotalOf(const CellValues& cells) {
  return std::accumulate(cells.begin(), cells.end(), 0.0);
}

// A sparse joint table over sizes 4, 5, 3, its marginals with rounded normal noise of deviation 3.
std::vector<MeasuredMarginal> SparseMarginals(const std::vector<AttributeSet>& sets, uint32_t seed) {
  const std::vector<size_t> sizes = {4, 5, 3};
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 3);
  std::vector<double> joint(60, 0);
  for (int record = 0; record < 200; ++record) joint[random() % 7 * 8] += 1;
  std::vector<MeasuredMarginal> marginals;
  for (const AttributeSet& set : sets) {
    size_t cells = 1;
    for (const uint32_t attribute : set) cells *= sizes[attribute];
    CellValues values(cells, 0);
    for (size_t x = 0; x < joint.size(); ++x) {
      const std::vector<size_t> digits = {x / 15, x / 3 % 5, x % 3};
      size_t cell = 0;
      for (const uint32_t attribute : set) cell = cell * sizes[attribute] + digits[attribute];
      values[cell] += joint[x];
    }
    for (double& value : values) value = std::round(value + noise(random));
    marginals.push_back({{set, 9}, std::move(values)});
  }
  return marginals;
}

const std::vector<AttributeSet> kPairs = {{0, 1}, {0, 2}, {1, 2}, {1}};
const std::vector<AttributeSet> kTriple = {{0, 1, 2}, {0, 1}, {1, 2}};

Domain TheDomain() {
  return CodedDomain({4, 5, 3});
}

// The cells of a marginal of TheDomain() summed to one of its attributes.
CellValues SummedTo(uint32_t attribute, const AttributeSet& set, const CellValues& cells) {
  const std::vector<size_t> sizes = {4, 5, 3};
  CellValues sums(sizes[attribute], 0);
  for (size_t cell = 0; cell < cells.size(); ++cell) {
    size_t rest = cell;
    for (size_t i = set.size(); i-- > 0; rest /= sizes[set[i]])
      if (set[i] == attribute) sums[rest % sizes[attribute]] += cells[cell];
  }
  return sums;
}

void ExpectAgreement(const std::vector<AttributeSet>& sets, const std::vector<CellValues>& tables,
                     double tolerance) {
  for (uint32_t attribute = 0; attribute < 3; ++attribute) {
    std::optional<CellValues> first;
    for (size_t i = 0; i < sets.size(); ++i) {
      if (std::find(sets[i].begin(), sets[i].end(), attribute) == sets[i].end()) continue;
      const CellValues sums = SummedTo(attribute, sets[i], tables[i]);
      if (!first) first = sums;
      EXPECT_THAT(sums, Pointwise(DoubleNear(tolerance), *first)) << "attribute " << attribute;
    }
  }
}

PostProcessed Processed(const std::vector<MeasuredMarginal>& marginals, const PostProcessing& steps) {
  return PostProcess(TheDomain(), marginals, steps).value();
}

TEST(PostProcess, NothingChosenChangesNothing) {
  const std::vector<MeasuredMarginal> marginals = SparseMarginals(kPairs, 1);
  const PostProcessed result = Processed(marginals, {});
  for (size_t i = 0; i < marginals.size(); ++i) EXPECT_EQ(result.marginals[i], marginals[i].cells);
}

TEST(PostProcess, NonNegativeKeepsTheNoisyTotal) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const std::vector<MeasuredMarginal> marginals = SparseMarginals(kPairs, seed);
    const PostProcessed result = Processed(marginals, {.non_negative = true});
    for (size_t i = 0; i < marginals.size(); ++i) {
      EXPECT_THAT(result.marginals[i], Each(Ge(0)));
      EXPECT_NEAR(TotalOf(result.marginals[i]), TotalOf(marginals[i].cells), 1e-9);
    }
  }
}

TEST(PostProcess, NonNegativeIsTheNearestOfItsTotal) {
  const PostProcessed result =
      PostProcess(CodedDomain({4}), {{{{0}, 1}, {10, -3, 2, 0.5}}}, {.non_negative = true}).value();
  // 9.5 in all: 10 and 2 sink by 1.25, the others stop at 0.
  EXPECT_THAT(result.marginals[0], Pointwise(DoubleNear(1e-12), CellValues{8.75, 0, 0.75, 0}));
}

TEST(PostProcess, ANegativeTotalBecomesNothing) {
  const PostProcessed result =
      PostProcess(CodedDomain({3}), {{{{0}, 1}, {1, -5, 2}}}, {.non_negative = true, .integer = true})
          .value();
  EXPECT_THAT(result.marginals[0], ElementsAre(0, 0, 0));
}

// Cutting negative cells off instead raises totals: what the test of the total would catch.
TEST(PostProcessCanary, CuttingOffRaisesTotals) {
  const std::vector<MeasuredMarginal> marginals = SparseMarginals(kPairs, 1);
  double cut = 0;
  for (const double cell : marginals[0].cells) cut += std::max(cell, 0.0);
  EXPECT_GT(cut, TotalOf(marginals[0].cells) + 5);
}

TEST(PostProcess, ConsistentMarginalsAgree) {
  for (const std::vector<AttributeSet>& sets : {kPairs, kTriple}) {
    const PostProcessed result = Processed(SparseMarginals(sets, 2), {.consistent = true});
    ExpectAgreement(sets, result.marginals, 1e-9);
    EXPECT_EQ(result.disagreement, 0);
  }
}

TEST(PostProcess, NonNegativeAndConsistentAtOnce) {
  for (const std::vector<AttributeSet>& sets : {kPairs, kTriple}) {
    for (uint32_t seed = 1; seed <= 10; ++seed) {
      const PostProcessed result =
          Processed(SparseMarginals(sets, seed), {.non_negative = true, .consistent = true});
      for (const CellValues& table : result.marginals) EXPECT_THAT(table, Each(Ge(0)));
      EXPECT_LE(result.disagreement, kMostDisagreement);
      ExpectAgreement(sets, result.marginals, kMostDisagreement);
    }
  }
}

// For one marginal both constraints together are what `non-negative` alone does in closed form.
TEST(PostProcess, TheAscentFindsTheNearestPoint) {
  const std::vector<MeasuredMarginal> marginals = SparseMarginals({{0, 1, 2}}, 3);
  const CellValues closed = Processed(marginals, {.non_negative = true}).marginals[0];
  const CellValues projected = Processed(marginals, {.non_negative = true, .consistent = true}).marginals[0];
  EXPECT_THAT(projected, Pointwise(DoubleNear(0.1), closed));
}

// The conditions of the optimum, without the method: where cells are positive, the change from what was
// measured is orthogonal to every table that agrees and has no total; where they are 0 it can only push
// upwards.
TEST(PostProcess, NoAgreeingTableWithoutNegativesIsNearer) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, 1);
  const std::vector<MeasuredMarginal> measured = SparseMarginals(kPairs, 8);
  const std::vector<CellValues> nearest =
      Processed(measured, {.non_negative = true, .consistent = true}).marginals;
  const auto distance = [&](const std::vector<CellValues>& tables) {
    double squares = 0;
    for (size_t i = 0; i < tables.size(); ++i)
      for (size_t c = 0; c < tables[i].size(); ++c)
        squares += std::pow(tables[i][c] - measured[i].cells[c], 2);
    return squares;
  };
  for (int trial = 0; trial < 200; ++trial) {
    // Marginals of a joint table of records agree and have no negative cell; a step towards them keeps both.
    std::vector<double> joint(60);
    double sum = 0;
    for (double& cell : joint) sum += cell = std::exp(3 * normal(random));
    for (double& cell : joint) cell *= TotalOf(nearest[0]) / sum;
    std::vector<CellValues> stepped = nearest;
    for (size_t i = 0; i < kPairs.size(); ++i) {
      CellValues other(stepped[i].size(), 0);
      const std::vector<size_t> sizes = {4, 5, 3};
      for (size_t x = 0; x < joint.size(); ++x) {
        const std::vector<size_t> digits = {x / 15, x / 3 % 5, x % 3};
        size_t cell = 0;
        for (const uint32_t attribute : kPairs[i]) cell = cell * sizes[attribute] + digits[attribute];
        other[cell] += joint[x];
      }
      for (size_t c = 0; c < other.size(); ++c) stepped[i][c] += 0.05 * (other[c] - stepped[i][c]);
    }
    EXPECT_GT(distance(stepped), distance(nearest) - 1);
  }
}

TEST(PostProcess, IntegersKeepTheRoundedTotal) {
  const PostProcessed result = Processed(SparseMarginals(kPairs, 4), {.non_negative = true, .integer = true});
  const PostProcessed real = Processed(SparseMarginals(kPairs, 4), {.non_negative = true});
  for (size_t i = 0; i < kPairs.size(); ++i) {
    EXPECT_EQ(TotalOf(result.marginals[i]), std::round(TotalOf(real.marginals[i])));
    for (size_t c = 0; c < result.marginals[i].size(); ++c) {
      EXPECT_EQ(result.marginals[i][c], std::round(result.marginals[i][c]));
      EXPECT_LT(std::abs(result.marginals[i][c] - real.marginals[i][c]), 1);
    }
  }
}

TEST(PostProcess, ConsistentIntegersAgreeExactly) {
  const PostProcessed result = Processed(SparseMarginals(kTriple, 5), {.consistent = true, .integer = true});
  ExpectAgreement(kTriple, result.marginals, 0);
}

TEST(PostProcess, AllThreeAtOnceAgreeExactlyUpToTwoAttributes) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    const PostProcessed result =
        Processed(SparseMarginals(kPairs, seed), {.non_negative = true, .consistent = true, .integer = true});
    ExpectAgreement(kPairs, result.marginals, 0);
    EXPECT_EQ(result.disagreement, 0);
    const PostProcessed real =
        Processed(SparseMarginals(kPairs, seed), {.non_negative = true, .consistent = true});
    for (size_t i = 0; i < kPairs.size(); ++i) {
      EXPECT_THAT(result.marginals[i], Each(Ge(0)));
      for (size_t c = 0; c < result.marginals[i].size(); ++c) {
        EXPECT_EQ(result.marginals[i][c], std::round(result.marginals[i][c]));
        EXPECT_LT(std::abs(result.marginals[i][c] - real.marginals[i][c]), 3);
      }
    }
  }
}

TEST(PostProcess, AllThreeOfWiderMarginalsShareTheirTotal) {
  const PostProcessed result =
      Processed(SparseMarginals(kTriple, 6), {.non_negative = true, .consistent = true, .integer = true});
  for (const CellValues& table : result.marginals) {
    EXPECT_THAT(table, Each(Ge(0)));
    EXPECT_EQ(TotalOf(table), TotalOf(result.marginals[0]));
  }
}

// On data with many empty cells each step brings answers nearer to the truth, which is why one would choose
// it.
TEST(PostProcess, BringsSparseTablesNearerToTheTruth) {
  double measured_error = 0;
  double processed_error = 0;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const std::vector<MeasuredMarginal> noisy = SparseMarginals(kTriple, seed);
    std::mt19937 random(seed);
    CellValues truth(60, 0);
    for (int record = 0; record < 200; ++record) truth[random() % 7 * 8] += 1;
    const CellValues processed =
        Processed(noisy, {.non_negative = true, .consistent = true, .integer = true}).marginals[0];
    for (size_t c = 0; c < truth.size(); ++c) {
      measured_error += std::abs(noisy[0].cells[c] - truth[c]);
      processed_error += std::abs(processed[c] - truth[c]);
    }
  }
  EXPECT_LT(processed_error, 0.6 * measured_error);
}

TEST(PostProcess, TooManyCellsAreRefusedBeforehand) {
  const Domain domain = CodedDomain({2000, 2000});
  const std::vector<MeasuredShape> marginals = {{{0, 1}, 1}, {{0}, 1}};
  EXPECT_TRUE(CheckPostProcessing(domain, marginals, {.consistent = true}).ok());
  EXPECT_TRUE(CheckPostProcessing(domain, marginals, {.non_negative = true}).ok());
  EXPECT_EQ(
      FieldViolationOf(CheckPostProcessing(domain, marginals, {.non_negative = true, .consistent = true}))
          ->field,
      "post_processing");
}

TEST(PostProcess, OtherCountsAreCutAndRoundedByThemselves) {
  const PostProcessing all{true, true, true};
  EXPECT_THAT(PostProcess(AnswerKind::kCounts, {-2, 1.6, 0.2}, all), ElementsAre(0, 2, 0));
  EXPECT_THAT(PostProcess(AnswerKind::kDifferences, {-2, 1.6, 0.2}, all), ElementsAre(-2, 2, 0));
  EXPECT_THAT(PostProcess(AnswerKind::kCounts, {-2.5}, {.consistent = true}), ElementsAre(-2.5));
}

TEST(PostProcess, SaysWhatWasDone) {
  EXPECT_EQ(Describe({}), "");
  EXPECT_EQ(Describe({.consistent = true}), "consistent");
  EXPECT_EQ(Describe({true, true, true}), "non-negative, consistent, integer");
}

}  // namespace
}  // namespace curator::dp
