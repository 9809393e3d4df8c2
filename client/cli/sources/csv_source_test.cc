#include "client/cli/sources/csv_source.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <iterator>

namespace curator::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

v1::Schema SchemaOf(const std::string& json) {
  v1::Schema schema;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &schema).ok());
  return schema;
}

TEST(CsvFormTest, HasTheColumnsThatTheSchemaReadsAndTheirForm) {
  const CsvForm form = CsvFormOf(SchemaOf(R"({
    "unit": {"person": {"idColumn": "pid", "maxRecords": 2}},
    "nesting": {"groupColumn": "ward"},
    "format": {"separator": ";"},
    "attributes": [{"name": "age"}, {"name": "sex", "reading": {"column": "Geschlecht"}},
                   {"name": "cost", "reading": {"column": "Kosten", "decimalSign": ","}}]})"));
  EXPECT_THAT(form.columns, ElementsAre("pid", "ward", "age", "Geschlecht", "Kosten"));
  EXPECT_THAT(form.decimal_commas, UnorderedElementsAre("Kosten"));
  EXPECT_EQ(form.separator, ';');
}

TEST(CsvFormTest, HasTheColumnsOfMeasuresBehindThoseOfAttributes) {
  const CsvForm form = CsvFormOf(SchemaOf(R"({
    "attributes": [{"name": "age"}, {"name": "cost", "reading": {"decimalSign": ","}}],
    "measures": [{"name": "cost", "reading": {"decimalSign": ","}}, {"name": "hours"},
                 {"name": "wage", "reading": {"column": "Lohn", "decimalSign": ","}}]})"));
  EXPECT_THAT(form.columns, ElementsAre("age", "cost", "hours", "Lohn"));
  EXPECT_THAT(form.decimal_commas, UnorderedElementsAre("cost", "Lohn"));
}

TEST(CsvFormTest, AGroupColumnThatIsTheIdColumnComesOnce) {
  const CsvForm form = CsvFormOf(SchemaOf(R"({"unit": {"group": {"idColumn": "ward"}},
    "nesting": {"groupColumn": "ward"}, "attributes": [{"name": "age"}]})"));
  EXPECT_THAT(form.columns, ElementsAre("ward", "age"));
}

TEST(CsvLinesTest, QuotesWhatASeparatorAQuoteALineEndOrABlankIsIn) {
  CsvLines lines({.separator = ';'}, {"a;b", "c,d"}, {CellType::kText, CellType::kText});
  for (const char* const cell : {"x;y", "say \"hi\"", "two\nlines", " blank", "plain", ""}) {
    lines.AppendCell(cell);
  }
  EXPECT_EQ(lines.Take(), "\"a;b\";c,d\n\"x;y\";\"say \"\"hi\"\"\"\n\"two\nlines\";\" blank\"\nplain;\n");
  EXPECT_EQ(lines.Take(), "");
}

TEST(CsvLinesTest, AMissingValueThatIsTheWholeLineIsStillARow) {
  CsvLines lines({}, {"a"}, {CellType::kNumber});
  lines.AppendNull();
  lines.AppendCell("1");
  EXPECT_EQ(lines.Take(), "a\n\"\"\n1\n");
}

TEST(CsvLinesTest, NumbersHaveTheDecimalSignThatTheSchemaReadsAndTextsStayAsTheyAre) {
  CsvLines lines({.separator = ';', .columns = {}, .decimal_commas = {"a", "b"}}, {"a", "b", "c"},
                 {CellType::kNumber, CellType::kText, CellType::kNumber});
  for (const char* const cell : {"1.5", "1.5", "1.5"}) lines.AppendCell(cell);
  EXPECT_EQ(lines.Take(), "a;b;c\n1,5;1.5;1.5\n");
}

TEST(CsvLinesTest, BooleansAndTimesWithAZoneAreWrittenOut) {
  CsvLines lines({}, {"a", "b", "c"}, {CellType::kBoolean, CellType::kBoolean, CellType::kInstant});
  for (const char* const cell : {"t", "false", "2019-03-31 12:30:00+00"}) lines.AppendCell(cell);
  EXPECT_EQ(lines.Take(), "a,b,c\ntrue,false,\"2019-03-31 12:30:00+00:00\"\n");
}

// Gives these pieces, and then the status.
class ScriptedSource final : public CsvSource {
 public:
  ScriptedSource(std::vector<std::string> pieces, absl::Status end)
      : pieces_(std::move(pieces)), end_(std::move(end)) {}
  absl::StatusOr<std::string> NextLines() override {
    if (next_ < pieces_.size()) return pieces_[next_++];
    if (!end_.ok()) return end_;
    return std::string();
  }

 private:
  const std::vector<std::string> pieces_;
  const absl::Status end_;
  size_t next_ = 0;
};

TEST(CsvStreamTest, HasTheBytesOfAllPieces) {
  CsvStream stream(
      std::make_unique<ScriptedSource>(std::vector<std::string>{"a\n", "1\n2\n"}, absl::OkStatus()));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), "a\n1\n2\n");
  EXPECT_TRUE(stream.status().ok());
}

TEST(CsvStreamTest, AnErrorOfTheSourceIsNoEndOfTheFile) {
  CsvStream stream(
      std::make_unique<ScriptedSource>(std::vector<std::string>{"a\n"}, absl::AbortedError("lost")));
  char bytes[16];
  stream.read(bytes, sizeof(bytes));
  EXPECT_TRUE(stream.bad());
  EXPECT_EQ(stream.status(), absl::AbortedError("lost"));
}

TEST(CsvStreamTest, CannotSeek) {
  CsvStream stream(std::make_unique<ScriptedSource>(std::vector<std::string>{"a\n"}, absl::OkStatus()));
  EXPECT_EQ(stream.tellg(), std::istream::pos_type(-1));
}

}  // namespace
}  // namespace curator::cli
