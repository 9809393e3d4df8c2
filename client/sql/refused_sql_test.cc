// Statements that are refused, each with its whole message.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "client/sql/statement.h"
#include "client/sql/testing/orders_schema.h"
#include "client/sql/translate.h"

namespace curator::sql {
namespace {

struct Refused {
  const char* sql;
  const char* message;
};

// clang-format off
constexpr Refused kRefused[] = {
    {"SELECT COUNT(*) FROM orders\nWHERE regoin = 'x'",
     "there is no column \"regoin\"; did you mean region?\n"
     "LINE 2: WHERE regoin = 'x'\n"
     "              ^"},
    {"SELECT *",
     "FROM is missing: it names the dataset"},
    {"SELECT * FROM orders",
     "records are not shown: select COUNT(*) or another aggregate, and grouping columns\n"
     "LINE 1: SELECT * FROM orders\n"
     "               ^"},
    {"SELECT region FROM orders",
     "\"region\" must be in GROUP BY, or in an aggregate\n"
     "LINE 1: SELECT region FROM orders\n"
     "               ^"},
    {"SELECT region, COUNT(*) FROM orders",
     "\"region\" must be in GROUP BY, or in an aggregate\n"
     "LINE 1: SELECT region, COUNT(*) FROM orders\n"
     "               ^"},
    {"SELECT min(price) from orders",
     "min() is not answered: the least value would be one record's: percentile_cont(0.01) WITHIN "
     "GROUP (ORDER BY x) is near\n"
     "LINE 1: SELECT min(price) from orders\n"
     "               ^"},
    {"SELECT mediam(price) from orders",
     "mediam() is not answered; there are: COUNT(*), COUNT(column), COUNT(DISTINCT id), SUM, "
     "AVG, VARIANCE, percentile_cont\n"
     "LINE 1: SELECT mediam(price) from orders\n"
     "               ^"},
    {"SELECT foo(price) from orders",
     "foo() is not answered; there are: COUNT(*), COUNT(column), COUNT(DISTINCT id), SUM, AVG, "
     "VARIANCE, percentile_cont\n"
     "LINE 1: SELECT foo(price) from orders\n"
     "               ^"},
    {"SELECT sum(region) from orders",
     "sum() takes a measure, or an integer attribute with bins of one value; there are: "
     "quantity, price\n"
     "LINE 1: SELECT sum(region) from orders\n"
     "                   ^"},
    {"SELECT sum(price * 2) from orders",
     "sum() takes a column: values are not calculated; declare a measure that holds them, such "
     "as price times quantity, when the data are imported\n"
     "LINE 1: SELECT sum(price * 2) from orders\n"
     "                         ^"},
    {"SELECT sum(price)/count(*) from orders",
     "SELECT takes grouping columns and aggregates: columns are not calculated; select the "
     "parts, and calculate with the answers\n"
     "LINE 1: SELECT sum(price)/count(*) from orders\n"
     "                         ^"},
    {"SELECT count(distinct region) from orders",
     "distinct values are not counted: one record could add one; GROUP BY region shows how many "
     "records have each; only COUNT(DISTINCT customer) is answered\n"
     "LINE 1: SELECT count(distinct region) from orders\n"
     "                              ^"},
    {"SELECT count(customer) from orders",
     "every record has an id: write COUNT(*), or COUNT(DISTINCT customer) for the number of "
     "those who have records\n"
     "LINE 1: SELECT count(customer) from orders\n"
     "                     ^"},
    {"SELECT count(region) from orders",
     "values that may be missing are counted of numbers; write COUNT(*) with WHERE region IS NOT NULL\n"
     "LINE 1: SELECT count(region) from orders\n"
     "                     ^"},
    {"SELECT sum(distinct price) from orders",
     "DISTINCT is for COUNT of the column of ids alone: a record's value counts each time\n"
     "LINE 1: SELECT sum(distinct price) from orders\n"
     "               ^"},
    {"SELECT count(*) filter (where region='x') from orders",
     "FILTER is not known: ask with the condition in WHERE, by itself\n"
     "LINE 1: SELECT count(*) filter (where region='x') from orders\n"
     "               ^"},
    {"SELECT count(*) over () from orders",
     "windows (OVER) are not answered: GROUP BY makes the groups\n"
     "LINE 1: SELECT count(*) over () from orders\n"
     "               ^"},
    {"SELECT count(*) from orders, b",
     "joins are not answered: FROM takes one dataset\n"
     "LINE 1: SELECT count(*) from orders, b\n"
     "                                     ^"},
    {"SELECT count(*) from orders join b on true",
     "joins are not answered: FROM takes one dataset\n"
     "LINE 1: SELECT count(*) from orders join b on true\n"
     "                                         ^"},
    {"SELECT count(*) from (select 1) x",
     "sub-queries are not answered: one SELECT reads one dataset\n"
     "LINE 1: SELECT count(*) from (select 1) x\n"
     "                              ^"},
    {"WITH a AS (SELECT 1) SELECT count(*) from a",
     "WITH is not answered: one SELECT reads one dataset\n"
     "LINE 1: WITH a AS (SELECT 1) SELECT count(*) from a\n"
     "        ^"},
    {"SELECT count(*) from orders union select 1",
     "results are not combined: ask each SELECT by itself, each is an answer of its own\n"
     "LINE 1: SELECT count(*) from orders union select 1\n"
     "                                    ^"},
    {"SELECT count(*) from my-data",
     "syntax error at or near \"-\"; a name with dashes is written in quotation marks: FROM "
     "\"my-data\"\n"
     "LINE 1: SELECT count(*) from my-data\n"
     "                               ^"},
    {"SELECT count(*) from public.orders",
     "a dataset lies in no schema: write FROM \"orders\"\n"
     "LINE 1: SELECT count(*) from public.orders\n"
     "                             ^"},
    {"SELECT count(*) from other",
     "the dataset that is asked is \"orders\": write FROM \"orders\"\n"
     "LINE 1: SELECT count(*) from other\n"
     "                             ^"},
    {"SELECT count(*) from orders where price > 5",
     "\"price\" is a measure: it has bounds, and no bins that WHERE could use; WHERE takes "
     "attributes; there are: region, Ship Mode, quantity, shipdate, decade, weight\n"
     "LINE 1: SELECT count(*) from orders where price > 5\n"
     "                                          ^"},
    {"SELECT count(*) from orders where customer = 5",
     "\"customer\" says who a record is of, and is never shown or compared; WHERE takes "
     "attributes; there are: region, Ship Mode, quantity, shipdate, decade, weight\n"
     "LINE 1: SELECT count(*) from orders where customer = 5\n"
     "                                          ^"},
    {"SELECT count(*) from orders where region = null",
     "no comparison with NULL is true: write IS NULL or IS NOT NULL\n"
     "LINE 1: SELECT count(*) from orders where region = null\n"
     "                                                   ^"},
    {"SELECT count(*) from orders where region like 'n%'",
     "patterns are not matched: list the values, with IN ('a', 'b')\n"
     "LINE 1: SELECT count(*) from orders where region like 'n%'\n"
     "                                                 ^"},
    {"SELECT count(*) from orders where region = weight",
     "two columns are not compared with each other: compare each with a constant\n"
     "LINE 1: SELECT count(*) from orders where region = weight\n"
     "                                                   ^"},
    {"SELECT count(*) from orders where true",
     "TRUE, FALSE and NULL are no conditions: leave WHERE out, or compare\n"
     "LINE 1: SELECT count(*) from orders where true\n"
     "                                          ^"},
    {"SELECT count(*) from orders where region",
     "a column alone is no condition: compare it with a value, such as smoker = 'yes'\n"
     "LINE 1: SELECT count(*) from orders where region\n"
     "                                          ^"},
    {"SELECT count(*) from orders where quantity = true",
     "TRUE and FALSE are no values here: write the value of the attribute, such as 'true'\n"
     "LINE 1: SELECT count(*) from orders where quantity = true\n"
     "                                                     ^"},
    {"SELECT count(*) from orders where shipdate < date '1998-12-01' - interval '90' day",
     "constants are not calculated: write the result, such as 42 or DATE '1998-09-02'\n"
     "LINE 1: ...ECT count(*) from orders where shipdate < date '1998-12-01' - interval '90' day\n"
     "                                                                       ^"},
    {"SELECT count(*) from orders where shipdate < now()",
     "functions of constants are not calculated: write the value, such as '2024-12-31'\n"
     "LINE 1: SELECT count(*) from orders where shipdate < now()\n"
     "                                                     ^"},
    {"SELECT count(*) from orders where shipdate < current_date",
     "functions of constants are not calculated: write the value, such as '2024-12-31'\n"
     "LINE 1: SELECT count(*) from orders where shipdate < current_date\n"
     "                                                     ^"},
    {"SELECT count(*) from orders where sum(price) > 3",
     "WHERE compares columns of records; a condition on an aggregate belongs in HAVING, and "
     "functions of columns are not calculated\n"
     "LINE 1: SELECT count(*) from orders where sum(price) > 3\n"
     "                                          ^"},
    {"SELECT count(*) from orders where quantity + 1 = 3",
     "columns are not calculated with: compare the column itself with a constant\n"
     "LINE 1: SELECT count(*) from orders where quantity + 1 = 3\n"
     "                                                   ^"},
    {"SELECT count(*) from orders where quantity == 1",
     "'==' is not known; did you mean =?\n"
     "LINE 1: SELECT count(*) from orders where quantity == 1\n"
     "                                                   ^"},
    {"SELECT count(*) from orders where quantity = $1",
     "parameters have no values: write the value\n"
     "LINE 1: SELECT count(*) from orders where quantity = $1\n"
     "                                                     ^"},
    {"SELECT count(*) from orders where exists (select 1)",
     "sub-queries are not answered: one SELECT reads one dataset\n"
     "LINE 1: SELECT count(*) from orders where exists (select 1)\n"
     "                                                  ^"},
    {"SELECT count(*) from orders group by quantity / 2",
     "GROUP BY takes attributes: their bins are declared in the schema, and groups are not "
     "calculated\n"
     "LINE 1: SELECT count(*) from orders group by quantity / 2\n"
     "                                                      ^"},
    {"SELECT count(*) from orders group by price",
     "\"price\" is a measure: it has bounds, and no bins that GROUP BY could use; GROUP BY takes "
     "attributes; there are: region, Ship Mode, quantity, shipdate, decade, weight\n"
     "LINE 1: SELECT count(*) from orders group by price\n"
     "                                             ^"},
    {"SELECT count(*) from orders group by rollup(region)",
     "ROLLUP, CUBE and GROUPING SETS are not answered: ask for each grouping\n"
     "LINE 1: SELECT count(*) from orders group by rollup(region)\n"
     "                                             ^"},
    {"SELECT count(*) from orders group by 2",
     "GROUP BY takes names, and positions in SELECT's list: 1 to 1\n"
     "LINE 1: SELECT count(*) from orders group by 2\n"
     "                                             ^"},
    {"SELECT count(*), count(*) from orders",
     "two columns are called \"count(*)\": give one another name with AS\n"
     "LINE 1: SELECT count(*), count(*) from orders\n"
     "                         ^"},
    {"SELECT region from orders group by region",
     "nothing is asked of the groups: select an aggregate, such as COUNT(*)\n"
     "LINE 1: SELECT region from orders group by region\n"
     "        ^"},
    {"SELECT region as price, count(*) from orders group by price",
     "\"price\" is a measure: it has bounds, and no bins that GROUP BY could use; GROUP BY takes "
     "attributes; there are: region, Ship Mode, quantity, shipdate, decade, weight\n"
     "LINE 1: SELECT region as price, count(*) from orders group by price\n"
     "                                                              ^"},
    {"SELECT count(*) from orders having region = 'x'",
     "HAVING compares aggregates with numbers, and knows no names of the list: write the "
     "aggregate again, COUNT(*) > 100; a condition on a column belongs in WHERE\n"
     "LINE 1: SELECT count(*) from orders having region = 'x'\n"
     "                                           ^"},
    {"SELECT count(*) as n from orders having n > 5",
     "HAVING compares aggregates with numbers, and knows no names of the list: write the "
     "aggregate again, COUNT(*) > 100; a condition on a column belongs in WHERE\n"
     "LINE 1: SELECT count(*) as n from orders having n > 5\n"
     "                                                ^"},
    {"SELECT count(*) from orders having count(*) > 'x'",
     "what HAVING compares with must be a number, such as 100 or 0.5\n"
     "LINE 1: SELECT count(*) from orders having count(*) > 'x'\n"
     "                                                      ^"},
    {"SELECT count(*) from orders order by region",
     "\"region\" must be in GROUP BY, or in an aggregate\n"
     "LINE 1: SELECT count(*) from orders order by region\n"
     "                                             ^"},
    {"SELECT count(*) from orders order by 1 nulls first",
     "groups without a value come last, ascending and descending: leave NULLS FIRST out\n"
     "LINE 1: SELECT count(*) from orders order by 1 nulls first\n"
     "                                             ^"},
    {"SELECT count(*) from orders limit -1",
     "LIMIT takes a whole number that is not negative\n"
     "LINE 1: SELECT count(*) from orders limit -1\n"
     "                                          ^"},
    {"SELECT count(*) from orders limit 1, 2",
     "LIMIT #,# syntax is not supported: write LIMIT 10 OFFSET 5\n"
     "LINE 1: SELECT count(*) from orders limit 1, 2\n"
     "                                    ^"},
    {"SELECT count(*) from orders limit 1.5",
     "LIMIT takes a whole number that is not negative\n"
     "LINE 1: SELECT count(*) from orders limit 1.5\n"
     "                                          ^"},
    {"SELECT distinct region from orders group by region",
     "SELECT DISTINCT is not known: GROUP BY makes each row once\n"
     "LINE 1: SELECT distinct region from orders group by region\n"
     "               ^"},
    {"\n-- regions\nSELECT region\nfrom orders group by region",
     "nothing is asked of the groups: select an aggregate, such as COUNT(*)\n"
     "LINE 3: SELECT region\n"
     "        ^"},
    {"\nSELECT count(*) into copy\nfrom orders",
     "nothing is stored: leave INTO out\n"
     "LINE 2: SELECT count(*) into copy\n"
     "                        ^"},
    {"SELECT count(*) from orders\ngroup by distinct region",
     "write GROUP BY without DISTINCT\n"
     "LINE 2: group by distinct region\n"
     "        ^"},
    {"explain delete from orders",
     "a statement is SELECT ... FROM dataset, or EXPLAIN and such a SELECT\n"
     "LINE 1: explain delete from orders\n"
     "        ^"},
    {"INSERT INTO orders VALUES (1)",
     "a statement is SELECT ... FROM dataset, or EXPLAIN and such a SELECT\n"
     "LINE 1: INSERT INTO orders VALUES (1)\n"
     "        ^"},
    {"SELECT count(*) from orders; select 1",
     "one statement at a time: ask this one by itself\n"
     "LINE 1: SELECT count(*) from orders; select 1\n"
     "                                     ^"},
    {"select percentile_cont(0.5) from orders",
     "write percentile_cont(0.5) WITHIN GROUP (ORDER BY column)\n"
     "LINE 1: select percentile_cont(0.5) from orders\n"
     "               ^"},
    {"select percentile_cont(1) within group (order by price) from orders",
     "the fraction of percentile_cont lies between 0 and 1, with three digits after the point at "
     "most: 0.001 to 0.999\n"
     "LINE 1: select percentile_cont(1) within group (order by price) from orders\n"
     "                               ^"},
    {"select percentile_cont(0.1234) within group (order by price) from orders",
     "the fraction of percentile_cont lies between 0 and 1, with three digits after the point at "
     "most: 0.001 to 0.999\n"
     "LINE 1: select percentile_cont(0.1234) within group (order by price) from orders\n"
     "                               ^"},
    {"select percentile_cont(0.5) within group (order by region) from orders",
     "percentile_cont orders by a measure, an integer or a numeric attribute; there are: "
     "quantity, decade, weight, price\n"
     "LINE 1: select percentile_cont(0.5) within group (order by region) from orders\n"
     "                                                           ^"},
    {"select percentile_disc(0.5) within group (order by price) from orders",
     "percentile_disc() is not answered: percentile_cont is, with the same arguments\n"
     "LINE 1: select percentile_disc(0.5) within group (order by price) from orde...\n"
     "               ^"},
    {"select count(*) from orders tablesample system(1)",
     "FROM takes the name of one dataset and nothing else"},
    {"select count(*) from orders for update",
     "nothing is locked: leave FOR UPDATE or FOR SHARE out\n"
     "LINE 1: select count(*) from orders for update\n"
     "                                    ^"},
    {"select\t count(*),\tregoin from orders",
     "there is no column \"regoin\"; did you mean region?\n"
     "LINE 1: select\t count(*),\tregoin from orders\n"
     "              \t          \t^"},
    {"select 'äöü', count(*) from orders",
     "SELECT takes grouping columns and aggregates: columns are not calculated; select the "
     "parts, and calculate with the answers\n"
     "LINE 1: select 'äöü', count(*) from orders\n"
     "               ^"},
    {"select count(*) from orders where \"Ship Mode\" = 'ä' and\tregoin = 'ü'",
     "there is no column \"regoin\"; did you mean region?\n"
     "LINE 1: select count(*) from orders where \"Ship Mode\" = 'ä' and\tregoin = 'ü'\n"
     "                                                               \t^"},
    {"explain analyze select count(*) from orders",
     "EXPLAIN takes no options: it is the estimate of cost and error, and reads no record\n"
     "LINE 1: explain analyze select count(*) from orders\n"
     "        ^"},
    {"select count(*) from orders where region is distinct from 'x'",
     "IS DISTINCT FROM is not known: write = or <>, and IS NULL for missing values\n"
     "LINE 1: select count(*) from orders where region is distinct from 'x'\n"
     "                                                 ^"},
    {"select count(*) from orders where (region = 'x') is true",
     "IS TRUE is not known: write the condition itself, or NOT before it\n"
     "LINE 1: select count(*) from orders where (region = 'x') is true\n"
     "                                                         ^"},
    {"select count(*) from orders where case when true then true end",
     "a condition compares an attribute with constants: =, <>, <, <=, >, >=, BETWEEN, IN, IS "
     "NULL, joined by AND, OR, NOT\n"
     "LINE 1: select count(*) from orders where case when true then true end\n"
     "                                          ^"},
    {"select count(*) from orders where cast(quantity as text) = '1'",
     "columns are not calculated with: compare the column itself with a constant\n"
     "LINE 1: select count(*) from orders where cast(quantity as text) = '1'\n"
     "                                          ^"},
    {"select count(*) from orders where quantity = '1'::int",
     "constants are numbers, texts in '...', and dates: DATE '2024-12-31' or its text alone\n"
     "LINE 1: select count(*) from orders where quantity = '1'::int\n"
     "                                                        ^"},
    {"select count(*) from orders where region collate \"C\" = 'x'",
     "a column is needed here, to be compared with a constant"},
    {"select count(x.region) from orders",
     "FROM names \"orders\" alone: write the column's name without a table\n"
     "LINE 1: select count(x.region) from orders\n"
     "                     ^"},
    {"select count(*) from orders where 1 = 1",
     "a column is needed here, to be compared with a constant\n"
     "LINE 1: select count(*) from orders where 1 = 1\n"
     "                                          ^"},
    {"with a as (select 1) select count(*) from a",
     "WITH is not answered: one SELECT reads one dataset\n"
     "LINE 1: with a as (select 1) select count(*) from a\n"
     "        ^"},
    {"select count(*) from orders;select 1",
     "one statement at a time: ask this one by itself\n"
     "LINE 1: select count(*) from orders;select 1\n"
     "                                    ^"},
    {"SELECT count(*) from ONLY orders",
     "ONLY has no meaning here: leave it out\n"
     "LINE 1: SELECT count(*) from ONLY orders\n"
     "                                  ^"},
    {"SELECT count(\"customer\", region) from orders",
     "count() takes one column\n"
     "LINE 1: SELECT count(\"customer\", region) from orders\n"
     "               ^"},
    {"SELECT count(1) from orders",
     "write COUNT(*) to count records\n"
     "LINE 1: SELECT count(1) from orders\n"
     "                     ^"},
    {"SELECT sum() from orders",
     "sum() takes one column\n"
     "LINE 1: SELECT sum() from orders\n"
     "               ^"},
    {"SELECT sum(price order by price) from orders",
     "the order of records does not change sum()\n"
     "LINE 1: SELECT sum(price order by price) from orders\n"
     "               ^"},
    {"SELECT count(*) from orders order by price",
     "\"price\" is a measure: write an aggregate of it, such as AVG(price)\n"
     "LINE 1: SELECT count(*) from orders order by price\n"
     "                                             ^"},
    {"SELECT count(*) from orders where price is null",
     "\"price\" is a measure: it has bounds, and no bins that WHERE could use; WHERE takes "
     "attributes; there are: region, Ship Mode, quantity, shipdate, decade, weight\n"
     "LINE 1: SELECT count(*) from orders where price is null\n"
     "                                          ^"},
};
// clang-format on

std::string MessageFor(std::string_view sql) {
  const auto translated = Translate(OrdersSchema(), "orders", sql);
  EXPECT_EQ(translated.status().code(), absl::StatusCode::kInvalidArgument) << sql;
  return std::string(translated.status().message());
}

TEST(RefusedSql, NamesThePlaceTheReasonAndWhatWorks) {
  for (const Refused& each : kRefused) EXPECT_EQ(MessageFor(each.sql), each.message);
}

TEST(RefusedSql, APartThatTheTranslationDoesNotKnowIsNeverLeftOut) {
  for (const char* sql :
       {"SELECT count(*) FROM orders AS o(a, b)", "SELECT (count(*))[1] FROM orders",
        "SELECT count(*) FROM orders TABLESAMPLE system(1)", "SELECT count(*) FROM generate_series(1, 2)"})
    MessageFor(sql);
}

TEST(RefusedSql, ATextThatIsTooLongOrNoTextIsNotParsed) {
  EXPECT_EQ(MessageFor("SELECT count(*) FROM orders" + std::string(kMostSqlBytes, ' ')),
            "the statement has 16411 bytes; at most 16384 are read");
  EXPECT_EQ(MessageFor("SELECT '\xff' FROM orders"), "the statement is not UTF-8");
  EXPECT_EQ(MessageFor(std::string_view("SELECT \0", 8)),
            "a statement has no zero bytes\nLINE 1: SELECT ?\n               ^");
  EXPECT_EQ(MessageFor(" -- nothing"),
            "the statement is empty; a statement is SELECT ... FROM dataset, or EXPLAIN and such a SELECT");
}

std::string Repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

// Each would take the parser thousands of calls of itself.
TEST(RefusedSql, WhatIsNestedTooDeeplyIsNotParsed) {
  const std::string start = "SELECT count(*) FROM orders WHERE region = ";
  for (const std::string& deep :
       {Repeated("(", 7000) + "1" + Repeated(")", 7000), Repeated("NOT ", 4000) + "1",
        Repeated("1+", 8000) + "1", "1" + Repeated("::int", 3000), Repeated("- ", 8000) + "1",
        Repeated("@ ", 8000) + "1", Repeated("1 BETWEEN 1 AND NOT ", 800) + "1",
        Repeated("CASE WHEN 1 THEN ", 700) + "1", "1 COLLATE a" + Repeated(" COLLATE a", 1500),
        Repeated("a[", 5000)}) {
    const std::string message = MessageFor(start + deep);
    EXPECT_NE(message.find("nested deeper than 64 levels"), std::string::npos) << message;
  }
  MessageFor("SELECT count(*) FROM a" + Repeated(" JOIN b ON c AND d", 900));
  MessageFor("SELECT count(*) FROM a" + Repeated(" UNION SELECT 1", 1000));
}

TEST(RefusedSql, JoinedConditionsOfAllowedDepthAreTranslated) {
  std::string condition = "region = 'north'";
  for (int i = 0; i < 15; ++i) condition = "(" + condition + " AND quantity = 1 OR region IS NULL)";
  EXPECT_TRUE(Translate(OrdersSchema(), "orders", "SELECT count(*) FROM orders WHERE " + condition).ok());
  for (int i = 0; i < 15; ++i) condition = "(" + condition + " AND quantity = 1 OR region IS NULL)";
  EXPECT_NE(MessageFor("SELECT count(*) FROM orders WHERE " + condition).find("nested deeper than 32 levels"),
            std::string::npos);
}

TEST(RefusedSql, ConditionsAndValuesAreCounted) {
  EXPECT_NE(MessageFor("SELECT count(*) FROM orders WHERE region = 'a'" + Repeated(" OR quantity = 1", 300))
                .find("more than 256 conditions"),
            std::string::npos);
  EXPECT_NE(MessageFor("SELECT count(*) FROM orders WHERE quantity IN (1" + Repeated(",1", 5000) + ")")
                .find("more than 4096 values"),
            std::string::npos);
}

}  // namespace
}  // namespace curator::sql
