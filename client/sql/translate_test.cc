#include "client/sql/translate.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "client/sql/testing/orders_schema.h"
#include "google/protobuf/text_format.h"

namespace curator::sql {
namespace {

v1::TranslateSqlResponse Translated(const std::string& sql) {
  const auto translated = Translate(OrdersSchema(), "orders", sql);
  EXPECT_TRUE(translated.ok()) << sql << "\n" << translated.status();
  return translated.ok() ? *translated : v1::TranslateSqlResponse();
}

// "quantity: 5": the text of the statement from each place on, up to a blank or a comma.
std::vector<std::string> PlacesOf(const std::string& where) {
  const std::string sql = "SELECT count(*) FROM orders WHERE " + where;
  const auto translated = TranslateWithPlaces(OrdersSchema(), "orders", sql);
  EXPECT_TRUE(translated.ok()) << sql << "\n" << translated.status();
  std::vector<std::string> shown;
  if (!translated.ok()) return shown;
  const auto at = [&](int64_t place) {
    const std::string rest = place < 0 ? "nowhere" : sql.substr(static_cast<size_t>(place));
    return rest.substr(0, rest.find_first_of(" ,)"));
  };
  for (const ConditionPlaces& condition : translated->conditions) {
    shown.push_back(at(condition.attribute) + ":");
    for (const int64_t value : condition.values) shown.back() += " " + at(value);
  }
  return shown;
}

template <typename Message>
std::string TextOf(const Message& message) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(message, &text);
  if (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

v1::Statistics StatisticsOf(const std::string& sql) {
  return Translated(sql).workload().query_sets(0).statistics();
}

std::string ConditionOf(const std::string& where) {
  return TextOf(StatisticsOf("SELECT count(*) FROM orders WHERE " + where).where().expression());
}

// The statistics of a list, each as one text.
std::vector<std::string> Asked(const std::string& list) {
  std::vector<std::string> asked;
  const v1::Statistics statistics = StatisticsOf("SELECT " + list + " FROM orders");
  for (const v1::Statistic& each : statistics.statistics()) asked.push_back(TextOf(each));
  return asked;
}

TEST(TranslateSql, AggregatesAreStatistics) {
  EXPECT_EQ(Asked("COUNT(*)"), std::vector<std::string>({"count { }"}));
  EXPECT_EQ(Asked("count(price)"), std::vector<std::string>({"count { of: \"price\" }"}));
  EXPECT_EQ(Asked("sum(price), avg(quantity), variance(price), pg_catalog.var_samp(quantity)"),
            std::vector<std::string>(
                {"sum: \"price\"", "mean: \"quantity\"", "variance: \"price\"", "variance: \"quantity\""}));
  EXPECT_EQ(Asked("count(DISTINCT customer)"), std::vector<std::string>({"distinct_units { }"}));
}

TEST(TranslateSql, ValuesThatAreNeverMissingAreCountedAsRecords) {
  EXPECT_EQ(Asked("count(*), count(quantity), count(\"Ship Mode\")"),
            std::vector<std::string>({"count { }"}));
}

TEST(TranslateSql, FractionsOfPercentilesAreDecimalsOfThreeDigits) {
  const auto fraction = [](const std::string& text) {
    return StatisticsOf("SELECT percentile_cont(" + text + ") WITHIN GROUP (ORDER BY weight) FROM orders")
        .statistics(0)
        .quantiles()
        .at(0);
  };
  EXPECT_EQ(fraction("0.5"), "0.5");
  EXPECT_EQ(fraction(".250"), "0.25");
  EXPECT_EQ(fraction("1e-3"), "0.001");
  EXPECT_EQ(fraction("0.999"), "0.999");
}

TEST(TranslateSql, TheSameStatisticIsAskedOnce) {
  const v1::TranslateSqlResponse translated = Translated(
      "SELECT count(*) AS a, avg(price), count(*) AS b FROM orders HAVING count(*) > 3 AND avg(price) < 5 "
      "ORDER BY sum(quantity)");
  EXPECT_EQ(translated.workload().query_sets(0).statistics().statistics_size(), 3);
  EXPECT_EQ(translated.selection().columns(2).source().statistic(), 0);
  EXPECT_EQ(translated.selection().order_by(0).source().statistic(), 2);
}

TEST(TranslateSql, ComparisonsHaveTheAttributeOnTheLeft) {
  EXPECT_EQ(
      ConditionOf("quantity <= 5"),
      "condition { attribute: \"quantity\" compare { operator: LESS_OR_EQUAL value { number_value: 5 } } }");
  EXPECT_EQ(ConditionOf("-5.5 < weight"),
            "condition { attribute: \"weight\" compare { operator: GREATER value { number_value: -5.5 } } }");
  EXPECT_EQ(ConditionOf("region != 'north'"),
            "condition { attribute: \"region\" compare { operator: NOT_EQUAL value { string_value: \"north\" "
            "} } }");
  EXPECT_EQ(ConditionOf("shipdate < DATE '1995-01-01'"), ConditionOf("shipdate < '1995-01-01'"));
}

TEST(TranslateSql, IntegersThatNoDoubleHoldsKeepTheirDigits) {
  EXPECT_EQ(ConditionOf("quantity = 9007199254740993"),
            "condition { attribute: \"quantity\" compare { operator: EQUAL value { string_value: "
            "\"9007199254740993\" } } }");
}

TEST(TranslateSql, BetweenIsTwoComparisonsAndListsAreOne) {
  EXPECT_EQ(ConditionOf("quantity BETWEEN 2 AND 4"), ConditionOf("quantity >= 2 AND quantity <= 4"));
  EXPECT_EQ(ConditionOf("quantity NOT BETWEEN 2 AND 4"),
            ConditionOf("NOT (quantity >= 2 AND quantity <= 4)"));
  EXPECT_EQ(
      ConditionOf("region IN ('north', 'south')"),
      "condition { attribute: \"region\" in { string_value: \"north\" } in { string_value: \"south\" } }");
  EXPECT_EQ(ConditionOf("region NOT IN ('north')"), ConditionOf("NOT region IN ('north')"));
}

TEST(TranslateSql, NullIsAMissingValue) {
  EXPECT_EQ(ConditionOf("region IS NULL"), "condition { attribute: \"region\" is_missing: true }");
  EXPECT_EQ(ConditionOf("region IS NOT NULL"),
            "not { condition { attribute: \"region\" is_missing: true } }");
}

TEST(TranslateSql, AndBindsMoreThanOrAndNotMoreThanBoth) {
  EXPECT_EQ(ConditionOf("quantity = 1 OR quantity = 2 AND NOT quantity = 3 AND quantity = 4"),
            ConditionOf("quantity = 1 OR (quantity = 2 AND ((NOT (quantity = 3)) AND quantity = 4))"));
  EXPECT_EQ(ConditionOf("NOT NOT quantity = 1"), ConditionOf("quantity = 1"));
  EXPECT_NE(ConditionOf("NOT (quantity = 1 OR quantity = 2)"),
            ConditionOf("NOT quantity = 1 OR quantity = 2"));
}

TEST(TranslateSql, ConditionsHaveTheirPlacesInTheOrderOfTheExpression) {
  using Places = std::vector<std::string>;
  EXPECT_EQ(PlacesOf("quantity < 5"), Places({"quantity: 5"}));
  EXPECT_EQ(PlacesOf("-5 < quantity"), Places({"quantity: -5"}));
  EXPECT_EQ(PlacesOf("shipdate < DATE '1995-01-01'"), Places({"shipdate: '1995-01-01'"}));
  EXPECT_EQ(PlacesOf("quantity BETWEEN 2 AND 4"), Places({"quantity: 2", "quantity: 4"}));
  EXPECT_EQ(PlacesOf("region IN ('a', 'b')"), Places({"region: 'a' 'b'"}));
  EXPECT_EQ(PlacesOf("quantity = 1 AND (NOT (weight > 2 OR region IS NOT NULL) AND decade >= 1950) OR "
                     "region = 'c'"),
            Places({"quantity: 1", "weight: 2", "region:", "decade: 1950", "region: 'c'"}));
}

TEST(TranslateSql, StatisticsHaveThePlaceOfTheFirstCallThatAsksForThem) {
  const std::string sql =
      "SELECT count(*), percentile_cont(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY weight), count(*) AS n "
      "FROM orders HAVING avg(price) > 3";
  const auto translated = TranslateWithPlaces(OrdersSchema(), "orders", sql);
  ASSERT_TRUE(translated.ok()) << translated.status();
  const auto place = [&sql](std::string_view text) { return static_cast<int64_t>(sql.find(text)); };
  EXPECT_EQ(translated->statistics,
            std::vector<int64_t>({place("count"), place("percentile"), place("percentile"), place("avg")}));
}

TEST(TranslateSql, GroupsAreNamedByNameAliasAndPosition) {
  for (const char* by : {"region, \"Ship Mode\"", "r, 3", "1, 3", "r, \"ship mode\", region"}) {
    const v1::Statistics statistics =
        StatisticsOf("SELECT region AS r, count(*), \"Ship Mode\" FROM orders GROUP BY " + std::string(by));
    EXPECT_EQ(TextOf(statistics), "statistics { count { } } by: \"region\" by: \"Ship Mode\"") << by;
  }
}

TEST(TranslateSql, AColumnOfTheRecordsComesBeforeAnAlias) {
  const v1::Statistics statistics =
      StatisticsOf("SELECT region AS quantity, count(*) FROM orders GROUP BY quantity, region");
  EXPECT_EQ(TextOf(statistics), "statistics { count { } } by: \"quantity\" by: \"region\"");
}

TEST(TranslateSql, TheSelectionShowsTheListInItsOrder) {
  EXPECT_EQ(TextOf(Translated("SELECT count(*) n, region, percentile_cont(ARRAY[0.25, 0.5]) WITHIN GROUP "
                              "(ORDER BY price) q FROM orders GROUP BY region")
                       .selection()),
            "columns { name: \"n\" source { statistic: 0 } } columns { name: \"region\" source { attribute: "
            "\"region\" } } columns { name: \"q_0.25\" source { statistic: 1 } } columns { name: \"q_0.5\" "
            "source { "
            "statistic: 2 } }");
}

TEST(TranslateSql, HavingOrderAndLimitAreOfTheSelection) {
  EXPECT_EQ(
      TextOf(Translated("SELECT region FROM orders GROUP BY region HAVING NOT (count(*) BETWEEN 1 AND 2 OR "
                        "3.5 >= avg(price)) ORDER BY 1 DESC NULLS LAST, avg(price) LIMIT 10 OFFSET 5")
                 .selection()),
      "columns { name: \"region\" source { attribute: \"region\" } } having { not { any_of { conditions { "
      "all_of { conditions { compare { operator: GREATER_OR_EQUAL value: 1 } } conditions { "
      "compare { operator: LESS_OR_EQUAL value: 2 } } } } conditions { compare { statistic: 1 "
      "operator: LESS_OR_EQUAL value: 3.5 } } } } } order_by { source { attribute: \"region\" } descending: "
      "true } order_by { source { statistic: 1 } } limit: 10 offset: 5");
  EXPECT_EQ(Translated("SELECT count(*) FROM orders FETCH FIRST 3 ROWS ONLY").selection().limit(), 3);
  EXPECT_FALSE(Translated("SELECT count(*) FROM orders LIMIT ALL").selection().has_limit());
}

TEST(TranslateSql, ExplainAsksForTheEstimate) {
  EXPECT_TRUE(Translated("EXPLAIN SELECT count(*) FROM orders").explain());
  EXPECT_FALSE(Translated("SELECT count(*) FROM orders;").explain());
}

TEST(TranslateSql, TablesMayHaveAnotherNameInTheStatement) {
  EXPECT_EQ(TextOf(StatisticsOf("SELECT sum(o.price) FROM orders AS o WHERE o.region = 'north'")),
            TextOf(StatisticsOf("SELECT sum(orders.price) FROM orders WHERE region = 'north'")));
}

TEST(TranslateSql, NamesOfOneSpellingNeedNoQuotationMarks) {
  v1::Schema schema = OrdersSchema();
  schema.mutable_attributes(0)->set_name("Region");
  EXPECT_TRUE(Translate(schema, "orders", "SELECT REGION, count(*) FROM orders GROUP BY region").ok());
  schema.add_attributes()->set_name("REGION");
  EXPECT_EQ(Translate(schema, "orders", "SELECT count(region) FROM orders").status().message(),
            "several columns are called so: write \"Region\" or \"REGION\", in quotation marks\n"
            "LINE 1: SELECT count(region) FROM orders\n"
            "                     ^");
  EXPECT_TRUE(
      Translate(schema, "orders", "SELECT \"Region\", count(*) FROM orders GROUP BY \"Region\"").ok());
}

TEST(TranslateSql, NamesThatTheParserCutsAreFound) {
  v1::Schema schema = OrdersSchema();
  const std::string name(80, 'n');
  schema.mutable_measures(0)->set_name(name);
  const auto translated = Translate(schema, "orders", "SELECT count(" + name + ") FROM orders");
  ASSERT_TRUE(translated.ok()) << translated.status();
  EXPECT_EQ(translated->workload().query_sets(0).statistics().statistics(0).count().of(), name);
}

TEST(TranslateSql, TheDatasetIsTheNameAfterFrom) {
  EXPECT_EQ(*DatasetOf("SELECT count(*) FROM \"my-data\""), "my-data");
  EXPECT_EQ(*DatasetOf("EXPLAIN SELECT nonsense FROM Census c"), "census");
  EXPECT_FALSE(DatasetOf("SELECT 1").ok());
}

TEST(TranslateSql, ThreadsTranslateAtTheSameTime) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([] {
      for (int i = 0; i < 50; ++i) {
        EXPECT_TRUE(Translate(OrdersSchema(), "orders", "SELECT avg(price) FROM orders").ok());
        EXPECT_FALSE(Translate(OrdersSchema(), "orders", "SELECT FROM WHERE").ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace curator::sql
