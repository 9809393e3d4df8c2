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

// Each condition in proto JSON, a line each.
std::string Read(const std::string& text) {
  const auto parsed = ParseWhere(text);
  if (!parsed.ok()) return std::string(parsed.status().message());
  std::string lines;
  for (const v1::Condition& condition : parsed->conditions) {
    std::string json;
    EXPECT_TRUE(google::protobuf::util::MessageToJsonString(condition, &json).ok());
    lines += json + "\n";
  }
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
      std::string json;
      ASSERT_TRUE(google::protobuf::util::MessageToJsonString(proto, &json).ok());
      meant += json + "\n";
    }
    EXPECT_EQ(Read(each.at("text")), meant) << each.at("text");
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
  EXPECT_EQ(Complaint("age in (30,40)"),
            "expected '[' with an interval or '{' with a set after 'in'\n"
            "  age in (30,40)\n"
            "         ^");
  EXPECT_EQ(
      Complaint("größe is 3"),
      "expected 'in', '=', '>=', '<=' or '<' after the attribute größe (a text with blanks needs quotes)\n"
      "  größe is 3\n"
      "        ^");
}

TEST(Where, EveryKindOfMistakeIsNamed) {
  EXPECT_THAT(Complaint(""), HasSubstr("expected an attribute"));
  EXPECT_THAT(Complaint("age in {}"), HasSubstr("expected a value"));
  EXPECT_THAT(Complaint("age in {1,}"), HasSubstr("expected a value"));
  EXPECT_THAT(Complaint("age in {1 2}"), HasSubstr("expected '}'"));
  EXPECT_THAT(Complaint("age in [30;40]"), HasSubstr("needs quotes"));
  EXPECT_THAT(Complaint("age in [30 40]"), HasSubstr("expected ','"));
  EXPECT_THAT(Complaint("age in [30,40"), HasSubstr("expected ']'"));
  EXPECT_THAT(Complaint("age > 30"), HasSubstr("write '>='"));
  EXPECT_THAT(Complaint("age = 30 or sex = f"), HasSubstr("expected 'and' or the end"));
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
  EXPECT_GT(ParseWhere(text)->conditions.size(), 6000u);
}

TEST(Thresholds, ReadNumbersAndConditions) {
  const auto parsed =
      ParseThresholds("at least 1,2 of each 3 of (age >= 65, smoker = yes, zone in {1,2}, sex = f)");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_THAT(parsed->at_least, ::testing::ElementsAre(1, 2));
  EXPECT_EQ(parsed->each, 3);
  EXPECT_EQ(parsed->conditions.conditions.size(), 4u);
  EXPECT_EQ(ParseThresholds("at least 2 of (a = 1, b = 2)")->each, 0);
}

TEST(Thresholds, MistakesAreNamed) {
  for (const char* text :
       {"", "2 of (a = 1)", "at least of (a = 1)", "at least -1 of (a = 1)", "at least 2 (a = 1)",
        "at least 2 of a = 1", "at least 2 of (a = 1", "at least 2 of (a = 1) b",
        "at least 2 of each of (a = 1)", "at least 99999999999 of (a = 1)"}) {
    const auto parsed = ParseThresholds(text);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr("^")) << text;
  }
}

TEST(WhereEnds, AreThoseThatTheBinsCanMean) {
  v1::Schema schema;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  R"({"attributes":[{"name":"age","integer":{"min":17,"max":90}},
                                    {"name":"income","numeric":{"edges":[0,1000,20000]}}]})",
                  &schema)
                  .ok());
  const auto ends = [&](const std::string& text) {
    ParsedConditions parsed = ParseWhere(text).value();
    return CheckEnds(parsed, schema);
  };
  EXPECT_TRUE(ends("age in [30,40] and income in [0,1000)").ok());
  EXPECT_TRUE(ends("age <= 40 and income < 1000").ok());
  EXPECT_TRUE(ends("income in [1000,20000]").ok()) << "the last bin is closed";
  EXPECT_TRUE(ends("income >= 1000 and age in [30,]").ok());
  EXPECT_TRUE(ends("elsewhere in [1,2)").ok()) << "the server knows near misses";
  EXPECT_THAT(std::string(ends("age in [30,40)").message()), AllOf(HasSubstr("age"), HasSubstr("']'")));
  EXPECT_THAT(std::string(ends("income <= 1000").message()), AllOf(HasSubstr("income"), HasSubstr("1000)")));
}

// The upper end as it is sent, or the reason why it is not.
std::string SentEndOfDates(const std::string& text) {
  v1::Schema schema;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(
                  R"({"attributes":[{"name":"visit","missing":{"bin":"unknown"},
                      "date":{"from":"2019-01-15","to":"2019-12-31","bins":"QUARTER"}}]})",
                  &schema)
                  .ok());
  ParsedConditions parsed = ParseWhere(text).value();
  const absl::Status status = CheckEnds(parsed, schema);
  return status.ok() ? parsed.conditions[0].between().to().string_value() : std::string(status.message());
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
