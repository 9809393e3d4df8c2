#include "ledger/postgres/array_statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace curator::ledger::postgres {
namespace {

using ::testing::ElementsAre;

const std::vector<sql::Column>& Columns() {
  static const std::vector<sql::Column> kColumns = {{"made_at", sql::ColumnType::kInteger},
                                                    {"ended_at", sql::ColumnType::kInteger},
                                                    {"who", sql::ColumnType::kText},
                                                    {"what", sql::ColumnType::kText},
                                                    {"hash", sql::ColumnType::kBytes}};
  return kColumns;
}

sql::Parameters RowBy(const std::string& who, const std::string& hash) {
  return sql::RowOf(int64_t{7}, sql::Null(), who, std::string("counts"), sql::Bytes{hash});
}

// The text, and the arguments as literals.
struct Written {
  std::string text;
  std::vector<std::string> arguments;
};
Written Read(const ArrayStatement& statement) {
  Written written{statement.text, {}};
  for (const Argument& argument : statement.arguments)
    argument.AppendLiteral(written.arguments.emplace_back());
  return written;
}
Written InsertionOf(const std::vector<sql::Parameters>& rows) {
  const sql::Insertion insertion{"charges", &Columns(), rows};
  return Read(InsertAll(insertion));
}

TEST(InsertAll, SendsWhatAllRowsBeginWithOnce) {
  const Written insert = InsertionOf({RowBy("ana", "a"), RowBy("ana", "b")});
  EXPECT_EQ(insert.text,
            "INSERT INTO charges (made_at, ended_at, who, what, hash) SELECT $1::bigint, NULL::bigint, "
            "$2::text, $3::text, unnest($4::bytea[])");
  EXPECT_THAT(insert.arguments, ElementsAre("7", "'ana'", "'counts'", "ARRAY['\\x61','\\x62']::bytea[]"));
}

// Else each choice of columns that happen to agree would be a statement of its own.
TEST(InsertAll, SendsAllColumnsFromTheFirstThatDiffersAsArrays) {
  const Written insert = InsertionOf({RowBy("ana", "a"), RowBy("ben", "a")});
  EXPECT_EQ(insert.text,
            "INSERT INTO charges (made_at, ended_at, who, what, hash) SELECT $1::bigint, NULL::bigint, "
            "unnest($2::text[]), unnest($3::text[]), unnest($4::bytea[])");
  EXPECT_THAT(insert.arguments,
              ElementsAre("7", "ARRAY['ana','ben']::text[]", "ARRAY['counts','counts']::text[]",
                          "ARRAY['\\x61','\\x61']::bytea[]"));
}

TEST(InsertAll, ShowsTheNumberOfRowsByAnArrayEvenWhereAllAreTheSame) {
  EXPECT_EQ(InsertionOf({RowBy("ana", "a"), RowBy("ana", "a")}).text,
            "INSERT INTO charges (made_at, ended_at, who, what, hash) SELECT $1::bigint, NULL::bigint, "
            "$2::text, $3::text, unnest($4::bytea[])");
}

TEST(InsertAll, SendsOneRowWithoutArrays) {
  const Written insert = InsertionOf({RowBy("ana", "a")});
  EXPECT_EQ(insert.text,
            "INSERT INTO charges (made_at, ended_at, who, what, hash) SELECT $1::bigint, NULL::bigint, "
            "$2::text, $3::text, $4::bytea");
  EXPECT_THAT(insert.arguments, ElementsAre("7", "'ana'", "'counts'", "'\\x61'"));
}

sql::Update Spend(std::vector<sql::Parameters> rows) {
  return {.table = "counters",
          .set = "spent = spent + $2",
          .where = "id = $1",
          .types = {sql::ColumnType::kInteger, sql::ColumnType::kInteger},
          .rows = std::move(rows)};
}
const std::vector<sql::Column> kNameColumn = {{"name", sql::ColumnType::kText}};

TEST(WriteAll, EachStepWaitsForTheUpdatesBeforeItAndChecksThem) {
  const std::vector<sql::Step> steps = {
      Spend({{int64_t{1}, int64_t{5}}}), Spend({{int64_t{2}, int64_t{6}}, {int64_t{3}, int64_t{7}}}),
      sql::Insertion{"names", &kNameColumn, {{std::string("x")}}}, sql::Insertion{"names", &kNameColumn, {}},
      sql::Insertion{"names", &kNameColumn, {{std::string("y")}}}};
  const Written write = Read(WriteAll(steps));
  EXPECT_EQ(
      write.text,
      "WITH step1 AS (UPDATE counters SET spent = spent + $2::bigint WHERE id = $1::bigint RETURNING 1), "
      "step2 AS (UPDATE counters SET spent = spent + given.value2 FROM unnest($3::bigint[], "
      "$4::bigint[]) AS given (value1, value2) WHERE id = given.value1 "
      "AND 1 / CAST((SELECT COUNT(*) FROM step1) = 1 AS INTEGER) = 1 RETURNING 1), "
      "step3 AS (INSERT INTO names (name) SELECT $5::text) INSERT INTO names (name) SELECT $6::text "
      "WHERE 1 / CAST((SELECT COUNT(*) FROM step2) = cardinality($3) AS INTEGER) = 1");
  EXPECT_THAT(write.arguments,
              ElementsAre("1", "5", "ARRAY[2,3]::bigint[]", "ARRAY[6,7]::bigint[]", "'x'", "'y'"));
}

TEST(WriteAll, ChecksTheLastUpdateWhenNothingFollowsIt) {
  const std::vector<sql::Step> steps = {Spend({{int64_t{1}, int64_t{5}}})};
  EXPECT_EQ(
      WriteAll(steps).text,
      "WITH step1 AS (UPDATE counters SET spent = spent + $2::bigint WHERE id = $1::bigint RETURNING 1) "
      "SELECT 1 WHERE 1 / CAST((SELECT COUNT(*) FROM step1) = 1 AS INTEGER) = 1");
}

TEST(WriteAll, IsNothingWithoutRows) {
  const std::vector<sql::Step> steps = {Spend({}), sql::Insertion{"names", &kNameColumn, {}}};
  EXPECT_EQ(WriteAll(steps).text, "");
}

TEST(WriteAll, PutsTheTenthParameterInItsPlace) {
  sql::Update update{.table = "t", .set = "a = $10 - $1", .where = "b = $2", .types = {}, .rows = {{}}};
  for (int64_t i = 1; i <= 10; ++i) {
    update.types.push_back(sql::ColumnType::kInteger);
    update.rows.front().emplace_back(i);
  }
  const std::vector<sql::Step> steps = {update};
  EXPECT_THAT(WriteAll(steps).text,
              ::testing::HasSubstr("SET a = $10::bigint - $1::bigint WHERE b = $2::bigint"));
}

TEST(LookUpAll, RunsTheSelectForEachKey) {
  const sql::Statement statement{"SELECT id FROM charges WHERE who = $1 AND number = $2",
                                 {{std::string("an'a"), int64_t{1}}, {std::string("ben"), int64_t{-2}}},
                                 {sql::ColumnType::kText, sql::ColumnType::kInteger}};
  const Written look_up = Read(LookUpAll(statement));
  EXPECT_EQ(
      look_up.text,
      "SELECT keys.number, found.* FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS keys (key1, "
      "key2, number), LATERAL (SELECT id FROM charges WHERE who = keys.key1 AND number = keys.key2) AS "
      "found");
  EXPECT_THAT(look_up.arguments, ElementsAre("ARRAY['an''a','ben']::text[]", "ARRAY[1,-2]::bigint[]"));
}

TEST(Arguments, AreNotNull) {
  const sql::Value null;
  EXPECT_THROW(Argument(null).Binary(), std::invalid_argument);
}

TEST(Arguments, AreWrittenInBinaryAsPostgresqlReadsThem) {
  using std::string_literals::operator""s;
  const sql::Value integer = int64_t{-2};
  EXPECT_EQ(Argument(integer).Binary().str(), "\xff\xff\xff\xff\xff\xff\xff\xfe"s);
  const sql::Value bytes = sql::Bytes{"a\0b"s};
  EXPECT_EQ(Argument(bytes).Binary().str(), "a\0b"s);
  const std::vector<sql::Parameters> rows = {{std::string("ab")}, {sql::Null()}};
  EXPECT_EQ(Argument(rows, 0, sql::ColumnType::kText).Binary().str(),
            "\0\0\0\1\0\0\0\1\0\0\0\x19\0\0\0\2\0\0\0\1\0\0\0\2ab\xff\xff\xff\xff"s);
}

}  // namespace
}  // namespace curator::ledger::postgres
