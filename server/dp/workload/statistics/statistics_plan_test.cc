#include "dp/workload/statistics/statistics_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "base/errors.h"
#include "dp/accounting/rule.h"
#include "dp/accounting/testing/rules.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/workload/interval_tree.h"
#include "dp/workload/statistics/quantile_ways.h"

namespace curator::dp {
namespace {

constexpr uint32_t kRegion = 0;
constexpr uint32_t kAge = 1;
constexpr uint32_t kIncome = 2;  // 0..1000
constexpr uint32_t kYear = 3;    // far from 0
constexpr uint32_t kScore = 4;   // may be missing
const UnitBound kRecords{NeighbourRelation::kAddRemove, 1};
const UnitBound kReplaced{NeighbourRelation::kReplaceOne, 1};
constexpr Mechanism kGaussian = Mechanism::kDiscreteGaussian;
constexpr Mechanism kLaplace = Mechanism::kDiscreteLaplace;

const Domain& People() {
  static const Domain domain = [] {
    std::vector<Attribute> attributes;
    attributes.push_back(Attribute::Create("region", CodedKind{4}).value());
    attributes.push_back(Attribute::Create("age", IntegerKind{.min = 0, .max = 99}).value());
    std::vector<Measure> measures;
    measures.push_back(Measure::Create("income", {.min = 0, .max = 1000, .step = 1}).value());
    measures.push_back(Measure::Create("year", {.min = 1'900'000, .max = 2'100'000, .step = 1}).value());
    measures.push_back(Measure::Create("score", {.min = -1, .max = 1, .step = 0.001}, Missing{}).value());
    return Domain::Create(std::move(attributes), std::move(measures)).value();
  }();
  return domain;
}

Statistic Of(StatisticKind kind, uint32_t column, int32_t thousandths = 500) {
  return {.kind = kind, .column = column, .thousandths = thousandths};
}

AskedStatistics Asking(std::vector<Statistic> statistics, AttributeSet by = {},
                       QuantileWay way = QuantileWay::kAuto) {
  AskedStatistics asked;
  asked.statistics = std::move(statistics);
  asked.by = std::move(by);
  asked.quantiles = way;
  return asked;
}

std::vector<StatisticsDraw> Draws(const AskedStatistics& asked, const UnitBound& unit = kRecords,
                                  Mechanism mechanism = kGaussian) {
  return DrawsFor(People(), unit, mechanism, std::span(&asked, 1)).value();
}

SummedValue Value(SummedValue::Kind kind, uint32_t column, int64_t centre) {
  return {.kind = kind, .column = column, .centre = centre};
}

StatisticsDraw Sum(const SummedValue& value) {
  return {.set = 0, .what = SumDraw{.blocks = std::nullopt, .value = value}};
}

TEST(StatisticsPlan, MeasuresACountASumAMeanAndAVarianceWithOneToThreeSums) {
  using Kind = SummedValue::Kind;
  const StatisticsDraw count = Sum({});
  const StatisticsDraw deviations = Sum(Value(Kind::kValue, kIncome, 500));
  const StatisticsDraw squares = Sum(Value(Kind::kSquare, kIncome, 500));
  EXPECT_EQ(Draws(Asking({{}})), (std::vector{count}));
  EXPECT_EQ(Draws(Asking({Of(StatisticKind::kSum, kIncome)})),
            (std::vector{Sum(Value(Kind::kValue, kIncome, 0))}));
  EXPECT_EQ(Draws(Asking({Of(StatisticKind::kMean, kIncome)})), (std::vector{deviations, count}));
  EXPECT_EQ(Draws(Asking({Of(StatisticKind::kVariance, kIncome)})),
            (std::vector{deviations, count, squares}));
  EXPECT_EQ(Draws(Asking({{.kind = StatisticKind::kDistinctUnits}})),
            (std::vector<StatisticsDraw>{{.set = 0, .what = UnitsDraw{}}}));
}

TEST(StatisticsPlan, SharesDrawsAmongTheStatisticsOfASet) {
  const std::vector<StatisticsDraw> all = Draws(Asking({{},
                                                        Of(StatisticKind::kSum, kIncome),
                                                        Of(StatisticKind::kMean, kIncome),
                                                        Of(StatisticKind::kVariance, kIncome)}));
  EXPECT_EQ(all.size(), 3u);
  EXPECT_EQ(SharesOf(all), 3);
  const std::vector<AskedStatistics> twice = {Asking({{}}), Asking({{}}, {kRegion})};
  EXPECT_EQ(DrawsFor(People(), kRecords, kGaussian, twice).value().size(), 2u);
}

TEST(StatisticsPlan, CountsTheValuesOfAColumnThatMayBeMissing) {
  const std::vector<StatisticsDraw> draws = Draws(Asking({{}, Of(StatisticKind::kMean, kScore)}));
  ASSERT_EQ(draws.size(), 3u);
  EXPECT_EQ(std::get<SumDraw>(draws[0].what).value.column, std::nullopt);
  EXPECT_EQ(std::get<SumDraw>(draws[2].what).value.column, kScore);
}

TEST(StatisticsPlan, SumsValuesFarFromZeroAsDeviationsAndTheCount) {
  const std::vector<StatisticsDraw> draws = Draws(Asking({Of(StatisticKind::kSum, kYear)}));
  ASSERT_EQ(draws.size(), 2u);
  EXPECT_EQ(std::get<SumDraw>(draws[0].what).value.centre, 2'000'000);
}

TEST(StatisticsPlan, SumsDeviationsBesideACountWhereThatHasLessNoise) {
  // 0..1000: 1000^2 against 500^2 + 500^2 (ADD_REMOVE) for as many draws.
  const std::vector<StatisticsDraw> beside = Draws(Asking({{}, Of(StatisticKind::kSum, kIncome)}));
  ASSERT_EQ(beside.size(), 2u);
  EXPECT_EQ(std::get<SumDraw>(beside[1].what).value.centre, 500);
  // One sum under REPLACE_ONE: 1000^2 against 1000^2 + 500^2.
  const std::vector<StatisticsDraw> replaced =
      Draws(Asking({{}, Of(StatisticKind::kSum, kIncome)}), kReplaced);
  ASSERT_EQ(replaced.size(), 2u);
  EXPECT_EQ(std::get<SumDraw>(replaced[1].what).value.centre, 0);
}

TEST(StatisticsPlan, MeasuresQuantilesOfAColumnWithOneTreeOrASelectionEach) {
  const std::vector<Statistic> quartiles = {Of(StatisticKind::kQuantile, kIncome, 250),
                                            Of(StatisticKind::kQuantile, kIncome, 750)};
  const std::vector<StatisticsDraw> tree = Draws(Asking(quartiles, {}, QuantileWay::kTree));
  ASSERT_GT(tree.size(), 1u);
  EXPECT_EQ(SharesOf(tree), 1);
  const IntervalTree same(1001, std::get<SumDraw>(tree[1].what).blocks->width);
  EXPECT_EQ(tree.size(), same.levels());
  for (const StatisticsDraw& draw : tree) EXPECT_EQ(draw.shares_of_share, static_cast<int64_t>(tree.size()));
  const std::vector<StatisticsDraw> selections = Draws(Asking(quartiles, {}, QuantileWay::kSelection));
  EXPECT_EQ(selections.size(), 2u);
  EXPECT_EQ(SharesOf(selections), 2);
}

TEST(StatisticsPlan, ChoosesTheWayWhoseErrorInRankIsLess) {
  const std::vector<int32_t> median = {500};
  std::vector<int32_t> many;
  for (int32_t each = 50; each < 1000; each += 50) many.push_back(each);
  // Nineteen quantiles share one tree; one of a million values is selected.
  EXPECT_TRUE(TreeIsBetter(kRecords, kGaussian, 100, 1, many));
  EXPECT_FALSE(TreeIsBetter(kRecords, kLaplace, 1'000'001, 1, median));
  for (const Mechanism mechanism : {kGaussian, kLaplace}) {
    for (const int64_t groups : {1, 4}) {
      const AskedStatistics asked =
          Asking({Of(StatisticKind::kQuantile, kAge)}, groups == 1 ? AttributeSet{} : AttributeSet{kRegion});
      const std::vector<StatisticsDraw> draws = Draws(asked, kReplaced, mechanism);
      EXPECT_EQ(std::holds_alternative<SumDraw>(draws.front().what),
                TreeIsBetter(kReplaced, mechanism, 100, groups, median));
    }
  }
}

TEST(StatisticsPlan, RefusesQuantilesOfTooManyCodes) {
  std::vector<Attribute> attributes;
  attributes.push_back(Attribute::Create("group", CodedKind{64}).value());
  std::vector<Measure> measures;
  measures.push_back(Measure::Create("x", {.min = 0, .max = 1 << 20, .step = 1}).value());
  const Domain domain = Domain::Create(std::move(attributes), std::move(measures)).value();
  for (const QuantileWay way : {QuantileWay::kAuto, QuantileWay::kTree, QuantileWay::kSelection}) {
    const std::vector<AskedStatistics> sets = {Asking({{}}),
                                               Asking({Of(StatisticKind::kQuantile, 1)}, {0}, way)};
    const absl::Status status = DrawsFor(domain, kRecords, kGaussian, sets).status();
    ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(FieldViolationOf(status)->field, "[1].strategy");
  }
  // All selections of a request count: 2^20 codes each.
  std::vector<Statistic> quantiles;
  for (int32_t each = 1; each <= 16; ++each) quantiles.push_back(Of(StatisticKind::kQuantile, 1, each));
  const AskedStatistics fits = Asking({quantiles.begin(), quantiles.end() - 1}, {}, QuantileWay::kSelection);
  EXPECT_TRUE(DrawsFor(domain, kRecords, kGaussian, std::span(&fits, 1)).ok());
  const AskedStatistics too_many = Asking(quantiles, {}, QuantileWay::kSelection);
  EXPECT_FALSE(DrawsFor(domain, kRecords, kGaussian, std::span(&too_many, 1)).ok());
}

TEST(StatisticsPlan, RefusesMoreValuesThanARequestMayMeasure) {
  std::vector<Attribute> attributes;
  attributes.push_back(Attribute::Create("group", CodedKind{1 << 20}).value());
  std::vector<Measure> measures;
  for (int i = 0; i < 9; ++i)
    measures.push_back(Measure::Create("x" + std::to_string(i), {.min = 0, .max = 9, .step = 1}).value());
  const Domain domain = Domain::Create(std::move(attributes), std::move(measures)).value();
  std::vector<AskedStatistics> sets(9, Asking({}, {0}));
  for (uint32_t i = 0; i < 9; ++i) sets[i].statistics = {Of(StatisticKind::kMean, i + 1)};
  EXPECT_TRUE(DrawsFor(domain, kRecords, kGaussian, std::span(sets).first(8)).ok());
  const absl::Status status = DrawsFor(domain, kRecords, kGaussian, sets).status();
  ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldViolationOf(status)->field, "[8].statistics");
}

TEST(StatisticsPurchase, BuysExactlyTheShareOfEachDraw) {
  const AskedStatistics asked = Asking({Of(StatisticKind::kMean, kIncome)}, {kRegion});
  const std::vector<StatisticsDraw> draws = Draws(asked);
  const Rho share(kRhoUnitsPerOne / 100);
  const StatisticsPurchase bought =
      BuyStatistics(People(), kReplaced, std::span(&asked, 1), draws, share).value();
  // Deviations of 500 at most, in two of several groups: L2^2 = 2 * 500^2 (and 1000^2), over 2 rho.
  EXPECT_EQ(bought.bought[0].noise, (NoiseSpec{kGaussian, {1'000'000 * 50, 1}}));
  EXPECT_EQ(bought.bought[1].noise, (NoiseSpec{kGaussian, {2 * 50, 1}}));
  EXPECT_TRUE(bought.is_linear);
  for (const CountedEvent& event : bought.draws) {
    EXPECT_EQ(testing::Cost(testing::SpecOf(RuleKind::kZcdp), event.event),
              (std::vector<int64_t>{share.units()}));
  }
}

TEST(StatisticsPurchase, SelectsWithWhatTheShareBuysOnceOrTwice) {
  const AskedStatistics asked =
      Asking({Of(StatisticKind::kQuantile, kIncome, 250)}, {kRegion}, QuantileWay::kSelection);
  const std::vector<StatisticsDraw> draws = Draws(asked);
  const auto buy = [&](const UnitBound& unit) {
    return BuyStatistics(People(), unit, std::span(&asked, 1), draws, Epsilon(kEpsilonUnitsPerOne)).value();
  };
  EXPECT_EQ(buy(kRecords).draws[0].count, 1);
  EXPECT_EQ(buy(kRecords).bought[0].epsilon, Epsilon(kEpsilonUnitsPerOne));
  EXPECT_EQ(buy(kReplaced).draws[0].count, 2);
  EXPECT_EQ(buy(kReplaced).bought[0].epsilon, Epsilon(kEpsilonUnitsPerOne / 2));
  // One that leaves moves scores by 3/4 of what one that is replaced does.
  EXPECT_EQ(buy(kReplaced).removals[0],
            (CountedEvent{{ExponentialMechanismEvent{Epsilon(kEpsilonUnitsPerOne * 3 / 8)}}, 2}));
}

TEST(StatisticsPurchase, TakesTheLargestEpsilonWhoseSquareOverEightFits) {
  for (const int64_t units : {int64_t{1}, int64_t{7}, int64_t{5'000'000'000}, int64_t{3'141'592'653'589}}) {
    const Int128 square = Int128{8} * kRhoUnitsPerOne * units;
    const Int128 epsilon = SelectionFor(Rho(units)).units();
    EXPECT_TRUE(epsilon * epsilon <= square);
    EXPECT_TRUE((epsilon + 1) * (epsilon + 1) > square);
  }
}

TEST(StatisticsPurchase, RefusesAShareThatBuysNoNoiseWithinTheLimits) {
  const AskedStatistics asked = Asking({Of(StatisticKind::kMean, kYear)});
  const std::vector<StatisticsDraw> draws = Draws(asked);
  for (const std::variant<Epsilon, Rho>& share :
       {std::variant<Epsilon, Rho>(Epsilon(0)), std::variant<Epsilon, Rho>(Epsilon(1'000)),
        std::variant<Epsilon, Rho>(Rho(0))}) {
    const absl::Status status =
        BuyStatistics(People(), kRecords, std::span(&asked, 1), draws, share).status();
    ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(FieldViolationOf(status)->field, "spend");
  }
}

TEST(StatisticsPurchase, NeedsABoundOfRecordsForAllButCountsOfUnits) {
  const UnitBound any{NeighbourRelation::kAddRemove, kNoRecordBound};
  const auto buys = [&](const Statistic& statistic) {
    const AskedStatistics asked = Asking({statistic}, {}, QuantileWay::kSelection);
    const auto draws = DrawsFor(People(), any, kLaplace, std::span(&asked, 1));
    if (!draws.ok()) return draws.status().code();
    return BuyStatistics(People(), any, std::span(&asked, 1), *draws, Epsilon(kEpsilonUnitsPerOne))
        .status()
        .code();
  };
  EXPECT_EQ(buys({.kind = StatisticKind::kDistinctUnits}), absl::StatusCode::kOk);
  EXPECT_EQ(buys({}), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(buys(Of(StatisticKind::kMean, kIncome)), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(buys(Of(StatisticKind::kQuantile, kIncome)), absl::StatusCode::kFailedPrecondition);
}

// ---- Any set, relation, unit, rule and budget

template <typename T>
T OneOf(const std::vector<T>& choices, std::mt19937_64& random) {
  return choices[random() % choices.size()];
}

AskedStatistics RandomSet(std::mt19937_64& random) {
  AskedStatistics asked =
      Asking({}, OneOf<AttributeSet>({{}, {kRegion}, {kAge}, {kRegion, kAge}}, random),
             OneOf<QuantileWay>({QuantileWay::kAuto, QuantileWay::kTree, QuantileWay::kSelection}, random));
  const size_t count = 1 + random() % 5;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t column = OneOf<uint32_t>({kAge, kIncome, kYear, kScore}, random);
    const Statistic statistic =
        OneOf<Statistic>({{},
                          {.kind = StatisticKind::kDistinctUnits},
                          Of(StatisticKind::kCount, column),
                          Of(StatisticKind::kSum, column),
                          Of(StatisticKind::kMean, column),
                          Of(StatisticKind::kVariance, column),
                          Of(StatisticKind::kQuantile, kAge, 1 + static_cast<int32_t>(random() % 999)),
                          Of(StatisticKind::kQuantile, kScore, 1 + static_cast<int32_t>(random() % 999))},
                         random);
    const bool is_new = std::ranges::find(asked.statistics, statistic) == asked.statistics.end();
    if (is_new) asked.statistics.push_back(statistic);
  }
  return asked;
}

struct RandomPurchase {
  RuleSpec rule;
  int64_t budget = 0;
  Event offer;
  Event composed;
  StatisticsPurchase bought;
  UnitBound unit;
  std::vector<AskedStatistics> sets;
  std::vector<StatisticsDraw> draws;
};

// Nothing where the budget is too small.
std::optional<RandomPurchase> Random(std::mt19937_64& random) {
  RandomPurchase made;
  const size_t sets = 1 + random() % 3;
  for (size_t i = 0; i < sets; ++i) made.sets.push_back(RandomSet(random));
  made.unit = {
      OneOf<NeighbourRelation>({NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne}, random),
      OneOf<int64_t>({1, 2, 7, 100}, random)};
  const bool is_pure = random() % 2 == 0;
  made.rule = testing::SpecOf(is_pure ? OneOf<RuleKind>({RuleKind::kPure, RuleKind::kZcdp}, random)
                                      : OneOf<RuleKind>({RuleKind::kZcdp, RuleKind::kRdp}, random));
  const auto digits = static_cast<int64_t>(random() % 1'000'000);
  made.budget =
      OneOf<int64_t>({1'000'000'000, 50'000'000'000, kEpsilonUnitsPerOne, 10 * kEpsilonUnitsPerOne}, random) +
      digits;
  made.draws = DrawsFor(People(), made.unit, is_pure ? kLaplace : kGaussian, made.sets).value();
  // RDP rounds the cost of each draw up (PlanStatistics()).
  const int64_t rounded_up = made.rule.kind == RuleKind::kRdp ? 2 * std::ssize(made.draws) : 0;
  const int64_t share = (made.budget - rounded_up) / SharesOf(made.draws);
  absl::StatusOr<StatisticsPurchase> bought =
      is_pure ? BuyStatistics(People(), made.unit, made.sets, made.draws, Epsilon(share))
              : BuyStatistics(People(), made.unit, made.sets, made.draws, Rho(share));
  if (!bought.ok()) {
    EXPECT_EQ(FieldViolationOf(bought.status())->field, "spend");
    return std::nullopt;
  }
  made.bought = *std::move(bought);
  made.composed = {ComposedEvent{made.bought.draws}};
  made.offer = is_pure ? Event{PureEvent{Epsilon(made.budget)}} : Event{ZcdpEvent{Rho(made.budget)}};
  return made;
}

TEST(StatisticsPurchase, NeverCostsMoreThanTheBudget) {
  std::mt19937_64 random(27);
  int bought = 0;
  for (int round = 0; round < 600; ++round) {
    const std::optional<RandomPurchase> made = Random(random);
    if (!made) continue;
    ++bought;
    const std::vector<int64_t> cost = testing::Cost(made->rule, made->composed).value();
    const std::vector<int64_t> most = testing::Cost(made->rule, made->offer).value();
    for (size_t i = 0; i < cost.size(); ++i)
      EXPECT_LE(cost[i], most[i]) << Describe(made->composed) << " of " << made->budget;
    // And most of it is used: what is lost is the halves of shares that do not divide.
    if (made->rule.kind == RuleKind::kPure) {
      EXPECT_GT(cost[0], most[0] - most[0] / 1000);
    }
  }
  EXPECT_GT(bought, 400);
}

TEST(StatisticsPurchase, CostsAUnitThatOnlyLeavesNoMore) {
  std::mt19937_64 random(28);
  for (int round = 0; round < 100; ++round) {
    const std::optional<RandomPurchase> made = Random(random);
    if (!made) continue;
    ASSERT_EQ(made->bought.removals.size(), made->bought.draws.size());
    for (size_t i = 0; i < made->bought.draws.size(); ++i) {
      const CountedEvent& draw = made->bought.draws[i];
      const CountedEvent& removal = made->bought.removals[i];
      EXPECT_EQ(draw.count, removal.count);
      EXPECT_LE(testing::Cost(made->rule, removal.event).value()[0],
                testing::Cost(made->rule, draw.event).value()[0]);
      if (made->unit.relation == NeighbourRelation::kAddRemove) {
        EXPECT_EQ(draw, removal);
      }
    }
    const bool has_units = std::ranges::any_of(
        made->draws, [](const StatisticsDraw& draw) { return std::holds_alternative<UnitsDraw>(draw.what); });
    EXPECT_EQ(made->bought.is_linear, !has_units);
  }
}

TEST(StatisticsPurchaseCanary, ASelectionOfTheWholeShareTwiceCostsTooMuch) {
  const AskedStatistics asked =
      Asking({Of(StatisticKind::kQuantile, kIncome)}, {kRegion}, QuantileWay::kSelection);
  const Rho share(kRhoUnitsPerOne / 10);
  StatisticsPurchase bought =
      BuyStatistics(People(), kReplaced, std::span(&asked, 1), Draws(asked), share).value();
  const RuleSpec zcdp = testing::SpecOf(RuleKind::kZcdp);
  EXPECT_LE(testing::Cost(zcdp, {ComposedEvent{bought.draws}}).value()[0], share.units());
  bought.draws[0].event = {ExponentialMechanismEvent{SelectionFor(share)}};
  EXPECT_GT(testing::Cost(zcdp, {ComposedEvent{bought.draws}}).value()[0], share.units());
}

TEST(StatisticsPlan, ForecastsItsMemoryByItsValues) {
  const AskedStatistics one = Asking({{}});
  const AskedStatistics many = Asking({{}}, {kRegion, kAge});
  const int64_t few_bytes = StatisticsBytes(People(), std::span(&one, 1), Draws(one));
  const int64_t many_bytes = StatisticsBytes(People(), std::span(&many, 1), Draws(many));
  EXPECT_GT(few_bytes, 0);
  EXPECT_GT(many_bytes, few_bytes + 399 * 8);
}

}  // namespace
}  // namespace curator::dp
