#include "client/cli/syntax/where.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace curator::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A line.
std::string JsonOf(const google::protobuf::Message& message) {
  std::string json;
  EXPECT_TRUE(google::protobuf::util::MessageToJsonString(message, &json).ok());
  return json + "\n";
}

// What a text means in proto JSON: each condition in a line, or the expression in one.
std::string Read(const std::string& text) {
  const auto parsed = ParseWhere(text);
  if (!parsed.ok()) return std::string(parsed.status().message());
  if (parsed->predicate.has_expression()) return JsonOf(parsed->predicate.expression());
  std::string lines;
  for (const v1::Condition& condition : parsed->predicate.all_of()) lines += JsonOf(condition);
  return lines;
}

std::string Complaint(const std::string& text) {
  const auto parsed = ParseWhere(text);
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(parsed.status().message());
}

TEST(Where, ReadsIntervalsSetsAndEqualities) {
  EXPECT_EQ(Read("age in [30,40] and sex = Female and zone in {1,2}"),
            R"({"attribute":"age","between":{"from":"30","to":"40"}}
{"attribute":"sex","in":["Female"]}
{"attribute":"zone","in":["1","2"]}
)");
}

// The Python client reads the same file (client/python/tests/test_conditions.py).
TEST(Where, ReadsTheSharedConditionsAsTheyAreMeant) {
  std::ifstream file(CURATOR_CONDITIONS);
  const auto shared = nlohmann::json::parse(file);
  for (const auto& each : shared.at("conditions")) {
    std::string meant;
    for (const auto& condition : each.at("means")) {
      v1::Condition proto;
      ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(condition.dump(), &proto).ok());
      meant += JsonOf(proto);
    }
    EXPECT_EQ(Read(each.at("text")), meant) << each.at("text");
  }
  for (const auto& each : shared.at("expressions")) {
    v1::Expression meant;
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(each.at("means").dump(), &meant).ok());
    EXPECT_EQ(Read(each.at("text")), JsonOf(meant)) << each.at("text");
  }
  for (const auto& each : shared.at("mistakes")) {
    const std::string complaint = Complaint(each.at("text"));
    EXPECT_EQ(complaint.substr(0, complaint.find('\n')), each.at("says")) << each.at("text");
  }
}

TEST(Where, BlanksDoNotMatter) {
  EXPECT_EQ(Read("age in[30,40]and sex=Female"), Read("  age\tin [ 30 , 40 ]\n and  sex = Female "));
}

TEST(Where, EndsMayBeLeftOut) {
  EXPECT_EQ(Read("age in [,40]"), "{\"attribute\":\"age\",\"between\":{\"to\":\"40\"}}\n");
  EXPECT_EQ(Read("age in [30,]"), Read("age >= 30"));
  EXPECT_EQ(Read("age in [,40]"), Read("age <= 40"));
  EXPECT_EQ(Read("age in [,]"), "{\"attribute\":\"age\",\"between\":{}}\n");
}

TEST(Where, QuotesHoldWhateverAValueHas) {
  EXPECT_EQ(Read("education = 'Some college'"), "{\"attribute\":\"education\",\"in\":[\"Some college\"]}\n");
  EXPECT_EQ(Read("'home town' in {\"O'Fallon\", 'a\\'b', \"and\", '<=50K'}"),
            "{\"attribute\":\"home town\",\"in\":[\"O'Fallon\",\"a'b\",\"and\",\"\\u003c=50K\"]}\n");
}

TEST(Where, NumbersAndNamesBeyondAsciiAreWords) {
  EXPECT_EQ(Read("größe in [-1.5e3,+2)"),
            "{\"attribute\":\"größe\",\"between\":{\"from\":\"-1.5e3\",\"to\":\"+2\"}}\n");
}

TEST(Where, ErrorsSayWhatWasExpectedAndPointToIt) {
  EXPECT_EQ(Complaint("age in [30,40] and sex ="),
            "expected a value after '='\n"
            "  age in [30,40] and sex =\n"
            "                          ^");
  EXPECT_EQ(Complaint("age in <30,40)"),
            "expected '[' with an interval or '{' or '(' with a list after 'in'\n"
            "  age in <30,40)\n"
            "         ^");
  EXPECT_EQ(Complaint("größe is 3"),
            "expected 'missing' or 'not missing' after 'is'\n"
            "  größe is 3\n"
            "           ^");
  EXPECT_EQ(Complaint("not (age > 30 or (sex = f and)"),
            "expected an attribute\n"
            "  not (age > 30 or (sex = f and)\n"
            "                               ^");
}

TEST(Where, EveryKindOfMistakeIsNamed) {
  EXPECT_THAT(Complaint(""), HasSubstr("expected an attribute"));
  EXPECT_THAT(Complaint("age in {}"), HasSubstr("expected a value"));
  EXPECT_THAT(Complaint("age in {1,}"), HasSubstr("expected a value"));
  EXPECT_THAT(Complaint("age in {1 2}"), HasSubstr("expected '}'"));
  EXPECT_THAT(Complaint("age in [30;40]"), HasSubstr("needs quotes"));
  EXPECT_THAT(Complaint("age in [30 40]"), HasSubstr("expected ','"));
  EXPECT_THAT(Complaint("age in [30,40"), HasSubstr("expected ']'"));
  EXPECT_THAT(Complaint("age = 30 xor sex = f"), HasSubstr("expected 'and', 'or' or the end"));
  EXPECT_THAT(Complaint("education = Some college"), HasSubstr("needs quotes"));
  EXPECT_THAT(Complaint("word = and"), HasSubstr("the word and needs quotes"));
  EXPECT_THAT(Complaint("name = 'open"), HasSubstr("not closed"));
  EXPECT_THAT(Complaint("age = 30 and"), HasSubstr("expected an attribute"));
  EXPECT_THAT(Complaint("age \x1b[31m"), AllOf(HasSubstr("needs quotes"), ::testing::Not(HasSubstr("\x1b"))));
  EXPECT_THAT(Complaint("a = \xff"), HasSubstr("UTF-8"));
  EXPECT_THAT(Complaint(std::string(kLongestWhere + 1, 'a')), HasSubstr("limited"));
}

TEST(Where, ManyConditionsNeedNoDepth) {
  std::string text = "a = 1";
  while (text.size() + 10 < kLongestWhere) text += " and a = 1";
  EXPECT_GT(ParseWhere(text)->predicate.all_of_size(), 6000);
}

int LevelsOf(const v1::Expression& expression) {
  if (expression.has_not_()) return 1 + LevelsOf(expression.not_());
  int deepest = 0;
  for (const v1::Expressions* operands : {&expression.all_of(), &expression.any_of()}) {
    for (const v1::Expression& operand : operands->expressions())
      deepest = std::max(deepest, LevelsOf(operand));
  }
  return 1 + deepest;
}

// Each parenthesis in the deepest way that it can hold conditions; the server reads 40 levels.
TEST(Where, WhatIsReadIsAtMostAsDeepAsAServerReads) {
  const auto nested = [](const std::string& open, int times) {
    std::string text = "a not in {1} and a = 1 or a = 1";
    for (int i = 0; i < times; ++i)
      text = open + text + (open.ends_with('(') ? ")" : "") + " and a = 1 or a = 1";
    return text;
  };
  const auto deepest = ParseWhere(nested("(", kDeepestWhere));
  ASSERT_TRUE(deepest.ok()) << deepest.status();
  EXPECT_EQ(LevelsOf(deepest->predicate.expression()), 2 * kDeepestWhere + 4);
  EXPECT_LE(2 * kDeepestWhere + 4, 40);
  EXPECT_TRUE(ParseWhere(nested("not (", kDeepestWhere / 2)).ok());
  EXPECT_THAT(Complaint(nested("(", kDeepestWhere + 1)), HasSubstr("inside of 16"));
  EXPECT_THAT(Complaint(nested("not (", kDeepestWhere / 2 + 1)), HasSubstr("inside of 16"));
  EXPECT_THAT(Complaint(std::string(kLongestWhere, '(')), HasSubstr("inside of 16"));
  std::string nots;
  while (nots.size() + 4 <= kLongestWhere) nots += "not ";
  EXPECT_THAT(Complaint(nots), HasSubstr("inside of 16"));
}

TEST(Thresholds, ReadNumbersAndConditions) {
  const auto parsed =
      ParseThresholds("at least 1,2 of each 3 of (age >= 65, smoker = yes, zone in {1,2}, sex = f)");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_THAT(parsed->at_least, ::testing::ElementsAre(1, 2));
  EXPECT_EQ(parsed->each, 3);
  EXPECT_EQ(parsed->conditions.size(), 4u);
  EXPECT_EQ(ParseThresholds("at least 2 of (a = 1, b = 2)")->each, 0);
  const auto compared =
      ParseThresholds("at least 2 of (age > 65, sex != f, zone in (1, 2), weight is missing)");
  ASSERT_TRUE(compared.ok()) << compared.status();
  EXPECT_EQ(compared->conditions[0].compare().operator_(), v1::Comparison::GREATER);
  EXPECT_EQ(compared->conditions[1].compare().operator_(), v1::Comparison::NOT_EQUAL);
  EXPECT_TRUE(compared->conditions[3].is_missing());
}

TEST(Thresholds, MistakesAreNamed) {
  for (const char* text :
       {"", "2 of (a = 1)", "at least of (a = 1)", "at least -1 of (a = 1)", "at least 2 (a = 1)",
        "at least 2 of a = 1", "at least 2 of (a = 1", "at least 2 of (a = 1) b",
        "at least 2 of each of (a = 1)", "at least 99999999999 of (a = 1)", "at least 1 of (not a = 1)",
        "at least 1 of (a not in {1})", "at least 1 of (a is not missing)",
        "at least 1 of (a = 1 or b = 2)"}) {
    const auto parsed = ParseThresholds(text);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr("^")) << text;
  }
}

TEST(WhereEnds, AreThoseThatTheBinsCanMean) {
  v1::Schema schema;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  R"({"attributes":[{"name":"age","integer":{"min":17,"max":90}},
                                    {"name":"income","numeric":{"edges":[0,1000,20000]}},
                                    {"name":"zone","coded":{"size":5}}]})",
                  &schema)
                  .ok());
  const auto ends = [&](const std::string& text) {
    ParsedWhere parsed = ParseWhere(text).value();
    return CheckEnds(parsed, schema);
  };
  EXPECT_TRUE(ends("age in [30,40] and income in [0,1000)").ok());
  EXPECT_TRUE(ends("age <= 40 and income < 1000").ok());
  EXPECT_TRUE(ends("income in [1000,20000]").ok()) << "the last bin is closed";
  EXPECT_TRUE(ends("income >= 1000 and age in [30,]").ok());
  EXPECT_TRUE(ends("elsewhere in [1,2)").ok()) << "the server knows near misses";
  EXPECT_THAT(std::string(ends("age in [30,40)").message()), AllOf(HasSubstr("age"), HasSubstr("']'")));
  EXPECT_THAT(std::string(ends("income <= 1000").message()), AllOf(HasSubstr("income"), HasSubstr("1000)")));
  EXPECT_THAT(std::string(ends("zone < 3").message()), AllOf(HasSubstr("zone"), HasSubstr("'<='")));
  EXPECT_FALSE(ends("age >= 20 or not (income between 0 and 1000)").ok());
  EXPECT_FALSE(ends("age < 20 or zone in {1} or (zone = 2 and income <= 1000)").ok());
  EXPECT_TRUE(
      ends("income < 1000 or age in [30,40] or (age is missing and income between 0 and 20000)").ok());
}

TEST(WhereEnds, BelowAnIntegerOrAnOrderedCategoryIsAComparison) {
  v1::Schema schema;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  R"({"attributes":[{"name":"age","integer":{"min":17,"max":90}},
                                    {"name":"grade","categorical":{"values":["low","high"],"ordered":true}}]})",
                  &schema)
                  .ok());
  ParsedWhere parsed = ParseWhere("age < 40 and grade < high and age <= 30").value();
  ASSERT_TRUE(CheckEnds(parsed, schema).ok());
  EXPECT_EQ(JsonOf(parsed.predicate.all_of(0)),
            "{\"attribute\":\"age\",\"compare\":{\"operator\":\"LESS\",\"value\":\"40\"}}\n");
  EXPECT_EQ(JsonOf(parsed.predicate.all_of(1)),
            "{\"attribute\":\"grade\",\"compare\":{\"operator\":\"LESS\",\"value\":\"high\"}}\n");
  EXPECT_EQ(JsonOf(parsed.predicate.all_of(2)), "{\"attribute\":\"age\",\"between\":{\"to\":\"30\"}}\n");
}

// The upper end as it is sent, or the reason why it is not.
std::string SentEndOfDates(const std::string& text) {
  v1::Schema schema;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(
                  R"({"attributes":[{"name":"visit","missing":{"bin":"unknown"},
                      "date":{"from":"2019-01-15","to":"2019-12-31","bins":"QUARTER"}}]})",
                  &schema)
                  .ok());
  ParsedWhere parsed = ParseWhere(text).value();
  const absl::Status status = CheckEnds(parsed, schema);
  return status.ok() ? parsed.predicate.all_of(0).between().to().string_value()
                     : std::string(status.message());
}

TEST(WhereEnds, OfDatesThatAreExcludedAreSentAsTimes) {
  EXPECT_EQ(SentEndOfDates("visit <= 2019-06-30"), "2019-06-30");
  EXPECT_EQ(SentEndOfDates("visit in [2019-Q1, 2019-Q2]"), "2019-Q2");
  EXPECT_EQ(SentEndOfDates("visit < 2019-07-01"), "2019-07-01T00:00:00");
  EXPECT_EQ(SentEndOfDates("visit in [2019-04-01,' 2019-07-01 ')"), "2019-07-01T00:00:00");
  EXPECT_EQ(SentEndOfDates("visit < 2019-07-01T06:30"), "2019-07-01T06:30:00");
  EXPECT_EQ(SentEndOfDates("visit < 2019-Q3"), "2019-07-01T00:00:00");
  EXPECT_EQ(SentEndOfDates("visit < 2019-Q1"), "2019-01-15T00:00:00");
  EXPECT_THAT(SentEndOfDates("visit <= 2019-07-01T06:30"), HasSubstr("write '2019-07-01T06:30)'"));
  EXPECT_THAT(SentEndOfDates("visit < unknown"), HasSubstr("\"unknown\" is no day"));
  EXPECT_THAT(SentEndOfDates("visit < 2020-Q3"), HasSubstr("\"2020-Q3\" is no day"));
}

}  // namespace
}  // namespace curator::cli
