// What is bought for statistics is what the kernel debits for them: every draw is admitted, and none is left.
#include <gtest/gtest.h>

#include <vector>

#include "dp/data/sealed_table.h"
#include "dp/kernel/kernel.h"
#include "dp/workload/statistics/statistics_plan.h"
#include "tests/testing/seeded_bits.h"

namespace curator::statistics {
namespace {

using dp::StatisticKind;

constexpr uint32_t kRegion = 0;
constexpr uint32_t kAge = 1;
constexpr uint32_t kIncome = 2;
constexpr uint32_t kScore = 3;
constexpr int64_t kMostRecords = 3;

const dp::Domain& People() {
  static const dp::Domain domain = [] {
    std::vector<dp::Attribute> attributes;
    attributes.push_back(dp::Attribute::Create("region", dp::CodedKind{4}).value());
    attributes.push_back(dp::Attribute::Create("age", dp::IntegerKind{.min = 0, .max = 99}).value());
    std::vector<dp::Measure> measures;
    measures.push_back(dp::Measure::Create("income", {.min = 0, .max = 1000, .step = 1}).value());
    measures.push_back(
        dp::Measure::Create("score", {.min = -1, .max = 1, .step = 0.001}, dp::Missing{}).value());
    return dp::Domain::Create(std::move(attributes), std::move(measures)).value();
  }();
  return domain;
}

dp::SealedTableHandle FewRecords() {
  dp::SealedTableBuilder builder(People(), dp::RowOwner::kUnit);
  for (uint32_t i = 0; i < 40; ++i) {
    const std::vector<uint32_t> row = {i % 4, i, 20 * i, i % 8 == 0 ? 2001 : 50 * i};
    EXPECT_TRUE(builder.AppendRow(row, i / kMostRecords).ok());
  }
  return std::move(builder).Build().value();
}

std::vector<dp::AskedStatistics> Sets(const dp::AttributeSet& by, dp::QuantileWay way) {
  std::vector<dp::AskedStatistics> sets(2);
  sets[0].statistics = {{},
                        {.kind = StatisticKind::kDistinctUnits},
                        {.kind = StatisticKind::kVariance, .column = kIncome},
                        {.kind = StatisticKind::kQuantile, .column = kAge, .thousandths = 250},
                        {.kind = StatisticKind::kQuantile, .column = kAge, .thousandths = 500}};
  sets[0].by = by;
  sets[0].quantiles = way;
  sets[1].statistics = {{.kind = StatisticKind::kSum, .column = kScore},
                        {.kind = StatisticKind::kCount, .column = kScore},
                        {.kind = StatisticKind::kMean, .column = kAge}};
  sets[1].where = {kAge};
  sets[1].cells = {1, 5, 30, 31};
  return sets;
}

absl::StatusOr<std::vector<int64_t>> Measure(dp::Kernel& kernel, const dp::AskedStatistics& asked,
                                             const dp::StatisticsDraw& draw, const dp::BoughtDraw& bought) {
  const dp::RecordGroups groups = dp::GroupsBy(People(), asked.by, asked.where, asked.cells).value();
  if (const auto* sum = std::get_if<dp::SumDraw>(&draw.what)) {
    return kernel.NoisySums({.groups = groups, .blocks = sum->blocks, .value = sum->value}, bought.noise);
  }
  if (const auto* quantile = std::get_if<dp::QuantileDraw>(&draw.what)) {
    return kernel.SelectQuantiles({.groups = groups,
                                   .column = quantile->column,
                                   .numerator = quantile->thousandths,
                                   .denominator = 1000},
                                  bought.epsilon);
  }
  return kernel.NoisyUnitCounts(groups, bought.noise);
}

void ExpectThatTheScheduleFits(const dp::SealedTableHandle& table, const dp::UnitBound& unit,
                               const std::vector<dp::AskedStatistics>& sets,
                               const std::variant<dp::Epsilon, dp::Rho>& share) {
  const dp::Mechanism mechanism = std::holds_alternative<dp::Epsilon>(share)
                                      ? dp::Mechanism::kDiscreteLaplace
                                      : dp::Mechanism::kDiscreteGaussian;
  const auto draws = dp::DrawsFor(People(), unit, mechanism, sets).value();
  const dp::StatisticsPurchase bought = dp::BuyStatistics(People(), unit, sets, draws, share).value();
  seeded::SeededBits bits(1);
  dp::Kernel kernel(table, People(), unit, dp::Meter(bought.draws), bits);
  for (size_t i = 0; i < draws.size(); ++i) {
    const auto values = Measure(kernel, sets[draws[i].set], draws[i], bought.bought[i]);
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ(static_cast<int64_t>(values->size()), dp::NumberOfValues(People(), sets, draws[i]));
  }
  for (size_t i = 0; i < draws.size(); ++i) {
    const auto again = Measure(kernel, sets[draws[i].set], draws[i], bought.bought[i]);
    EXPECT_EQ(again.status().code(), absl::StatusCode::kFailedPrecondition);
  }
}

TEST(StatisticsSchedule, IsWhatTheKernelDebits) {
  const dp::SealedTableHandle table = FewRecords();
  for (const dp::NeighbourRelation relation :
       {dp::NeighbourRelation::kAddRemove, dp::NeighbourRelation::kReplaceOne}) {
    for (const dp::AttributeSet& by : {dp::AttributeSet{}, dp::AttributeSet{kRegion}}) {
      for (const dp::QuantileWay way : {dp::QuantileWay::kTree, dp::QuantileWay::kSelection}) {
        const dp::UnitBound unit{relation, kMostRecords};
        ExpectThatTheScheduleFits(table, unit, Sets(by, way), dp::Epsilon(dp::kEpsilonUnitsPerOne / 7));
        ExpectThatTheScheduleFits(table, unit, Sets(by, way), dp::Rho(dp::kRhoUnitsPerOne / 7));
      }
    }
  }
}

}  // namespace
}  // namespace curator::statistics
