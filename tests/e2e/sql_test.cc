// Questions in SQL, in the manner of TPC-H: translated by a child process, priced first, answered beside the
// exact values of the same file, and refused with the place before they cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "client/error.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kLines = 20'000;

struct Line {
  std::string returnflag;
  std::string linestatus;
  int year = 0;
  int month = 0;
  int quantity = 0;
  int discount = 0;  // percent
  double price = 0;

  double revenue() const { return std::round(price * discount) / 100; }
  double disc_price() const { return std::round(price * (100 - discount)) / 100; }
};

// Deterministic, in the manner of TPC-H's lineitem. What was returned was shipped before the middle of 1995.
std::vector<Line> Lines() {
  std::vector<Line> lines;
  for (int i = 0; i < kLines; ++i) {
    Line line{
        .year = 1992 + i % 7, .month = 1 + i / 7 % 12, .quantity = 1 + i * 7 % 50, .discount = i * 3 % 11};
    const bool is_old = line.year < 1995 || (line.year == 1995 && line.month <= 6);
    line.returnflag = is_old ? (i / 3 % 2 == 0 ? "A" : "R") : "N";
    line.linestatus = is_old ? "F" : "O";
    line.price = 10.0 * (line.quantity * (90 + i % 110));
    lines.push_back(line);
  }
  return lines;
}

std::string Csv() {
  std::ostringstream csv;
  csv << "returnflag,linestatus,shipdate,quantity,discount,price,disc_price,revenue\n";
  for (const Line& line : Lines()) {
    csv << line.returnflag << "," << line.linestatus << ","
        << absl::StrFormat("%d-%02d-15,%d,%d,%.2f,%.2f,%.2f\n", line.year, line.month, line.quantity,
                           line.discount, line.price, line.disc_price(), line.revenue());
  }
  return csv.str();
}

void AddMeasure(v1::Schema& schema, const char* name, double high, double resolution) {
  v1::Measure& measure = *schema.add_measures();
  measure.set_name(name);
  measure.set_low(0);
  measure.set_high(high);
  measure.set_resolution(resolution);
}

void AddCategories(v1::Schema& schema, const char* name, const std::vector<std::string>& values) {
  v1::Attribute& attribute = *schema.add_attributes();
  attribute.set_name(name);
  for (const std::string& value : values) attribute.mutable_categorical()->add_values(value);
}

void AddInteger(v1::Schema& schema, const char* name, int64_t min, int64_t max) {
  v1::Attribute& attribute = *schema.add_attributes();
  attribute.set_name(name);
  attribute.mutable_integer()->set_min(min);
  attribute.mutable_integer()->set_max(max);
}

v1::CreateDatasetRequest LineItem() {
  v1::CreateDatasetRequest request = NewDataset("lineitem", v1::RULE_ZCDP, "200", "1e-9");
  v1::Schema& schema = *request.mutable_schema();
  schema.Clear();
  AddCategories(schema, "returnflag", {"A", "N", "R"});
  AddCategories(schema, "linestatus", {"F", "O"});
  v1::Attribute& shipdate = *schema.add_attributes();
  shipdate.set_name("shipdate");
  shipdate.mutable_date()->set_from("1992-01-01");
  shipdate.mutable_date()->set_to("1998-12-31");
  shipdate.mutable_date()->set_bins(v1::Date::MONTH);
  AddInteger(schema, "quantity", 1, 50);
  AddInteger(schema, "discount", 0, 10);
  AddMeasure(schema, "price", 100'000, 1);
  AddMeasure(schema, "disc_price", 100'000, 1);
  AddMeasure(schema, "revenue", 10'000, 0.1);
  return request;
}

class Sql : public ::testing::Test {
 protected:
  Sql() : server_(Backend::kSqlite), owner_(server_.ClientFor("owner")) {
    MakeSealed(owner_, LineItem(), Csv());
  }

  absl::StatusOr<v1::TranslateSqlResponse> Translate(const std::string& sql) const {
    return TranslateAs(owner_, sql);
  }
  static absl::StatusOr<v1::TranslateSqlResponse> TranslateAs(const Client& client, const std::string& sql) {
    v1::TranslateSqlRequest request;
    request.set_dataset("lineitem");
    request.set_sql(sql);
    return client.TranslateSql(request);
  }

  // The answers by the labels of their rows, joined by "/", in `order`.
  std::map<std::string, double> Ask(const std::string& sql, std::vector<std::string>* order = nullptr) const {
    std::map<std::string, double> found;
    const absl::StatusOr<v1::TranslateSqlResponse> translated = Translate(sql);
    EXPECT_TRUE(translated.ok()) << translated.status();
    if (!translated.ok()) return found;
    v1::AnswerWorkloadRequest request;
    request.set_dataset("lineitem");
    *request.mutable_workload() = translated->workload();
    *request.mutable_selection() = translated->selection();
    request.mutable_spend()->set_rho("10");
    const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(request);
    EXPECT_TRUE(answer.ok()) << answer.status();
    if (!answer.ok()) return found;
    const QuerySetAnswer& set = answer->query_sets.at(0);
    const size_t columns = static_cast<size_t>(set.header.columns_size());
    for (size_t i = 0; i < set.estimates.size(); ++i) {
      std::string label;
      for (size_t j = 0; j < columns; ++j) label += (j > 0 ? "/" : "") + set.labels[i * columns + j];
      found[label] = set.estimates[i];
      if (order != nullptr) order->push_back(label);
    }
    return found;
  }

  TestServer server_;
  Client owner_;
};

TEST_F(Sql, ThePricingSummaryLiesBesideTheExactOne) {
  const std::map<std::string, double> answers =
      Ask("SELECT returnflag, linestatus, SUM(quantity) AS sum_qty, SUM(price) AS sum_base_price, "
          "SUM(disc_price) AS sum_disc_price, AVG(quantity) AS avg_qty, AVG(price) AS avg_price, "
          "COUNT(*) AS count_order FROM lineitem WHERE shipdate <= DATE '1998-08-31' "
          "GROUP BY returnflag, linestatus ORDER BY returnflag, linestatus");
  struct Sums {
    double quantity = 0;
    double price = 0;
    double disc_price = 0;
    double lines = 0;
  };
  std::map<std::string, Sums> exact;
  for (const Line& line : Lines()) {
    if (line.year == 1998 && line.month > 8) continue;
    Sums& sums = exact[line.returnflag + "/" + line.linestatus + "/"];
    sums.quantity += line.quantity;
    sums.price += line.price;
    sums.disc_price += line.disc_price();
    ++sums.lines;
  }
  ASSERT_EQ(exact.size(), 3u);
  for (const auto& [group, sums] : exact) {
    EXPECT_NEAR(answers.at(group + "count_order"), sums.lines, 50) << group;
    EXPECT_NEAR(answers.at(group + "sum_qty"), sums.quantity, sums.quantity / 50) << group;
    EXPECT_NEAR(answers.at(group + "sum_base_price"), sums.price, sums.price / 50) << group;
    EXPECT_NEAR(answers.at(group + "sum_disc_price"), sums.disc_price, sums.disc_price / 50) << group;
    EXPECT_NEAR(answers.at(group + "avg_qty"), sums.quantity / sums.lines, 1) << group;
    EXPECT_NEAR(answers.at(group + "avg_price"), sums.price / sums.lines, sums.price / sums.lines / 20)
        << group;
  }
  // Declared and empty: shown, with noise.
  EXPECT_NEAR(answers.at("A/O/count_order"), 0, 50);
}

TEST_F(Sql, TheForecastOfRevenueLiesBesideTheExactOne) {
  const std::map<std::string, double> answers =
      Ask("SELECT SUM(revenue) AS revenue FROM lineitem WHERE shipdate >= DATE '1994-01-01' AND "
          "shipdate < DATE '1995-01-01' AND discount BETWEEN 5 AND 7 AND quantity < 24");
  double exact = 0;
  for (const Line& line : Lines()) {
    if (line.year == 1994 && line.discount >= 5 && line.discount <= 7 && line.quantity < 24)
      exact += line.revenue();
  }
  ASSERT_GT(exact, 100'000);
  EXPECT_NEAR(answers.at("revenue"), exact, exact / 5);
}

TEST_F(Sql, GroupsAreShownAsTheStatementSays) {
  std::vector<std::string> order;
  Ask("SELECT returnflag, COUNT(*) AS n FROM lineitem GROUP BY returnflag HAVING COUNT(*) > 1000 "
      "ORDER BY n DESC LIMIT 1",
      &order);
  EXPECT_THAT(order, ElementsAre("N/n"));
}

TEST_F(Sql, ARefusalShowsThePlaceAndCostsNothing) {
  const absl::Status refused =
      Translate("SELECT COUNT(*)\nFROM lineitem\nWHERE shipdat < '1994-01-01'").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("did you mean shipdate?\n"
                                                        "LINE 3: WHERE shipdat < '1994-01-01'\n"
                                                        "              ^"));
  EXPECT_EQ(Translate("SELECT COUNT(*) FROM lineitem" + std::string(20'000, ' ')).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(Sql, WithoutAccessThereIsNoDataset) {
  EXPECT_EQ(TranslateAs(server_.ClientFor("eve"), "SELECT nonsense FROM lineitem").status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(Sql, WhereTheProgramDoesNotWorkEverythingElseDoes) {
  AppOptions options = server_.options();
  options.sql_translator = "/bin/false";
  server_.RestartWith(options);
  const Client owner = server_.ClientFor("owner");
  EXPECT_EQ(TranslateAs(owner, "SELECT COUNT(*) FROM lineitem").status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_TRUE(owner.GetDataset("lineitem").ok());
}

}  // namespace
}  // namespace curator::testing
