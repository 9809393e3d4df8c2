#include "client/cli/schema/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

namespace curator::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

SchemaFile UnfilledOf(const CsvHeader& header) {
  const auto file = UnfilledSchema(header, "people.csv");
  EXPECT_TRUE(file.ok()) << file.status();
  return file.value_or(SchemaFile());
}

TEST(Template, IsASchemaWhoseAttributesWaitForTheirKinds) {
  const std::string text = TemplateText(UnfilledOf({';', {"age", "", "a \"b\" // c"}}), "people.csv");
  EXPECT_THAT(text, HasSubstr("no record was read"));
  const auto file = ParseSchemaFile(text, "t.json");
  ASSERT_TRUE(file.ok()) << file.status() << "\n" << text;
  ASSERT_EQ(file->schema.attributes_size(), 2) << "a column without a name is left out";
  EXPECT_EQ(file->schema.attributes(1).name(), "a \"b\" // c");
  EXPECT_EQ(file->schema.format().separator(), ";");
  EXPECT_TRUE(file->schema.unit().has_record());
  EXPECT_THAT(std::string(CheckFilled(file->schema, "t.json").message()), HasSubstr("2 attributes"));
}

TEST(Template, EachLineOfAKindMakesAnAttributeOnceItsQuestionMarksAreReplaced) {
  const std::string text = TemplateText(UnfilledOf({',', {"a"}}), "people.csv");
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"categorical", R"(, "categorical": {"values": ["x", "y"], "catchAll": "z"})"},
      {"integer", R"(, "integer": {"min": 1, "max": 9, "binWidth": 3})"},
      {"numeric", R"(, "numeric": {"min": 0, "max": 1, "step": 0.5})"},
      {"date", R"(, "date": {"from": "2019-01-01", "to": "2020-01-01", "bins": "DAY"})"}};
  for (const auto& [kind, line] : kinds) {
    const std::regex commented("// , \"" + kind + "\": .*");
    ASSERT_TRUE(std::regex_search(text, commented)) << kind;
    const auto file = ParseSchemaFile(
        std::regex_replace(text, commented, line, std::regex_constants::format_first_only), "t.json");
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_TRUE(CheckFilled(file->schema, "t.json").ok()) << kind;
  }
}

TEST(Template, ALineWithItsQuestionMarksIsNoJson) {
  std::string text = TemplateText(UnfilledOf({',', {"a"}}), "people.csv");
  text.erase(text.find("// , \"integer\""), 3);
  EXPECT_THAT(std::string(ParseSchemaFile(text, "t.json").status().message()), HasSubstr("not JSON"));
}

TEST(Template, ANameThatNoAttributeMayHaveIsRefusedWithItsColumn) {
  const auto file = UnfilledSchema({',', {"a", "two\nlines"}}, "people.csv");
  EXPECT_THAT(std::string(file.status().message()), AllOf(HasSubstr("people.csv"), HasSubstr("column 2")));
  EXPECT_FALSE(UnfilledSchema({',', {"", ""}}, "people.csv").ok());
}

TEST(Template, ALineOfAMeasureMakesOne) {
  std::string text = TemplateText(UnfilledOf({',', {"a"}}), "people.csv");
  const std::string line = R"(// "measures": [{"name": ?, "low": ?, "high": ?, "resolution": ?}],)";
  const size_t at = text.find(line);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, line.size(), R"("measures": [{"name": "a", "low": 0, "high": 5, "resolution": 1}],)");
  const auto file = ParseSchemaFile(text, "t.json");
  ASSERT_TRUE(file.ok()) << file.status() << text;
  EXPECT_EQ(file->schema.measures_size(), 1);
}

TEST(Template, ALineEndInTheFilesNameEndsNoComment) {
  EXPECT_TRUE(ParseSchemaFile(TemplateText(UnfilledOf({',', {"a"}}), "x\n\"y"), "t.json").ok());
}

TEST(Template, SaysThatRecordsWereReadAndKeepsTheLook) {
  SchemaFile file = UnfilledOf({',', {"a", "b"}});
  file.schema.mutable_attributes(0)->mutable_integer();
  v1::OwnerLook& look = file.looks.emplace_back();
  look.set_content_hash(std::string(32, 'x'));
  look.mutable_time()->set_seconds(1795838400);
  std::string text = TemplateText(file, "people.csv");
  EXPECT_THAT(text, AllOf(HasSubstr("a look at its records"), Not(HasSubstr("no record was read"))));
  const auto again = ParseSchemaFile(text, "t.json");
  ASSERT_TRUE(again.ok()) << again.status() << text;
  ASSERT_EQ(again->looks.size(), 1u);
  EXPECT_EQ(again->looks[0].content_hash(), look.content_hash());
  EXPECT_THAT(std::string(CheckFilled(again->schema, "t.json").message()),
              HasSubstr("\"a\" (integer, without min and max)"));
  file.schema.set_domain_from_records(true);
  EXPECT_TRUE(ParseSchemaFile(TemplateText(file, "people.csv"), "t.json")->schema.domain_from_records());
  EXPECT_THAT(TemplateText(file, "people.csv"), HasSubstr("no guarantee covers"));
}

}  // namespace
}  // namespace curator::cli
