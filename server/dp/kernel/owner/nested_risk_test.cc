#include "dp/kernel/owner/nested_risk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace curator::dp {
namespace {

double LogNormal(double x, double mean, double variance) {
  return -0.5 * (std::log(2 * std::numbers::pi * variance) + (x - mean) * (x - mean) / variance);
}

// ln of the integral of exp(g), by the trapezoidal rule around its peak.
double LogIntegral(const std::function<double(double)>& g, double low, double high) {
  constexpr int kSteps = 20'000;
  std::vector<double> at;
  for (int i = 0; i <= kSteps; ++i) at.push_back(g(low + (high - low) * i / kSteps));
  const double peak = *std::max_element(at.begin(), at.end());
  double sum = 0;
  for (const double each : at) sum += std::exp(each - peak);
  return peak + std::log(sum * (high - low) / kSteps);
}

const RiskRow& RowOf(const std::vector<RiskRow>& rows, const std::string& weighting,
                     const std::string& option, RiskLevel level) {
  for (const RiskRow& row : rows) {
    if (row.weighting == weighting && row.option == option && row.level == level) return row;
  }
  ADD_FAILURE() << weighting << " " << option;
  return rows.front();
}

// One group and one point of the grid: the sensitivities are then single numbers, worked out anew by
// integrating.
TEST(NestedRisk, IsTheLogarithmOfTheIntegratedLikelihood) {
  const std::vector<double> y = {1.5, -0.5, 2};
  const double nu = 0.3;
  const double tau = 1.2;
  const double sigma = 0.8;
  const RiskGrid point{{nu}, {tau}, {sigma}};
  const auto integrated = [&](const std::vector<double>& values, double weight) {
    return LogIntegral(
        [&](double mu) {
          double log = LogNormal(mu, nu, tau * tau);
          for (const double value : values) log += weight * LogNormal(value, mu, sigma * sigma);
          return log;
        },
        -15, 15);
  };
  const std::vector<RiskRow> rows = NestedRisk({{y, {1, 1, 1}}}, point).value();
  EXPECT_NEAR(RowOf(rows, "none", "", RiskLevel::kGroup).sensitivities.median, std::abs(integrated(y, 1)),
              1e-6);
  std::vector<double> of_records;
  for (const std::vector<double>& others : {std::vector<double>{-0.5, 2}, {1.5, 2}, {1.5, -0.5}})
    of_records.push_back(std::abs(integrated(y, 1) - integrated(others, 1)));
  std::ranges::sort(of_records);
  const Quartiles& found = RowOf(rows, "none", "", RiskLevel::kRecord).sensitivities;
  EXPECT_NEAR(found.least, of_records[0], 1e-6);
  EXPECT_NEAR(found.median, of_records[1], 1e-6);
  EXPECT_NEAR(found.largest, of_records[2], 1e-6);
  const double scalar = of_records[0] / of_records[2];
  EXPECT_NEAR(RowOf(rows, "scalar", "C", RiskLevel::kGroup).sensitivities.median,
              std::abs(integrated(y, scalar)), 1e-6);
  EXPECT_NEAR(RowOf(rows, "scalar", "A", RiskLevel::kGroup).sensitivities.median,
              scalar * std::abs(integrated(y, 1)), 1e-6);
}

TEST(NestedRisk, OfOptionBHasTheWeightInsideTheIntegral) {
  const double nu = 0.3;
  const double tau = 1.2;
  const double sigma = 0.8;
  const std::vector<std::vector<double>> groups = {{0.2, 0.4}, {3, -2, 4}};
  const auto integrated = [&](const std::vector<double>& values, double weight) {
    return LogIntegral(
        [&](double mu) {
          double log = LogNormal(mu, nu, tau * tau);
          for (const double value : values) log += LogNormal(value, mu, sigma * sigma);
          return weight * log;
        },
        -40, 40);
  };
  const double first = std::abs(integrated(groups[0], 1));
  const double second = std::abs(integrated(groups[1], 1));
  ASSERT_LT(first, second);
  const std::vector<RiskRow> rows =
      NestedRisk({{groups[0], {1, 1}}, {groups[1], {1, 1, 1}}}, {{nu}, {tau}, {sigma}}).value();
  const Quartiles& found = RowOf(rows, "group", "B", RiskLevel::kGroup).sensitivities;
  const std::vector<double> expected = {first, std::abs(integrated(groups[1], first / second))};
  EXPECT_NEAR(found.least, std::min(expected[0], expected[1]), 1e-6);
  EXPECT_NEAR(found.largest, std::max(expected[0], expected[1]), 1e-6);
}

// A parabola's ends and turn against all means.
TEST(NestedRisk, IsTheLargestOverEveryPointOfTheGrid) {
  const std::vector<RiskGroup> groups = {{{-1, 0.5, 3}, {2, 1, 1}}, {{2.5}, {1}}, {{0, 1}, {3, 3}}};
  const RiskGrid grid = RiskGridOver(-4, 4, 0.1, 4);
  std::vector<RiskRow> largest =
      NestedRisk(groups, {{grid.means[0]}, {grid.betweens[0]}, {grid.withins[0]}}).value();
  for (const double nu : grid.means) {
    for (const double tau : grid.betweens) {
      for (const double sigma : grid.withins) {
        const std::vector<RiskRow> here = NestedRisk(groups, {{nu}, {tau}, {sigma}}).value();
        for (size_t i = 0; i < here.size(); ++i) {
          double& most = largest[i].sensitivities.largest;
          most = std::max(most, here[i].sensitivities.largest);
        }
      }
    }
  }
  const std::vector<RiskRow> found = NestedRisk(groups, grid).value();
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].weighting != "none") continue;  // weights differ from point to point
    EXPECT_NEAR(found[i].sensitivities.largest, largest[i].sensitivities.largest, 1e-9);
  }
}

// 100 groups of 50, tau^2 = 4, sigma^2 = 1.
std::vector<RiskGroup> Simulated() {
  std::mt19937_64 random(2023);
  std::normal_distribution<double> normal;
  std::vector<RiskGroup> groups(100);
  for (RiskGroup& group : groups) {
    const double mu = 2 * normal(random);
    for (int i = 0; i < 50; ++i) group.values.push_back(mu + normal(random));
    group.counts.assign(50, 1);
  }
  return groups;
}

// The slides: medians of 489 without weights, then 83, 45 and 14 by records' weights, and 68, 35 and 12 with
// those of groups. Their grid are draws of a posterior, and their weights are not given to the letter.
TEST(NestedRisk, OfTheSlidesSimulationHasTheSlidesOrderAndRoughSizes) {
  const std::vector<RiskGroup> groups = Simulated();
  const std::vector<RiskRow> rows = NestedRisk(groups, RiskGridAround(groups, 1e-3, 9)).value();
  const auto of_groups = [&](const std::string& weighting, const std::string& option) {
    return RowOf(rows, weighting, option, RiskLevel::kGroup).sensitivities;
  };
  const double slides[][2] = {{489, 489}, {83, 68}, {45, 35}, {14, 12}};
  Quartiles before = of_groups("none", "");
  EXPECT_THAT(before.median, testing::AllOf(testing::Gt(489 * 0.7), testing::Lt(489 * 1.4)));
  int row = 1;
  for (const char* share : {"1", "0.5", "0.1"}) {
    const Quartiles by_record = of_groups(std::string("vector ") + share, "C");
    const Quartiles by_both = of_groups(std::string("vector and group ") + share, "C");
    EXPECT_LT(by_record.first, before.first);
    EXPECT_LT(by_record.median, before.median);
    EXPECT_LT(by_record.third, before.third);
    EXPECT_LT(by_both.median, by_record.median);
    EXPECT_LT(by_both.third - by_both.first, by_record.third - by_record.first) << "groups become alike";
    EXPECT_THAT(by_record.median,
                testing::AllOf(testing::Gt(slides[row][0] / 2), testing::Lt(slides[row][0] * 2)));
    EXPECT_THAT(by_both.median,
                testing::AllOf(testing::Gt(slides[row][1] / 2), testing::Lt(slides[row][1] * 2)));
    before = by_record;
    ++row;
  }
  // A weight of the whole group before the logarithm makes all groups weigh what the least one does.
  EXPECT_NEAR(of_groups("group", "A").largest, of_groups("none", "").least, 1e-9);
}

TEST(NestedRisk, ByRecordsWeightsARecordWeighsAboutWhatTheLeastSensitiveOneDoes) {
  const std::vector<RiskGroup> groups = Simulated();
  const std::vector<RiskRow> rows = NestedRisk(groups, RiskGridAround(groups, 1e-3, 9)).value();
  const Quartiles plain = RowOf(rows, "none", "", RiskLevel::kRecord).sensitivities;
  const Quartiles weighted = RowOf(rows, "vector 1", "C", RiskLevel::kRecord).sensitivities;
  EXPECT_GT(plain.largest, 50 * plain.least);
  EXPECT_LT(weighted.largest, 4 * plain.least);
}

TEST(RiskGridAround, StaysAboveTheLeastDeviationWhereNothingVaries) {
  const std::vector<RiskGroup> alike = {{{3}, {5}}, {{3}, {2}}};
  const RiskGrid grid = RiskGridAround(alike, 0.5, 4);
  for (const double deviation : grid.withins)
    EXPECT_THAT(deviation, testing::AllOf(testing::Ge(0.5), testing::Le(1)));
  EXPECT_EQ(grid.betweens, grid.withins);
  const std::vector<RiskRow> rows = NestedRisk(alike, grid).value();
  for (const RiskRow& row : rows) {
    EXPECT_TRUE(std::isfinite(row.sensitivities.largest)) << row.weighting;
    EXPECT_TRUE(std::isfinite(row.sensitivities.least)) << row.weighting;
  }
}

TEST(NestedRisk, OfAGroupOfOneRecordIsTheSameByGroupAndByRecord) {
  const std::vector<RiskRow> rows = NestedRisk({{{1.5}, {1}}}, RiskGridOver(-4, 4, 0.1, 5)).value();
  for (const char* weighting : {"none", "vector 0.5"}) {
    const char* option = std::string(weighting) == "none" ? "" : "C";
    EXPECT_DOUBLE_EQ(RowOf(rows, weighting, option, RiskLevel::kGroup).sensitivities.median,
                     RowOf(rows, weighting, option, RiskLevel::kRecord).sensitivities.median);
  }
}

TEST(NestedRisk, CountsRepeatedValuesAsSoManyRecords) {
  const RiskGrid grid = RiskGridOver(-4, 4, 0.1, 5);
  const std::vector<RiskRow> counted = NestedRisk({{{0, 2}, {3, 1}}}, grid).value();
  const std::vector<RiskRow> listed = NestedRisk({{{0, 0, 0, 2}, {1, 1, 1, 1}}}, grid).value();
  for (size_t i = 0; i < counted.size(); ++i) {
    EXPECT_NEAR(counted[i].sensitivities.first, listed[i].sensitivities.first, 1e-9) << counted[i].weighting;
    EXPECT_NEAR(counted[i].sensitivities.largest, listed[i].sensitivities.largest, 1e-9);
  }
}

TEST(NestedRisk, IsFiniteWhereBoundsAreOneNumberAndWhereARecordWeighsNothing) {
  const RiskGrid one_number = RiskGridOver(2, 2, 0.5, 4);
  // Where sigma^2 is 1 / (2 pi) a record at the only mean has the sensitivity 0 without its group's spread.
  const RiskGrid of_no_sensitivity{{0}, {1e-12}, {1 / std::sqrt(2 * std::numbers::pi)}};
  for (const RiskGrid& grid : {one_number, of_no_sensitivity}) {
    const std::vector<RiskRow> rows = NestedRisk({{{2}, {3}}, {{0, 1}, {1, 2}}}, grid).value();
    for (const RiskRow& row : rows) {
      EXPECT_TRUE(std::isfinite(row.sensitivities.least)) << row.weighting << row.option;
      EXPECT_TRUE(std::isfinite(row.sensitivities.largest)) << row.weighting << row.option;
    }
  }
}

TEST(NestedRisk, NeedsRecordsAndAGrid) {
  EXPECT_FALSE(NestedRisk({}, RiskGridOver(0, 1, 0.1, 3)).ok());
  EXPECT_FALSE(NestedRisk({{{}, {}}}, RiskGridOver(0, 1, 0.1, 3)).ok());
  EXPECT_FALSE(NestedRisk({{{1, 2}, {1, 0}}}, RiskGridOver(0, 1, 0.1, 3)).ok());
  EXPECT_FALSE(NestedRisk({{{1}, {1}}}, {}).ok());
}

}  // namespace
}  // namespace curator::dp
