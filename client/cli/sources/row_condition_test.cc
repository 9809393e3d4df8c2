#include "client/cli/sources/row_condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace curator::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string RefusalOf(const std::string& text) {
  const auto parsed = ParseRowCondition(text);
  if (parsed.ok()) return "accepted as " + parsed->sql;
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(parsed.status().message());
}

TEST(RowConditionTest, BecomesSqlWithQuotedNamesAndValuesAsParameters) {
  const auto parsed = ParseRowCondition(
      "age >= 18 and (region IN ('north', 'o''hara') or \"a \"\"b\" is not null) AND ok = TRUE");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->sql,
            "\"age\" >= $1 and (\"region\" in ($2, $3) or \"a \"\"b\" is not null) and \"ok\" = $4");
  EXPECT_THAT(parsed->values, ElementsAre("18", "north", "o'hara", "TRUE"));
  EXPECT_THAT(parsed->columns, ElementsAre("age", "region", "a \"b", "ok"));
}

TEST(RowConditionTest, NegationsCoverWhatComesAfterThem) {
  EXPECT_EQ(ParseRowCondition("not a = -1.5e-3 and b not in (2) or not not c is null")->sql,
            "not (\"a\" = $1) and \"b\" not in ($2) or not (not (\"c\" is null))");
  EXPECT_THAT(ParseRowCondition("a = -1.5e-3")->values, ElementsAre("-1.5e-3"));
}

TEST(RowConditionTest, NothingThatCouldReadAnotherRowIsAccepted) {
  for (const char* const text : {
           "age > (select avg(age) from people)",
           "age > avg(age)",
           "exists (select 1)",
           "count(*) over () > 1",
           "age = other_column",
           "age = 1; drop table people",
           "age = 1 -- and nothing else",
           "age = 1 /* and */",
           "age::text = 'a'",
           "age + 1 = 2",
           "public.f(age) = 1",
           "age = E'a'",
           "age = $1",
           "age like 'a%'",
           "ctid = '(0,1)' limit 1",
       }) {
    EXPECT_THAT(RefusalOf(text), HasSubstr("--where, character ")) << text;
  }
}

TEST(RowConditionTest, ARefusalHasThePlaceAndWhatWasExpectedButNotTheText) {
  EXPECT_EQ(RefusalOf("age >= 18 and secret"),
            "--where, character 21: expected =, !=, <, <=, >, >=, \"in\" or \"is\"");
  EXPECT_EQ(RefusalOf("name = 'x"),
            "--where, character 8: expected a number, true, false, or a text in single "
            "quotes (a quote is not closed)");
  EXPECT_THAT(RefusalOf("age = null"), HasSubstr("\"is null\""));
  EXPECT_THAT(RefusalOf("age = secret"), Not(HasSubstr("secret")));
  EXPECT_THAT(RefusalOf(""), HasSubstr("character 1: expected a column"));
  EXPECT_THAT(RefusalOf("a = 1 or"), HasSubstr("character 9: expected a column"));
  EXPECT_THAT(RefusalOf(std::string("a = '\0'", 7)), HasSubstr("code 0"));
}

TEST(RowConditionTest, IsBounded) {
  const auto nested = [](int depth) { return std::string(depth, '(') + "a = 1" + std::string(depth, ')'); };
  EXPECT_TRUE(ParseRowCondition(nested(99)).ok());
  EXPECT_THAT(RefusalOf(nested(30'000)), HasSubstr("fewer parentheses"));
  std::string values = "a in (1";
  for (int i = 1; i < 10'000; ++i) values += ",1";
  EXPECT_TRUE(ParseRowCondition(values + ")").ok());
  EXPECT_THAT(RefusalOf(values + ",1)"), HasSubstr("at most 10000 values"));
  EXPECT_THAT(RefusalOf(std::string(kLongestRowCondition + 1, ' ')), HasSubstr("more than 65536 characters"));
}

}  // namespace
}  // namespace curator::cli
