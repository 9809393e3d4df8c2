#include "dp/workload/statistics/asked_statistics.h"

#include <gtest/gtest.h>

#include "base/errors.h"

namespace curator::dp {
namespace {

constexpr uint32_t kRegion = 0;
constexpr uint32_t kAge = 1;
constexpr uint32_t kWeight = 2;
constexpr uint32_t kIncome = 3;

Domain People() {
  std::vector<Attribute> attributes;
  attributes.push_back(
      Attribute::Create("region", CategoricalKind{.values = {"North", "South"}, .catch_all = std::nullopt})
          .value());
  attributes.push_back(Attribute::Create("age", IntegerKind{.min = 0, .max = 99, .bin_width = 10}).value());
  attributes.push_back(Attribute::Create("weight", NumericKind{.edges = {0, 50, 100, 300}}).value());
  std::vector<Measure> measures;
  measures.push_back(Measure::Create("income", {.min = 0, .max = 100'000, .step = 100}).value());
  return Domain::Create(std::move(attributes), std::move(measures)).value();
}

Schema Persons() {
  return {.domain = People(), .unit = PersonUnit{.id_column = "id", .max_records = 3}};
}

AskedStatistics Asking(std::vector<Statistic> statistics, AttributeSet by = {}) {
  AskedStatistics asked;
  asked.statistics = std::move(statistics);
  asked.by = std::move(by);
  return asked;
}

Statistic Of(StatisticKind kind, uint32_t column) {
  return {.kind = kind, .column = column};
}

// The field that is refused; empty where nothing is.
std::string Refused(const Schema& schema, const AskedStatistics& asked) {
  const absl::Status status = Validate(schema, asked);
  if (status.ok()) return "";
  return FieldViolationOf(status)->field;
}

TEST(AskedStatistics, AreNamedAsTheyAreAskedInWords) {
  const Domain domain = People();
  EXPECT_EQ(NameOf(domain, {}), "count");
  EXPECT_EQ(NameOf(domain, Of(StatisticKind::kCount, kIncome)), "count(income)");
  EXPECT_EQ(NameOf(domain, Of(StatisticKind::kSum, kIncome)), "sum(income)");
  EXPECT_EQ(NameOf(domain, Of(StatisticKind::kMean, kIncome)), "mean(income)");
  EXPECT_EQ(NameOf(domain, Of(StatisticKind::kVariance, kIncome)), "variance(income)");
  EXPECT_EQ(NameOf(domain, {.kind = StatisticKind::kDistinctUnits}), "distinct units");
  const auto quantile = [&](int32_t thousandths) {
    return NameOf(domain, {StatisticKind::kQuantile, kAge, thousandths});
  };
  EXPECT_EQ(quantile(250), "quantile(age, 0.25)");
  EXPECT_EQ(quantile(500), "quantile(age, 0.5)");
  EXPECT_EQ(quantile(5), "quantile(age, 0.005)");
  EXPECT_EQ(quantile(999), "quantile(age, 0.999)");
}

TEST(AskedStatistics, AreDescribedWithTheirGroupsAndTheirCondition) {
  AskedStatistics asked = Asking({Of(StatisticKind::kMean, kIncome), {}}, {kRegion});
  EXPECT_EQ(Describe(People(), asked), "mean(income), count by region (2 groups)");
  asked.where = {kAge};
  asked.cells = {2, 3};
  asked.condition = "age >= 20";
  EXPECT_EQ(Describe(People(), asked), "mean(income), count by region (2 groups) where age >= 20");
  for (int32_t each = 1; each <= 7; ++each)
    asked.statistics.push_back({StatisticKind::kQuantile, kIncome, each});
  EXPECT_NE(Describe(People(), asked).find(" and 3 more by region"), std::string::npos);
}

TEST(AskedStatistics, HaveAnAnswerForEachGroupAndStatistic) {
  EXPECT_EQ(NumberOfGroups(People(), Asking({{}})), 1);
  EXPECT_EQ(NumberOfGroups(People(), Asking({{}}, {kRegion, kAge})), 20);
  EXPECT_EQ(NumberOfAnswers(People(), Asking({{}, Of(StatisticKind::kMean, kIncome)}, {kRegion, kAge})), 40);
}

TEST(AskedStatistics, AreOfColumnsThatHaveNumbers) {
  const Schema schema = Persons();
  EXPECT_EQ(Refused(schema, Asking({Of(StatisticKind::kMean, kIncome)})), "");
  EXPECT_EQ(Refused(schema, Asking({Of(StatisticKind::kQuantile, kAge)})), "");
  EXPECT_EQ(Refused(schema, Asking({Of(StatisticKind::kQuantile, kWeight)})), "");
  EXPECT_EQ(Refused(schema, Asking({{}, Of(StatisticKind::kMean, kAge)})), "statistics[1].mean");
  EXPECT_EQ(Refused(schema, Asking({Of(StatisticKind::kVariance, kWeight)})), "statistics[0].variance");
  EXPECT_EQ(Refused(schema, Asking({Of(StatisticKind::kQuantile, kRegion)})), "statistics[0].quantiles.of");
  EXPECT_EQ(Refused(schema, Asking({Of(StatisticKind::kCount, kRegion)})), "statistics[0].count.of");
  EXPECT_EQ(Refused(schema, Asking({Of(StatisticKind::kSum, 4)})), "statistics[0].sum");
  EXPECT_EQ(Refused(schema, Asking({{.kind = StatisticKind::kSum}})), "statistics[0].sum");
  EXPECT_EQ(Refused(schema, Asking({Of(StatisticKind::kDistinctUnits, kIncome)})),
            "statistics[0].distinct_units");
}

TEST(AskedStatistics, AreRefusedWithTheReasonWhyTheColumnHasNone) {
  const absl::Status status = Validate(Persons(), Asking({Of(StatisticKind::kMean, kAge)}));
  EXPECT_NE(std::string(status.message()).find("bins of several values"), std::string::npos);
  EXPECT_NE(std::string(status.message()).find("income"), std::string::npos);
}

TEST(AskedStatistics, AreAskedOnceEach) {
  const Statistic median = Of(StatisticKind::kQuantile, kIncome);
  EXPECT_EQ(Refused(Persons(), Asking({})), "statistics");
  EXPECT_EQ(Refused(Persons(), Asking({median, {}, median})), "statistics");
  EXPECT_EQ(Refused(Persons(), Asking({median, {StatisticKind::kQuantile, kIncome, 250}})), "");
  Statistic mean = Of(StatisticKind::kMean, kIncome);
  const AskedStatistics once = Asking({mean});
  mean.thousandths = 1;  // which is no part of a mean
  EXPECT_EQ(Refused(Persons(), Asking({once.statistics[0], mean})), "statistics");
}

TEST(AskedStatistics, HaveQuantilesBetweenZeroAndOne) {
  for (const int32_t outside : {0, 1000, -1}) {
    EXPECT_EQ(Refused(Persons(), Asking({{StatisticKind::kQuantile, kIncome, outside}})),
              "statistics[0].quantiles.at");
  }
}

TEST(AskedStatistics, CountUnitsThatAreNoRecords) {
  const AskedStatistics units = Asking({{.kind = StatisticKind::kDistinctUnits}});
  EXPECT_EQ(Refused(Persons(), units), "");
  const Schema records{.domain = People(), .unit = RecordUnit{}};
  EXPECT_EQ(Refused(records, units), "statistics[0].distinct_units");
  EXPECT_NE(std::string(Validate(records, units).message()).find("ask for the count"), std::string::npos);
}

TEST(AskedStatistics, HaveGroupsWithinTheLimits) {
  std::vector<Attribute> attributes;
  for (const char* name : {"a", "b", "c"})
    attributes.push_back(Attribute::Create(name, CodedKind{2048}).value());
  const Schema schema{.domain = Domain::Create(std::move(attributes)).value(), .unit = RecordUnit{}};
  EXPECT_EQ(Refused(schema, Asking({{}}, {0})), "");
  EXPECT_EQ(Refused(schema, Asking({{}}, {0, 1})), "by");  // 2^22 answers
  EXPECT_EQ(Refused(schema, Asking({{}}, {0, 1, 2})), "by");
  EXPECT_EQ(Refused(schema, Asking({{}}, {1, 0})), "by");
  AskedStatistics asked = Asking({{}}, {0});
  asked.where = {1};
  asked.cells = {5, 2047};
  EXPECT_EQ(Refused(schema, asked), "");
  asked.cells = {5, 2048};
  EXPECT_EQ(Refused(schema, asked), "where");
  asked.cells = {5, 5};
  EXPECT_EQ(Refused(schema, asked), "where");
  asked.where = {3};
  EXPECT_EQ(Refused(schema, asked), "where");
}

}  // namespace
}  // namespace curator::dp
