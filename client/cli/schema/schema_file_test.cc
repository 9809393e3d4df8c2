#include "client/cli/schema/schema_file.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

namespace curator::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SchemaFiles, IsReadInProtosJsonForm) {
  const auto schema = ParseSchemaFile(
      R"({"attributes":[{"name":"age","integer":{"min":17,"max":90,"binWidth":5}}],
          "unit":{"person":{"idColumn":"pid","maxRecords":3}}})",
      "a.json");
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(schema->schema.attributes(0).integer().bin_width(), 5);
  EXPECT_EQ(schema->schema.unit().person().id_column(), "pid");
}

std::string ErrorOfSchema(const std::string& json) {
  const auto schema = ParseSchemaFile(json, "a.json");
  EXPECT_EQ(schema.status().code(), absl::StatusCode::kInvalidArgument) << json;
  return std::string(schema.status().message());
}

TEST(SchemaFiles, ASyntaxErrorSaysItsLine) {
  EXPECT_THAT(ErrorOfSchema("{\"attributes\":\n [}"), AllOf(HasSubstr("a.json"), HasSubstr("line 2")));
  EXPECT_THAT(ErrorOfSchema("age: integer"), HasSubstr("not JSON"));
}

TEST(SchemaFiles, ANumberThatNoDoubleHoldsIsRefused) {
  EXPECT_THAT(ErrorOfSchema(R"({"attributes": [{"name": "age", "numeric": {"edges": [0, 1e999]}}]})"),
              AllOf(HasSubstr("not JSON"), HasSubstr("1e999")));
}

TEST(SchemaFiles, AFieldThatASchemaDoesNotHaveIsNamed) {
  EXPECT_THAT(ErrorOfSchema(R"({"attributes":[{"name":"age","integer":{"binWidht":5}}]})"),
              AllOf(HasSubstr("a.json"), HasSubstr("binWidht")));
  EXPECT_THAT(ErrorOfSchema(R"({"attributes":[{"name":"age","integer":{"min":"x"}}]})"), HasSubstr("min"));
  EXPECT_THAT(ErrorOfSchema(R"([1, 2])"), HasSubstr("not a schema"));
}

TEST(SchemaFiles, CommentsAreLeftOutAndSlashesInTextsAreKept) {
  const auto file = ParseSchemaFile(R"(// a "quoted comment
{"attributes": [ // {"name": "no"},
  {"name": "a//b \" // c", "coded": {"size": 7}} // the last one
]}
//)",
                                    "a.json");
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->schema.attributes_size(), 1);
  EXPECT_EQ(file->schema.attributes(0).name(), "a//b \" // c");
}

TEST(SchemaFiles, ACommentChangesNoPlaceOfAnError) {
  EXPECT_THAT(ErrorOfSchema("// one\n{ // two\n \"attributes\": ?}"), HasSubstr("line 3, column 16"));
  EXPECT_THAT(ErrorOfSchema("{\"attributes\": / 1}"), HasSubstr("not JSON"));
}

TEST(SchemaFiles, LooksAreReadBesideTheSchema) {
  const std::string hash(64, 'a');
  const auto file = ParseSchemaFile(R"({"domainFromRecords": true, "looks": [{"sha256": ")" + hash +
                                        R"(", "time": "2026-11-28T04:00:00Z", "acceptedDomain": true}]})",
                                    "a.json");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(file->schema.domain_from_records());
  ASSERT_EQ(file->looks.size(), 1u);
  EXPECT_EQ(file->looks[0].content_hash(), std::string(32, '\xAA'));
  EXPECT_EQ(file->looks[0].time().seconds(), 1795838400);
  EXPECT_TRUE(file->looks[0].accepted_domain());
}

TEST(SchemaFiles, ALookThatIsNotOneIsRefused) {
  const std::string good = R"("sha256": ")" + std::string(64, 'a') + R"(", "time": "2026-11-28T04:00:00Z")";
  EXPECT_TRUE(ParseSchemaFile("{\"looks\": [{" + good + "}]}", "a.json").ok());
  const std::vector<std::string> wrong = {
      "{" + good + "}",
      "[1]",
      "[{" + good + ", \"who\": 1}]",
      "[{" + good + ", \"acceptedDomain\": 1}]",
      "[{}]",
      R"([{"sha256": "aa", "time": "2026-11-28T04:00:00Z"}])",
      R"([{"time": "yesterday", "sha256": ")" + std::string(64, 'a') + "\"}]"};
  for (const std::string& looks : wrong) {
    EXPECT_THAT(ErrorOfSchema("{\"looks\": " + looks + "}"), AllOf(HasSubstr("a.json"), HasSubstr("looks")));
  }
}

TEST(SchemaFiles, ADomainFromRecordsIsNotTakenBack) {
  const std::string look = R"({"looks": [{"sha256": ")" + std::string(64, 'a') +
                           R"(", "time": "2026-11-28T04:00:00Z", "acceptedDomain": true}])";
  EXPECT_THAT(ErrorOfSchema(look + "}"), HasSubstr("\"domainFromRecords\" must be true"));
  EXPECT_TRUE(ParseSchemaFile(look + ", \"domainFromRecords\": true}", "a.json").ok());
}

v1::Schema SchemaOf(const std::string& attributes) {
  const auto file = ParseSchemaFile("{\"attributes\": [" + attributes + "]}", "a.json");
  EXPECT_TRUE(file.ok()) << file.status();
  return file->schema;
}

TEST(SchemaFiles, WhatIsNotFilledInIsRefusedWithItsNamesAndTheWayOut) {
  const absl::Status refused =
      CheckFilled(SchemaOf(R"({"name": "a"}, {"name": "b", "integer": {}}, {"name": "c", "numeric": {}},
                              {"name": "d", "categorical": {"catchAll": "x"}}, {"name": "e", "date": {}},
                              {"name": "f", "coded": {}}, {"name": "full", "coded": {"size": 2}})"),
                  "a.json");
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(refused.message()),
      AllOf(HasSubstr("6 attributes are not filled in"), HasSubstr("\"a\" (no kind)"),
            HasSubstr("\"b\" (integer, without min and max)"), HasSubstr("\"c\" (numeric, "),
            HasSubstr("\"d\" (categorical, "), HasSubstr("\"e\" (date, "), HasSubstr("\"f\" (coded, "),
            HasSubstr("curator schema edit a.json"), Not(HasSubstr("full"))));
}

TEST(SchemaFiles, OnlyTheFirstUnfilledAttributesAreNamed) {
  std::string attributes = R"({"name": "x"})";
  for (int i = 0; i < 20; ++i) attributes += R"(, {"name": "y"})";
  EXPECT_THAT(std::string(CheckFilled(SchemaOf(attributes), "a.json").message()), HasSubstr("and 13 more"));
}

TEST(SchemaFiles, WhatIsFilledInIsAccepted) {
  EXPECT_TRUE(
      CheckFilled(SchemaOf(R"({"name": "a", "integer": {"max": 4}}, {"name": "b", "integer": {"min": -4}},
                                      {"name": "c", "numeric": {"edges": [0, 1]}})"),
                  "a.json")
          .ok());
}

TEST(SchemaFiles, ConstraintsAreWrittenAndReadAgain) {
  const auto file = ParseSchemaFile(
      R"({"attributes": [{"name": "a", "coded": {"size": 2}}, {"name": "b", "coded": {"size": 2}}],
          "constraints": [{"order": {"lower": "a", "upper": "b"}},
                          {"order": {"lower": "b", "upper": "a", "strict": true}},
                          {"allowedPairs": {"attributes": ["a", "b"], "pairs": [{"values": ["0", "1"]}]}}]})",
      "a.json");
  ASSERT_TRUE(file.ok()) << file.status();
  const std::string text = TextOf(*file);
  EXPECT_THAT(text, HasSubstr(R"({"order": {"lower": "a", "upper": "b"}})"));
  const auto again = ParseSchemaFile(text, "a.json");
  ASSERT_TRUE(again.ok()) << again.status() << text;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(again->schema.constraints(i),
                                                                   file->schema.constraints(i)))
        << text;
  }
}

TEST(SchemaFiles, MeasuresAreWrittenAndReadAgain) {
  const auto file = ParseSchemaFile(
      R"({"attributes": [{"name": "a", "coded": {"size": 2}}],
          "measures": [{"name": "income", "low": 0, "high": 2e5, "resolution": 100},
                       {"name": "x", "low": -0.5, "high": 0.5, "resolution": 0.1, "missing": {"tokens": ["", "?"]},
                        "reading": {"column": "X", "decimalSign": ","}}]})",
      "a.json");
  ASSERT_TRUE(file.ok()) << file.status();
  const std::string text = TextOf(*file);
  EXPECT_THAT(text, HasSubstr(R"({"name": "income", "low": 0, "high": 200000, "resolution": 100})"));
  const auto again = ParseSchemaFile(text, "a.json");
  ASSERT_TRUE(again.ok()) << again.status() << text;
  EXPECT_TRUE(
      google::protobuf::util::MessageDifferencer::Equals(again->schema.measures(1), file->schema.measures(1)))
      << text;
}

TEST(SchemaFiles, WhatIsWrittenIsReadAgain) {
  auto file = ParseSchemaFile(
      R"({"attributes": [
            {"name": "sex", "categorical": {"values": ["F", "M, \"x\": //"], "catchAll": "?", "ordered": true},
             "missing": {"tokens": ["", "-9"], "bin": "none"},
             "reading": {"column": "Sex", "foldCase": true, "synonyms": [{"value": "F", "texts": ["w", "f."]}]}},
            {"name": "age", "integer": {"min": -9007199254740993, "max": 120, "binWidth": 5}},
            {"name": "pay", "numeric": {"edges": [-1e300, 0.1, 5000]},
             "reading": {"decimalSign": ",", "thousandsSeparator": "."}},
            {"name": "score", "numeric": {"min": 0, "max": 1, "step": 0.001}, "missing": {}},
            {"name": "zone", "coded": {"size": 7}},
            {"name": "day", "date": {"from": "2019-01-01", "to": "2020-01-01", "bins": "WEEK", "timeZone": "UTC"},
             "reading": {"dateFormats": ["DD.MM.YYYY"]}},
            {"name": "time", "date": {"edges": ["2019-01-01", "2020-01-01"]}}],
          "unit": {"group": {"idColumn": "school", "maxRecords": 4}},
          "nesting": {"groupColumn": "school", "response": "pay", "maxGroupSize": 9, "groupAttributes": ["zone", "sex"]},
          "format": {"separator": "\t"}, "domainFromRecords": true,
          "looks": [{"sha256": ")" +
          std::string(64, 'b') + R"(", "time": "2026-11-28T04:00:00Z"}]})",
      "a.json");
  ASSERT_TRUE(file.ok()) << file.status();
  const auto again = ParseSchemaFile(TextOf(*file), "b.json");
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << TextOf(*file);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(again->schema, file->schema))
      << TextOf(*file);
  ASSERT_EQ(again->looks.size(), 1u);
  EXPECT_EQ(again->looks[0].SerializeAsString(), file->looks[0].SerializeAsString());
}

}  // namespace
}  // namespace curator::cli
