#include "dp/workload/statistics/statistics_answers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "base/errors.h"
#include "dp/workload/statistics/quantile_ways.h"
#include "dp/workload/statistics/testing/coverage.h"
#include "dp/workload/statistics/testing/simulated_statistics.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr uint32_t kRegion = 0;
constexpr uint32_t kAge = 1;
constexpr uint32_t kIncome = 2;
constexpr uint32_t kScore = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const UnitBound kUnit;

const Domain& People() {
  static const Domain domain = [] {
    std::vector<Attribute> attributes;
    attributes.push_back(Attribute::Create("region", CodedKind{3}).value());
    attributes.push_back(Attribute::Create("age", IntegerKind{.min = 0, .max = 99, .bin_width = 10}).value());
    std::vector<Measure> measures;
    measures.push_back(Measure::Create("income", {.min = 0, .max = 5000, .step = 2.5}).value());
    measures.push_back(Measure::Create("score", {.min = 10, .max = 20, .step = 0.5}, Missing{}).value());
    return Domain::Create(std::move(attributes), std::move(measures)).value();
  }();
  return domain;
}

// Region 0 has 500 records, region 1 has 300, region 2 none.
SimulatedRecords Records() {
  SimulatedRecords records;
  for (uint32_t i = 0; i < 800; ++i) {
    const uint32_t score = i % 5 == 0 ? 21 : i % 21;  // 21: missing
    records.push_back({.codes = {i < 500 ? 0U : 1U, i * 7 % 10, i * 13 % 2001, score}, .unit = i / 3});
  }
  return records;
}

std::vector<Statistic> Everything() {
  std::vector<Statistic> all = {{}, {.kind = StatisticKind::kDistinctUnits}};
  for (const uint32_t column : {kIncome, kScore}) {
    for (const StatisticKind kind :
         {StatisticKind::kCount, StatisticKind::kSum, StatisticKind::kMean, StatisticKind::kVariance})
      all.push_back({.kind = kind, .column = column});
  }
  for (const uint32_t column : {kAge, kIncome, kScore}) {
    for (const int32_t thousandths : {250, 500, 900})
      all.push_back({StatisticKind::kQuantile, column, thousandths});
  }
  return all;
}

AskedStatistics Asking(std::vector<Statistic> statistics, QuantileWay way = QuantileWay::kTree) {
  AskedStatistics asked;
  asked.statistics = std::move(statistics);
  asked.by = {kRegion};
  asked.quantiles = way;
  return asked;
}

StatisticsRelease Exactly(const AskedStatistics& asked, const std::variant<Epsilon, Rho>& share) {
  return MeasuredExactly(People(), kUnit, std::span(&asked, 1), share, Records()).value();
}

std::vector<StatisticAnswer> Answers(const AskedStatistics& asked, const StatisticsRelease& release,
                                     double level = 0.95) {
  return AnswersOf(People(), std::span(&asked, 1), 0, release, level).value();
}

TEST(StatisticsAnswers, AreTheTrueOnesWhereThereIsNoNoise) {
  const std::variant<Epsilon, Rho> shares[] = {Epsilon(1'000'000 * kEpsilonUnitsPerOne),
                                               Rho(1'000'000 * kRhoUnitsPerOne)};
  for (const auto& share : shares) {
    for (const QuantileWay way : {QuantileWay::kTree, QuantileWay::kSelection}) {
      const AskedStatistics asked = Asking(Everything(), way);
      const std::vector<StatisticAnswer> answers = Answers(asked, Exactly(asked, share));
      const std::vector<TrueAnswer> truth = TrueAnswersOf(People(), asked, Records());
      ASSERT_EQ(answers.size(), truth.size());
      const size_t known = 2 * asked.statistics.size();  // the last region has no records
      for (size_t i = 0; i < known; ++i) {
        const std::string name = NameOf(People(), asked.statistics[i % asked.statistics.size()]);
        const double middle = (truth[i].low + truth[i].high) / 2;
        // Rounded squares are off by half a step each.
        EXPECT_NEAR(answers[i].value, middle, name.starts_with("variance") ? 1e-4 * middle : 1e-6) << name;
        EXPECT_LE(answers[i].low, truth[i].low + 1e-6) << name;
        EXPECT_GE(answers[i].high, truth[i].high - 1e-6) << name;
      }
    }
  }
}

TEST(StatisticsAnswers, AreNoNumbersWhereThereAreNoRecords) {
  const AskedStatistics asked = Asking({{StatisticKind::kMean, kIncome},
                                        {StatisticKind::kVariance, kIncome},
                                        {StatisticKind::kQuantile, kIncome, 500}});
  const std::vector<StatisticAnswer> answers = Answers(asked, Exactly(asked, Rho(kRhoUnitsPerOne / 100)));
  for (size_t i = 6; i < 9; ++i) {
    EXPECT_TRUE(std::isnan(answers[i].value)) << i;
    EXPECT_EQ(answers[i].standard_deviation, kInfinity);
  }
  EXPECT_EQ(answers[6].low, -kInfinity);
  EXPECT_EQ(answers[7].high, kInfinity);
  EXPECT_EQ(answers[8].low, 0);
  EXPECT_EQ(answers[8].high, 5000);
}

TEST(StatisticsAnswers, OfSelectionsHaveNoIntervalOfValues) {
  const AskedStatistics asked = Asking({{StatisticKind::kQuantile, kAge, 500}}, QuantileWay::kSelection);
  StatisticsRelease release = Exactly(asked, Rho(kRhoUnitsPerOne / 100));
  for (const StatisticAnswer& answer : Answers(asked, release)) {
    EXPECT_EQ(answer.low, -kInfinity);
    EXPECT_EQ(answer.high, kInfinity);
  }
  release.values[0][1] = 4;
  EXPECT_EQ(Answers(asked, release)[1].value, 44.5);  // of 40..49
  release.values[0][1] = 10;
  EXPECT_EQ(AnswersOf(People(), std::span(&asked, 1), 0, release, 0.95).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(StatisticsAnswers, ReadASumFromDeviationsWhereTheMeanIsAsked) {
  const AskedStatistics asked = Asking(
      {{StatisticKind::kSum, kScore}, {StatisticKind::kMean, kScore}, {StatisticKind::kCount, kScore}});
  const StatisticsRelease release =
      WithNoise(Exactly(asked, Rho(kRhoUnitsPerOne / 10)), *std::make_unique<seeded::SeededBits>(1));
  const std::vector<StatisticAnswer> answers = Answers(asked, release);
  for (size_t group = 0; group < 2; ++group) {
    const double sum = answers[3 * group].value;
    EXPECT_NEAR(sum, answers[3 * group + 1].value * answers[3 * group + 2].value, 1e-9 * sum);
    EXPECT_LT(answers[3 * group].low, sum);
  }
}

// Noise in the count of 0 or 1 mostly, which moves a mean at a bound by half of the range.
TEST(StatisticsAnswers, HoldTheirLevelWhereTheNoiseOfTheCountIsBelowOne) {
  const AskedStatistics asked = Asking({{StatisticKind::kMean, kIncome}, {StatisticKind::kSum, kIncome}});
  SimulatedRecords records;
  for (uint32_t region = 0; region < 3; ++region)
    records.insert(records.end(), 400, {.codes = {region, 0, 2000, 0}, .unit = 0});
  const StatisticsRelease exact =
      MeasuredExactly(People(), kUnit, std::span(&asked, 1), Epsilon(4 * kEpsilonUnitsPerOne), records)
          .value();
  seeded::SeededBits bits(27);
  for (const Coverage& each :
       CoverageOf(People(), asked, exact, TrueAnswersOf(People(), asked, records), 0.99, 20'000, bits))
    EXPECT_GT(each.Percent(), 98.9);
}

TEST(StatisticsAnswers, AreTheSameForTheSameRelease) {
  const AskedStatistics asked = Asking(Everything());
  seeded::SeededBits bits(5);
  const StatisticsRelease release = WithNoise(Exactly(asked, Epsilon(kEpsilonUnitsPerOne)), bits);
  const std::vector<StatisticAnswer> once = Answers(asked, release);
  const std::vector<StatisticAnswer> again = Answers(asked, release);
  for (size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(once[i].low, again[i].low);
    EXPECT_EQ(once[i].high, again[i].high);
  }
}

TEST(StatisticsAnswers, HaveWiderIntervalsAtHigherLevels) {
  const AskedStatistics asked = Asking(Everything());
  seeded::SeededBits bits(6);
  const StatisticsRelease release = WithNoise(Exactly(asked, Epsilon(kEpsilonUnitsPerOne)), bits);
  const std::vector<StatisticAnswer> usual = Answers(asked, release, 0.8);
  const std::vector<StatisticAnswer> high = Answers(asked, release, 0.99);
  for (size_t i = 0; i < usual.size(); ++i) {
    EXPECT_LE(high[i].low, usual[i].low) << i;
    EXPECT_GE(high[i].high, usual[i].high) << i;
  }
}

TEST(StatisticsAnswers, RefuseALevelThatIsNone) {
  const AskedStatistics asked = Asking({{}});
  const StatisticsRelease release = Exactly(asked, Rho(kRhoUnitsPerOne));
  for (const double level : {0.0, 1.0, -1.0, std::nan("")}) {
    const absl::Status status = AnswersOf(People(), std::span(&asked, 1), 0, release, level).status();
    EXPECT_EQ(FieldViolationOf(status)->field, "confidence_level");
  }
}

TEST(StatisticsAnswers, StopWhenTheClientHasGone) {
  const AskedStatistics asked = Asking({{}});
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(AnswersOf(People(), std::span(&asked, 1), 0, Exactly(asked, Rho(kRhoUnitsPerOne)), 0.95,
                      source.get_token())
                .status()
                .code(),
            absl::StatusCode::kCancelled);
}

TEST(StatisticsAnswers, SayThatAReleaseIsDamaged) {
  const AskedStatistics asked = Asking(Everything());
  const StatisticsRelease whole = Exactly(asked, Rho(kRhoUnitsPerOne));
  const auto code = [&](const StatisticsRelease& release) {
    return AnswersOf(People(), std::span(&asked, 1), 0, release, 0.95).status().code();
  };
  EXPECT_EQ(code(whole), absl::StatusCode::kOk);
  for (size_t i = 0; i < whole.draws.size(); ++i) {
    StatisticsRelease lacking = whole;
    lacking.draws.erase(lacking.draws.begin() + static_cast<std::ptrdiff_t>(i));
    lacking.bought.erase(lacking.bought.begin() + static_cast<std::ptrdiff_t>(i));
    lacking.values.erase(lacking.values.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(code(lacking), absl::StatusCode::kDataLoss) << i;
    StatisticsRelease shorter = whole;
    shorter.values[i].pop_back();
    EXPECT_EQ(code(shorter), absl::StatusCode::kDataLoss) << i;
  }
  StatisticsRelease unequal = whole;
  unequal.bought.pop_back();
  EXPECT_EQ(code(unequal), absl::StatusCode::kDataLoss);
  StatisticsRelease elsewhere = whole;
  elsewhere.draws.back().what = SumDraw{.blocks = CodeBlocks{.column = 9, .width = 1}, .value = {}};
  EXPECT_EQ(code(elsewhere), absl::StatusCode::kDataLoss);
  for (const int64_t width : {int64_t{0}, std::numeric_limits<int64_t>::max()}) {
    elsewhere.draws.back().what = SumDraw{.blocks = CodeBlocks{.column = kAge, .width = width}, .value = {}};
    EXPECT_EQ(code(elsewhere), absl::StatusCode::kDataLoss) << width;
  }
}

TEST(StatisticsAnswers, SayThatASetOfAnotherDomainIsDamaged) {
  const AskedStatistics asked = Asking({{}});
  const StatisticsRelease release = Exactly(asked, Rho(kRhoUnitsPerOne));
  const auto code = [&](const AskedStatistics& other) {
    return AnswersOf(People(), std::span(&other, 1), 0, release, 0.95).status().code();
  };
  EXPECT_EQ(code(asked), absl::StatusCode::kOk);
  AskedStatistics elsewhere = asked;
  elsewhere.by = {9};
  EXPECT_EQ(code(elsewhere), absl::StatusCode::kDataLoss);
  elsewhere = asked;
  elsewhere.where = {9};
  EXPECT_EQ(code(elsewhere), absl::StatusCode::kDataLoss);
  for (const Statistic& statistic : std::vector<Statistic>{{StatisticKind::kMean},
                                                           {StatisticKind::kQuantile},
                                                           {StatisticKind::kCount, kRegion},
                                                           {StatisticKind::kCount, 9},
                                                           {StatisticKind::kVariance, kAge},
                                                           {StatisticKind::kQuantile, kRegion},
                                                           {StatisticKind::kQuantile, 9},
                                                           {StatisticKind::kDistinctUnits, kIncome}})
    EXPECT_EQ(code(Asking({statistic})), absl::StatusCode::kDataLoss);
  EXPECT_EQ(code(Asking({})), absl::StatusCode::kDataLoss);
}

// ---- Forecasts

std::map<std::string, StatisticForecast> Forecasts(const AskedStatistics& asked,
                                                   const StatisticsRelease& release, double level = 0.95) {
  std::map<std::string, StatisticForecast> found;
  auto forecasts =
      ForecastsOf(People(), kUnit, std::span(&asked, 1), 0, release.draws, release.bought, level).value();
  for (StatisticForecast& each : forecasts) found[each.statistic] = std::move(each);
  return found;
}

TEST(StatisticForecasts, AreTheHalfWidthsOfTheAnswers) {
  const AskedStatistics asked = Asking({{}, {StatisticKind::kSum, kIncome}, {StatisticKind::kMean, kIncome}});
  const StatisticsRelease release = Exactly(asked, Rho(kRhoUnitsPerOne / 10));
  std::map<std::string, StatisticForecast> forecasts = Forecasts(asked, release);
  const std::vector<StatisticAnswer> answers = Answers(asked, release);
  EXPECT_NEAR(forecasts["count"].half_width, answers[0].high - answers[0].value, 1e-9);
  EXPECT_NEAR(forecasts["count"].standard_deviation, answers[0].standard_deviation, 1e-9);
  EXPECT_NEAR(forecasts["sum(income)"].half_width, answers[1].high - answers[1].value, 2.5);
  // Of a mean at a bound, at most: divided by the number of records.
  EXPECT_LE((answers[2].high - answers[2].low) / 2, 1.05 * forecasts["mean(income)"].half_width / 500);
  EXPECT_EQ(forecasts["count"].unit, ErrorUnit::kRecords);
  EXPECT_EQ(forecasts["sum(income)"].unit, ErrorUnit::kValue);
  EXPECT_EQ(forecasts["mean(income)"].unit, ErrorUnit::kValueTimesRecords);
  EXPECT_EQ(forecasts["mean(income)"].groups, 3);
}

TEST(StatisticForecasts, BoundTheErrorInRankOfASelection) {
  const AskedStatistics asked = Asking({{StatisticKind::kQuantile, kIncome, 250}}, QuantileWay::kSelection);
  const StatisticsRelease release = Exactly(asked, Epsilon(kEpsilonUnitsPerOne / 2));
  const StatisticForecast forecast = Forecasts(asked, release)["quantile(income, 0.25)"];
  EXPECT_EQ(forecast.unit, ErrorUnit::kRank);
  EXPECT_NEAR(forecast.half_width, 2 * 0.75 / 0.5 * std::log(2001 / 0.05), 1e-9);
  const UnitBound replaced{NeighbourRelation::kReplaceOne, 3};
  EXPECT_NEAR(SelectedRankBound(replaced, 250, 2001, Epsilon(kEpsilonUnitsPerOne), 0.95),
              6 * std::log(2001 / 0.05), 1e-9);
}

TEST(StatisticForecasts, AreOfEveryStatistic) {
  const AskedStatistics asked = Asking(Everything());
  const StatisticsRelease release = Exactly(asked, Rho(kRhoUnitsPerOne / 10));
  std::map<std::string, StatisticForecast> forecasts = Forecasts(asked, release);
  EXPECT_EQ(forecasts.size(), asked.statistics.size());
  for (const auto& [name, forecast] : forecasts) {
    EXPECT_GT(forecast.standard_deviation, 0) << name;
    EXPECT_GT(forecast.half_width, forecast.standard_deviation) << name;
    EXPECT_FALSE(forecast.words.empty()) << name;
  }
  EXPECT_EQ(forecasts["variance(income)"].unit, ErrorUnit::kSquaredValueTimesRecords);
  EXPECT_EQ(ForecastsOf(People(), kUnit, std::span(&asked, 1), 0, {}, {}, 0.95).status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace curator::dp
