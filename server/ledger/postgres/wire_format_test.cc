#include "ledger/postgres/wire_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

ArrayStatement InsertionOf(const std::vector<sql::Parameters>& rows) {
  return InsertAll({"charges", &Columns(), rows});
}

TEST(InsertAll, SendsWhatAllRowsBeginWithOnce) {
  const std::vector<sql::Parameters> rows = {RowBy("ana", "a"), RowBy("ana", "b")};
  const ArrayStatement insert = InsertionOf(rows);
  EXPECT_EQ(insert.text,
            "INSERT INTO charges (made_at, ended_at, who, what, hash) SELECT $1::bigint, $2::bigint, "
            "$3::text, $4::text, unnest($5::bytea[])");
  EXPECT_THAT(insert.arrays, ElementsAre(sql::Value(int64_t{7}), sql::Value(sql::Null()),
                                         sql::Value(std::string("ana")), sql::Value(std::string("counts")),
                                         sql::Value(ArrayOf(rows, 4, sql::ColumnType::kBytes))));
}

// Else each choice of columns that happen to agree would be a statement of its own.
TEST(InsertAll, SendsAllColumnsFromTheFirstThatDiffersAsArrays) {
  const std::vector<sql::Parameters> rows = {RowBy("ana", "a"), RowBy("ben", "a")};
  const ArrayStatement insert = InsertionOf(rows);
  EXPECT_EQ(insert.text,
            "INSERT INTO charges (made_at, ended_at, who, what, hash) SELECT $1::bigint, $2::bigint, "
            "unnest($3::text[]), unnest($4::text[]), unnest($5::bytea[])");
  EXPECT_EQ(insert.arrays.at(3), sql::Value(ArrayOf(rows, 3, sql::ColumnType::kText)));
}

TEST(InsertAll, TellsTheNumberOfRowsByAnArrayEvenWhereAllAreTheSame) {
  EXPECT_EQ(InsertionOf({RowBy("ana", "a"), RowBy("ana", "a")}).text,
            "INSERT INTO charges (made_at, ended_at, who, what, hash) SELECT $1::bigint, $2::bigint, "
            "$3::text, $4::text, unnest($5::bytea[])");
}

TEST(InsertAll, SendsOneRowWithoutArrays) {
  const ArrayStatement insert = InsertionOf({RowBy("ana", "a")});
  EXPECT_EQ(insert.text,
            "INSERT INTO charges (made_at, ended_at, who, what, hash) SELECT $1::bigint, $2::bigint, "
            "$3::text, $4::text, $5::bytea");
  EXPECT_EQ(insert.arrays, RowBy("ana", "a"));
}

}  // namespace
}  // namespace curator::ledger::postgres
