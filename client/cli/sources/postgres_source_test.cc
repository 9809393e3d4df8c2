#include "client/cli/sources/postgres_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/testing/postgres_cluster.h"

namespace curator::cli {
namespace {

using ::curator::testing::PostgresCluster;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

void Execute(const std::string& url, const std::string& statements) {
  PGconn* const connection = PQconnectdb(url.c_str());
  PGresult* const result = PQexec(connection, statements.c_str());
  const ExecStatusType status = PQresultStatus(result);
  EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) << PQerrorMessage(connection);
  PQclear(result);
  PQfinish(connection);
}

absl::StatusOr<std::string> AllOfIt(absl::StatusOr<std::unique_ptr<CsvSource>> source) {
  if (!source.ok()) return source.status();
  std::string all;
  while (true) {
    const absl::StatusOr<std::string> next = (*source)->NextLines();
    if (!next.ok()) return next.status();
    if (next->empty()) return all;
    all += *next;
  }
}

class PostgresSourceTest : public ::testing::Test {
 protected:
  void Execute(const std::string& statements) const { cli::Execute(url_, statements); }

  absl::StatusOr<std::string> Table(const TableChoice& choice, const CsvForm& form = {}) const {
    return AllOfIt(OpenPostgresTable(url_, choice, form));
  }
  std::string Rows(const TableChoice& choice, const CsvForm& form = {}) const {
    const auto rows = Table(choice, form);
    EXPECT_TRUE(rows.ok()) << rows.status();
    return rows.value_or("");
  }
  std::string RefusalOf(const TableChoice& choice, const CsvForm& form = {}) const {
    const auto rows = Table(choice, form);
    return rows.ok() ? "accepted" : std::string(rows.status().message());
  }
  absl::StatusOr<std::string> Query(const std::string& query) const {
    return AllOfIt(OpenPostgresQuery(url_, query, {}));
  }

  const std::string url_ = PostgresCluster::Shared().CreateDatabase();
};

TEST_F(PostgresSourceTest, ReadsTheColumnsThatTheSchemaNames) {
  Execute(
      "CREATE TABLE people (sex text, note text, age int, pid int);"
      "INSERT INTO people VALUES ('F', 'n', 30, 1), (NULL, NULL, 40, 2)");
  EXPECT_EQ(Rows({.table = "people"}, {.columns = {"pid", "sex", "age"}}), "pid,sex,age\n1,F,30\n2,,40\n");
  EXPECT_EQ(Rows({.table = "public.people", .columns = {"age"}}, {.columns = {"pid"}}), "age\n30\n40\n");
}

TEST_F(PostgresSourceTest, TextsDoNotDependOnTheSettingsOfTheSession) {
  Execute(
      "CREATE TABLE t (a date, b timestamp, c timestamptz, d boolean, e numeric(10,3), f float8, g float4,"
      " h interval, i bytea, j text, k boolean);"
      "INSERT INTO t VALUES ('2019-03-01', '2019-03-01 12:30:00.5', '2019-03-01 12:30:00+02', true, 12.5,"
      " 0.1, 1e20, '1 day 2 hours', '\\xdeadbeef', 'gr\u00fcn', false)");
  const std::string database = url_.substr(url_.rfind('/') + 1);
  for (const char* const setting :
       {"DateStyle = 'German'", "TimeZone = 'Asia/Tokyo'", "extra_float_digits = -5",
        "IntervalStyle = 'postgres_verbose'", "bytea_output = 'escape'", "statement_timeout = '1h'",
        "default_transaction_read_only = off", "standard_conforming_strings = off",
        "client_encoding = 'LATIN1'"}) {
    Execute(absl::StrCat("ALTER DATABASE ", database, " SET ", setting));
  }
  EXPECT_EQ(Rows({.table = "t", .columns = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}}),
            "a,b,c,d,e,f,g,h,i,j,k\n"
            "2019-03-01,\"2019-03-01 12:30:00.5\",\"2019-03-01 10:30:00+00:00\",true,12.500,0.1,1e+20,P1DT2H,"
            "\\xdeadbeef,gr\u00fcn,false\n");
}

TEST_F(PostgresSourceTest, AConditionSelectsRowsByThemselves) {
  Execute(
      "CREATE TABLE t (a int, b text, \"C d\" boolean, e date);"
      "INSERT INTO t VALUES (1, 'x', true, '2020-01-01'), (2, 'it''s', false, '2020-01-02'),"
      " (3, NULL, NULL, NULL)");
  const auto where = [this](const std::string& condition) {
    std::string rows = Rows({.table = "t", .columns = {"a"}, .where = condition});
    rows.erase(0, 2);
    std::replace(rows.begin(), rows.end(), '\n', ' ');
    return rows;
  };
  EXPECT_EQ(where("a >= 2"), "2 3 ");
  EXPECT_EQ(where("b = 'it''s' or b is null"), "2 3 ");
  EXPECT_EQ(where("not (a in (1, 3))"), "2 ");
  EXPECT_EQ(where("\"C d\" = true"), "1 ");
  EXPECT_EQ(where("e < '2020-01-02' and a <> 7"), "1 ");
  EXPECT_EQ(where("b = 'x'' OR true --'"), "");
}

TEST_F(PostgresSourceTest, NamesAreWrittenAsTheyAreAndNeverSql) {
  Execute(
      "CREATE SCHEMA \"My s\"; CREATE TABLE \"My s\".\"T\"\"x\" (\"a\"\"; DROP TABLE x\" int);"
      "INSERT INTO \"My s\".\"T\"\"x\" VALUES (1)");
  EXPECT_EQ(Rows({.table = "\"My s\".\"T\"\"x\"", .columns = {"a\"; DROP TABLE x"}}),
            "\"a\"\"; DROP TABLE x\"\n1\n");
  for (const char* const table : {"", ".t", "a.b.c", "\"t", "a..b"}) {
    EXPECT_THAT(RefusalOf({.table = table}), HasSubstr("--table is not SCHEMA.TABLE")) << table;
  }
  EXPECT_THAT(RefusalOf({.table = "pg_class; DROP TABLE x"}), HasSubstr("there is no table"));
  EXPECT_THAT(RefusalOf({.table = "nowhere.t"}), HasSubstr("there is no table nowhere.t in this database"));
}

TEST_F(PostgresSourceTest, WhatIsNoOrdinaryTableIsRefusedWithTheReason) {
  Execute(
      "CREATE TABLE t (a int); CREATE VIEW v AS SELECT a FROM t; CREATE MATERIALIZED VIEW m AS SELECT a FROM "
      "t;"
      "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w;"
      "CREATE FOREIGN TABLE f (a int) SERVER s; CREATE SEQUENCE q;"
      "CREATE TABLE p (a int) PARTITION BY LIST (a); CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);"
      "INSERT INTO p VALUES (1)");
  const auto refused = [this](const std::string& table) {
    return RefusalOf({.table = table, .columns = {"a"}});
  };
  EXPECT_THAT(refused("v"), AllOf(HasSubstr("--table v is a view: one person may change the rows of others"),
                                  HasSubstr("--query")));
  EXPECT_THAT(refused("m"), HasSubstr("is a materialized view"));
  EXPECT_THAT(refused("f"), HasSubstr("is a foreign table"));
  EXPECT_THAT(refused("q"), HasSubstr("is no table"));
  EXPECT_THAT(refused("pg_catalog.pg_statistic"), HasSubstr("is a table of the system"));
  EXPECT_EQ(Rows({.table = "p", .columns = {"a"}}), "a\n1\n");
  Execute("CREATE FOREIGN TABLE p2 PARTITION OF p FOR VALUES IN (2) SERVER s");
  EXPECT_THAT(refused("p"), HasSubstr("has a part that is a foreign table"));
}

TEST_F(PostgresSourceTest, ATableWithRowSecurityIsReadAsAWholeOrNotAtAll) {
  Execute(
      "CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2); ALTER TABLE t ENABLE ROW LEVEL SECURITY;"
      "CREATE POLICY by_count ON t USING (a <= (SELECT count(*) FROM t) - 1);"
      "DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN; GRANT SELECT ON t TO reader");
  std::string as_reader = url_;
  as_reader.replace(as_reader.find("postgres@"), 8, "reader");
  const TableChoice choice = {.table = "t", .columns = {"a"}};
  const absl::Status refused = OpenPostgresTable(as_reader, choice, {}).status();
  EXPECT_THAT(std::string(refused.message()), HasSubstr("has row security"));
  EXPECT_EQ(Rows(choice), "a\n1\n2\n") << "the superuser sees all rows";
}

TEST_F(PostgresSourceTest, ColumnsThatAreNotThereAreNamed) {
  Execute("CREATE TABLE t (a int, b int)");
  EXPECT_EQ(RefusalOf({.table = "t"}, {.columns = {"a", "zone"}}),
            "the table lacks zone, which the dataset's schema names; it has a, b");
  EXPECT_THAT(RefusalOf({.table = "t", .columns = {"ctid"}}), HasSubstr("lacks ctid, which --columns names"))
      << "a place in the table depends on other rows";
  EXPECT_THAT(RefusalOf({.table = "t", .columns = {"a"}, .where = "xmin = '1'"}),
              HasSubstr("lacks xmin, which --where names"));
}

TEST_F(PostgresSourceTest, ErrorsOfTheDatabaseHaveTheirStateAndNoTextOfTheQueryAndNoValue) {
  Execute(
      "CREATE TABLE t (a int, b text); INSERT INTO t VALUES (1, 'private');"
      "DROP ROLE IF EXISTS nobody; CREATE ROLE nobody LOGIN");
  const struct {
    const char* query;
    const char* state;
  } kCases[] = {
      {"SELECT b::int FROM t", "22P02"},
      {"SELECT secret FROM t", "42703"},
      {"SELECT * FROM secret", "42P01"},
      {"SELEC secret", "42601"},
      {"SELECT 'secret' FROM t; SELECT 1", "42601"},
      {"INSERT INTO t VALUES (2, 'secret') RETURNING a", "42601"},
      {"SELECT nextval('secret')", "42P01"},
      {"SELECT 1/(a - 1) AS secret FROM t", "22012"},
      {"SELECT secret(a) FROM t", "42883"},
  };
  for (const auto& [query, state] : kCases) {
    const absl::Status failed = Query(query).status();
    EXPECT_THAT(std::string(failed.message()), HasSubstr(absl::StrCat("SQLSTATE ", state, ": "))) << query;
    for (const char* const word : {"secret", "private"}) {
      EXPECT_THAT(std::string(failed.message()), Not(HasSubstr(word))) << query;
    }
  }
  EXPECT_THAT(RefusalOf({.table = "t", .columns = {"a"}, .where = "a = 'private'"}),
              AllOf(HasSubstr("SQLSTATE 22P02: a value is not of the type of the column"),
                    Not(HasSubstr("private"))));
  std::string as_nobody = url_;
  as_nobody.replace(as_nobody.find("postgres@"), 8, "nobody");
  const absl::Status refused = OpenPostgresQuery(as_nobody, "SELECT * FROM t", {}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("SQLSTATE 42501: this identity may not read it"));
}

TEST_F(PostgresSourceTest, NothingIsWritten) {
  Execute(
      "CREATE TABLE t (a int);"
      "CREATE FUNCTION add() RETURNS int LANGUAGE sql AS 'INSERT INTO public.t VALUES (1) RETURNING a'");
  EXPECT_THAT(std::string(Query("SELECT add()").status().message()), HasSubstr("SQLSTATE 25006"));
  EXPECT_EQ(Rows({.table = "t", .columns = {"a"}}), "a\n");
}

TEST_F(PostgresSourceTest, AllRowsAreOfOneMoment) {
  Execute("CREATE TABLE t (a int); INSERT INTO t SELECT 1 FROM generate_series(1, 5000)");
  const auto source = OpenPostgresTable(url_, {.table = "t", .columns = {"a"}}, {});
  ASSERT_TRUE(source.ok()) << source.status();
  Execute("INSERT INTO t SELECT 2 FROM generate_series(1, 5000); DELETE FROM t WHERE a = 1");
  std::string all;
  for (std::string next = *(*source)->NextLines(); !next.empty(); next = *(*source)->NextLines()) all += next;
  EXPECT_EQ(std::count(all.begin(), all.end(), '1'), 5000);
  EXPECT_EQ(std::count(all.begin(), all.end(), '2'), 0);
}

TEST_F(PostgresSourceTest, ATableStaysOfItsKindWhileItIsRead) {
  Execute("CREATE TABLE t (a int); INSERT INTO t VALUES (1)");
  const auto source = OpenPostgresTable(url_, {.table = "t", .columns = {"a"}}, {});
  ASSERT_TRUE(source.ok()) << source.status();
  PGconn* const connection = PQconnectdb(url_.c_str());
  PGresult* const result = PQexec(connection, "SET lock_timeout = '50ms'; ALTER TABLE t RENAME TO u");
  EXPECT_STREQ(PQresultErrorField(result, PG_DIAG_SQLSTATE), "55P03");
  PQclear(result);
  PQfinish(connection);
}

TEST_F(PostgresSourceTest, ATableThatIsRewrittenWhileTheLockIsAwaitedIsNotEmpty) {
  Execute("CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2)");
  PGconn* const connection = PQconnectdb(url_.c_str());
  const auto execute = [connection](const char* statement) {
    PGresult* const result = PQexec(connection, statement);
    const std::string value = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
    PQclear(result);
    return value;
  };
  execute("BEGIN");
  execute("ALTER TABLE t ALTER COLUMN a TYPE bigint");
  std::atomic<bool> is_over = false;
  std::thread importer([this, &is_over] {
    EXPECT_EQ(Rows({.table = "t", .columns = {"a"}}), "a\n1\n2\n");
    is_over = true;
  });
  const char* const waiting = "SELECT count(*) FROM pg_locks WHERE relation = 't'::regclass AND NOT granted";
  while (!is_over && execute(waiting) == "0") std::this_thread::yield();
  execute("COMMIT");
  importer.join();
  PQfinish(connection);
}

TEST_F(PostgresSourceTest, PiecesDoNotGrowWithTheNumberOfRows) {
  Execute(
      "CREATE TABLE t (a int, b text);"
      "INSERT INTO t SELECT i, repeat('x', 3000) FROM generate_series(1, 20000) i");
  const auto source = OpenPostgresTable(url_, {.table = "t", .columns = {"a", "b"}}, {});
  ASSERT_TRUE(source.ok()) << source.status();
  size_t largest = 0;
  size_t bytes = 0;
  for (std::string next = *(*source)->NextLines(); !next.empty(); next = *(*source)->NextLines()) {
    largest = std::max(largest, next.size());
    bytes += next.size();
  }
  EXPECT_GT(bytes, size_t{60'000'000});
  EXPECT_LT(largest, size_t{2} << 20);
}

TEST_F(PostgresSourceTest, AQueryGivesItsColumnsByTheirNames) {
  EXPECT_EQ(*Query("SELECT 1 AS a, NULL AS b, true AS c;"), "a,b,c\n1,,true\n");
  EXPECT_EQ(*Query("WITH x AS (VALUES (1), (2)) SELECT sum(column1) AS s FROM x -- a comment"), "s\n3\n");
  EXPECT_EQ(std::string(Query("SELECT").status().message()), "the query has no columns");
}

TEST_F(PostgresSourceTest, APasswordInTheUrlIsRefusedWithTheWayOut) {
  std::string with_password = url_;
  with_password.replace(with_password.find("postgres@"), 8, "postgres:secret");
  const absl::Status refused = OpenPostgresQuery(with_password, "SELECT 1 AS a", {}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  for (const char* const words : {"--from contains a password", "~/.pgpass", "PGPASSFILE", "PGPASSWORD"}) {
    EXPECT_THAT(std::string(refused.message()), HasSubstr(words));
  }
  EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("secret")));
}

TEST_F(PostgresSourceTest, ADatabaseThatDoesNotAnswerIsNamedByItsHost) {
  const absl::Status refused =
      OpenPostgresQuery("postgresql://postgres@127.0.0.1:1/x", "SELECT 1", {}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the database does not answer at host 127.0.0.1:1"));
  EXPECT_THAT(std::string(OpenPostgresQuery(url_ + "?nonsense=1", "SELECT 1", {}).status().message()),
              HasSubstr("--from is malformed"));
}

TEST(SqlStateTest, HasItsMeaning) {
  EXPECT_EQ(DescribeSqlState("42P01"), "SQLSTATE 42P01: there is no such table");
  EXPECT_EQ(DescribeSqlState("42999"),
            "SQLSTATE 42999: the query is not valid: its syntax, names, types or rights");
  EXPECT_EQ(DescribeSqlState("HV000"), "SQLSTATE HV000: an error that the manual of PostgreSQL describes");
}

}  // namespace
}  // namespace curator::cli
