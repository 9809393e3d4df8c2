#include "client/cli/schema/edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "rpc/convert_attribute.h"

namespace curator::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Edit : public ::testing::Test {
 protected:
  Edit() {
    schema_.add_attributes()->set_name("a");
    schema_.add_attributes()->set_name("b");
  }
  // Whether all was answered by these lines.
  bool Answer(const std::string& lines) {
    std::istringstream in(lines);
    std::ostringstream out;
    const EditEnd end = EditSchema(schema_, in, out);
    out_ = out.str();
    return end == EditEnd::kAllAnswered;
  }
  std::string At(int i) const { return JsonOf(schema_.attributes(i)); }

  v1::Schema schema_;
  std::string out_;
};

TEST_F(Edit, EachKindIsFilledInByItsQuestions) {
  v1::Schema five;
  for (const char* const name : {"sex", "age", "pay", "day", "zone"}) five.add_attributes()->set_name(name);
  schema_ = five;
  EXPECT_TRUE(
      Answer("categorical\nF | M\nF = female, w|M=male\nother\nno\nyes\nbin unknown\n\n"
             "integer\n0 119 10\n-\nreject\n\"\" | k.A.\n"
             "numeric\n0 5000 by 250\n,.\nbin\n\n"
             "date\n2019-01-01 2024-12-31 by month\nEurope/Berlin\nDD.MM.YYYY | MM/DD/YYYY\nno\n"
             "coded\n7\n-\n\n"
             "person pid 3\n"))
      << out_;
  EXPECT_EQ(At(0), R"({"name": "sex", "categorical": {"values": ["F", "M"], "catchAll": "other"}, )"
                   R"("missing": {"bin": "unknown"}, "reading": {"foldCase": true, "synonyms": [)"
                   R"({"value": "F", "texts": ["female", "w"]}, {"value": "M", "texts": ["male"]}]}})");
  EXPECT_EQ(At(1), R"({"name": "age", "integer": {"min": 0, "max": 119, "binWidth": 10}, )"
                   R"("missing": {"tokens": ["", "k.A."]}})");
  EXPECT_EQ(At(2),
            R"({"name": "pay", "numeric": {"min": 0, "max": 5000, "step": 250}, )"
            R"("missing": {"bin": "missing"}, "reading": {"decimalSign": ",", "thousandsSeparator": "."}})");
  EXPECT_EQ(At(3), R"({"name": "day", "date": {"from": "2019-01-01", "to": "2024-12-31", "bins": "MONTH", )"
                   R"("timeZone": "Europe/Berlin"}, )"
                   R"("reading": {"dateFormats": ["DD.MM.YYYY", "MM/DD/YYYY"]}})");
  EXPECT_EQ(At(4), R"({"name": "zone", "coded": {"size": 7}})");
  EXPECT_EQ(JsonOf(schema_.unit()), R"({"person": {"idColumn": "pid", "maxRecords": 3}})");
  for (const v1::Attribute& attribute : schema_.attributes()) EXPECT_TRUE(rpc::FromProto(attribute).ok());
}

TEST_F(Edit, TheEndOfTheInputKeepsWhatWasAnswered) {
  EXPECT_FALSE(Answer("integer\n0 9"));
  EXPECT_EQ(At(0), R"({"name": "a", "integer": {"min": 0, "max": 9}})");
  EXPECT_EQ(At(1), R"({"name": "b"})");
  EXPECT_FALSE(Answer("quit\n"));
}

TEST_F(Edit, AnEmptyAnswerKeepsAndALessThanGoesBack) {
  EXPECT_FALSE(Answer("integer\n0 9\n<\n<\nnumeric\n0 1 2\n\n\ncoded\n<\n<\n<\n<\nquit\n"));
  EXPECT_EQ(At(0), R"({"name": "a", "numeric": {"edges": [0, 1, 2]}})");
  EXPECT_TRUE(Answer("\n\n\n\n\n4\n\n\n\n")) << out_;
  EXPECT_EQ(At(0), R"({"name": "a", "numeric": {"edges": [0, 1, 2]}})");
  EXPECT_EQ(At(1), R"({"name": "b", "coded": {"size": 4}})");
}

TEST_F(Edit, BackFromTheFirstQuestionAsksItAgain) {
  EXPECT_FALSE(Answer("<\n<\ninteger\n"));
  EXPECT_TRUE(schema_.attributes(0).has_integer());
}

TEST_F(Edit, AWrongAnswerIsExplainedAndAskedAgain) {
  EXPECT_FALSE(Answer("text\n\ninteger\nx y\n9\n1 5\n"));
  EXPECT_THAT(out_, AllOf(HasSubstr("one of categorical"), HasSubstr("needs an answer"),
                          HasSubstr("\"x\" is no integer"), HasSubstr("0 119 10")));
  EXPECT_EQ(At(0), R"({"name": "a", "integer": {"min": 1, "max": 5}})");
}

TEST_F(Edit, WhatTheServerWouldRefuseIsRefusedAtOnce) {
  EXPECT_FALSE(Answer("integer\n9 1\n\nno\n"));
  EXPECT_THAT(out_, HasSubstr("! integer.max"));
  EXPECT_FALSE(Answer("date\n2019-13-01 2020-01-01 by day\n\n\n\n"));
  EXPECT_THAT(out_, HasSubstr("! date.from"));
}

TEST_F(Edit, WhatIsWrittenBetweenSignsIsShownAgainAndAHyphenTakesItAway) {
  const std::string spellings = "F = female, w | M = male", tokens = "\"\" | k.A.";
  EXPECT_FALSE(Answer("categorical\nF | M\n" + spellings + "\n-\nno\nno\nreject\n" + tokens + "\n"));
  const std::string stored = At(0);
  EXPECT_FALSE(Answer("\n\n\n\n\n\n\n\n"));
  EXPECT_THAT(out_, AllOf(HasSubstr("[" + spellings + "]"), HasSubstr("[" + tokens + "]")));
  EXPECT_EQ(At(0), stored);
  EXPECT_FALSE(Answer("\n\n-\n\n\n\n\n-\n"));
  EXPECT_EQ(At(0), R"({"name": "a", "categorical": {"values": ["F", "M"]}, "missing": {}})");
}

TEST_F(Edit, SpellingsOfAValueThatIsNotListedAreRefused) {
  EXPECT_FALSE(Answer("categorical\nF | M\nfemale\nX = x\n-\nno\nno\nno\n"));
  EXPECT_THAT(out_, AllOf(HasSubstr("! write a value, =, and its other texts"), HasSubstr("\"X\"")));
  EXPECT_EQ(schema_.attributes(1).kind_case(), v1::Attribute::KIND_NOT_SET);
}

TEST_F(Edit, AColumnIsLeftOut) {
  EXPECT_FALSE(Answer("leave\n"));
  ASSERT_EQ(schema_.attributes_size(), 1);
  EXPECT_EQ(schema_.attributes(0).name(), "b");
}

TEST_F(Edit, AnotherKindKeepsMissingValuesAndNothingElseOfTheOldOne) {
  EXPECT_FALSE(
      Answer("date\n2019-01-01 2020-01-01 by day\n\nDD.MM.YYYY\nbin\n\n<\n<\n<\n<\n<\n<\n<\ninteger\n"));
  EXPECT_EQ(At(0), R"({"name": "a", "integer": {}, "missing": {"bin": "missing"}})") << out_;
}

constexpr char kUpToTheMeasures[] = "numeric\n0 9 by 1\n,.\nbin\n\ncoded\n1\n\n\nrecord\n";

TEST_F(Edit, MeasuresAreAskedForLastAndReadAsTheAttributeOfTheirName) {
  EXPECT_TRUE(Answer(std::string(kUpToTheMeasures) + "a 0 200000 by 100 | hours per week -1 80.5 by 0.5\n"))
      << out_;
  ASSERT_EQ(schema_.measures_size(), 2);
  EXPECT_EQ(JsonOf(schema_.measures(0)),
            R"({"name": "a", "low": 0, "high": 200000, "resolution": 100, "missing": {}, )"
            R"("reading": {"decimalSign": ",", "thousandsSeparator": "."}})");
  EXPECT_EQ(JsonOf(schema_.measures(1)),
            R"({"name": "hours per week", "low": -1, "high": 80.5, "resolution": 0.5})");
}

TEST_F(Edit, AMeasureKeepsWhatIsNotAskedForAndAHyphenTakesAllAway) {
  EXPECT_TRUE(Answer(std::string(kUpToTheMeasures) + "m 0 1 by 1\n"));
  schema_.mutable_measures(0)->mutable_missing()->add_tokens("none");
  EXPECT_TRUE(Answer("\n\n\n\n\n\n\n\n\n\nm 0 3 by 0.5\n")) << out_;
  EXPECT_THAT(out_, HasSubstr("[m 0 1 by 1]"));
  EXPECT_EQ(JsonOf(schema_.measures(0)),
            R"({"name": "m", "low": 0, "high": 3, "resolution": 0.5, "missing": {"tokens": ["none"]}})");
  EXPECT_TRUE(Answer("\n\n\n\n\n\n\n\n\n\n\n"));
  EXPECT_EQ(schema_.measures_size(), 1) << "an empty answer keeps them";
  EXPECT_TRUE(Answer("\n\n\n\n\n\n\n\n\n\n-\n"));
  EXPECT_TRUE(schema_.measures().empty());
}

TEST_F(Edit, AMeasureThatTheServerWouldRefuseIsExplainedAndAskedAgain) {
  EXPECT_TRUE(Answer(std::string(kUpToTheMeasures) +
                     "m 0 1\nm 0 x by 1\nm 5 1 by 1\nm 0.5 2 by 1\n<\nrecord\nm 0 1 by 1\n"));
  EXPECT_THAT(out_, AllOf(HasSubstr("! write the column, two bounds and the resolution"),
                          HasSubstr("! \"x\" is no number"), HasSubstr("! m: high: 1 is not above low, 5"),
                          HasSubstr("! m: low: must be a multiple of the resolution, 1")));
  EXPECT_EQ(schema_.measures_size(), 1);
}

TEST_F(Edit, AnIdColumnIsNoAttribute) {
  EXPECT_FALSE(Answer("coded\n1\n\n\ncoded\n1\n\n\nperson a 3\nperson pid 0\n"));
  EXPECT_THAT(out_, AllOf(HasSubstr("is an attribute, too"), HasSubstr("person pid 3")));
  EXPECT_FALSE(schema_.unit().has_person());
}

}  // namespace
}  // namespace curator::cli
