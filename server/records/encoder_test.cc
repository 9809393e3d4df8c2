#include "records/encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "records/csv_reader.h"
#include "records/testing/stored_datasets.h"

namespace curator::records {
namespace {

using ::testing::AllOf;
using testing::CodeRows;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::SexAge;

struct Outcome {
  absl::Status status;
  ImportReport report;
  CodeRows rows;
  std::vector<std::string> ids;
};

Outcome Encode(const dp::Schema& schema, std::string_view csv, const ImportOptions& options = {}) {
  Outcome outcome;
  RecordEncoder encoder(schema, options, [&](std::span<const uint32_t> codes, std::string_view id) {
    outcome.rows.emplace_back(codes.begin(), codes.end());
    outcome.ids.emplace_back(id);
    return absl::OkStatus();
  });
  CsvReader reader(encoder, schema.separator);
  outcome.status = reader.Append(csv);
  if (outcome.status.ok()) outcome.status = reader.Finish();
  outcome.report = encoder.report();
  return outcome;
}

TEST(RecordEncoder, FindsColumnsByNameAndIgnoresTheOthers) {
  const Outcome outcome = Encode(SexAge(), "note,age,,sex\nx,35,,M\ny,0.0,,\n");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.rows, (CodeRows{{1, 3}, {2, 0}}));
  EXPECT_THAT(outcome.report.ignored_columns, ElementsAre("note", ""));
  EXPECT_EQ(outcome.report.rows_read, 2);
  EXPECT_EQ(outcome.report.rows_accepted, 2);
}

TEST(RecordEncoder, CountsRejectedRowsAndKeepsTheFirstFew) {
  std::string csv = "sex,age\nM,35\nF,100\nF,\nF,x\n";
  for (int i = 0; i < 20; ++i) csv += "M,-1\n";
  const Outcome outcome = Encode(SexAge(), csv);
  ASSERT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.rows, (CodeRows{{1, 3}}));
  EXPECT_EQ(outcome.report.rows_read, 24);
  EXPECT_EQ(outcome.report.rows_accepted, 1);
  EXPECT_EQ(outcome.report.rows_rejected, 23);
  ASSERT_EQ(outcome.report.examples.size(), kMaxExamples);
  EXPECT_EQ(outcome.report.examples[0], (RejectedRow{3, "age", "is above the largest value, 99"}));
  EXPECT_EQ(outcome.report.examples[1], (RejectedRow{4, "age", "is empty"}));
  EXPECT_EQ(outcome.report.examples[2], (RejectedRow{5, "age", "is not an integer"}));
  EXPECT_EQ(outcome.report.examples[3], (RejectedRow{6, "age", "is below the smallest value, 0"}));
}

TEST(RecordEncoder, CountsEachCellThatRejectsItsRowInItsColumn) {
  const dp::Schema schema = SexAge(dp::PersonUnit{"pid", 2});
  const Outcome outcome = Encode(schema, "age,pid,sex\n200,,M\n5,a,M\nx,b,F\n300,c,M\n9,,F\n,d,M\n");
  EXPECT_EQ(outcome.report.rows_read, 6);
  EXPECT_EQ(outcome.report.rows_rejected, 5);
  EXPECT_THAT(outcome.report.rejections,
              ElementsAre(Rejection{"age", "is above the largest value, 99", 2, {2, 5}},
                          Rejection{"age", "is empty", 1, {7}}, Rejection{"age", "is not an integer", 1, {4}},
                          Rejection{"pid", "is empty", 2, {2, 6}}));
}

TEST(RecordEncoder, RejectsRowsOfOtherParts) {
  const Outcome outcome = Encode(SexAge(), "sex,age\nM,35\nF,7\nM,90\nF,100\n",
                                 {.only = PartRows{.part = "young", .attribute = 1, .bins = {0, 3}}});
  EXPECT_EQ(outcome.rows, (CodeRows{{1, 3}, {0, 0}}));
  EXPECT_EQ(outcome.report.rows_rejected, 2);
  EXPECT_EQ(outcome.report.examples[0], (RejectedRow{4, "age", "does not lie in the part \"young\""}));
  EXPECT_EQ(outcome.report.examples[1], (RejectedRow{5, "age", "is above the largest value, 99"}));
}

// "start" is at most "end", in bins of ten; "city" lies in "state".
dp::Schema Constrained() {
  const dp::Domain domain =
      dp::Domain::Create(
          {dp::Attribute::Create("start", dp::IntegerKind{0, 99, 10}).value(),
           dp::Attribute::Create("end", dp::IntegerKind{0, 99, 10}, dp::Missing{{}, "never"}).value(),
           dp::Attribute::Create("city", dp::CategoricalKind{{"Bonn", "Mainz"}, "other"}).value(),
           dp::Attribute::Create("state", dp::CategoricalKind{{"NW", "RP"}}).value()})
          .value();
  return dp::CreateSchema(domain
                              .WithConstraints({dp::OrderRule{.lower = 0, .upper = 1},
                                                dp::PairsRule{{2, 3}, {{0, 0}, {1, 1}}}})
                              .value(),
                          dp::RecordUnit{})
      .value();
}

constexpr char kConstrainedHeader[] = "start,end,city,state\n";

TEST(RecordEncoder, RejectsRowsThatBreakAConstraintAndGoesOn) {
  const Outcome outcome =
      Encode(Constrained(), absl::StrCat(kConstrainedHeader, "25,11,Bonn,NW\n5,80,Mainz,NW\n90,9,Bonn,RP\n",
                                         "x,9,Bonn,RP\n30,30,Mainz,RP\n"));
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.rows, (CodeRows{{3, 3, 1, 1}}));
  EXPECT_EQ(outcome.report.rows_rejected, 4);
  EXPECT_EQ(outcome.report.examples[0],
            (RejectedRow{2, "constraints[0]", "is broken: \"end\" is below \"start\""}));
  EXPECT_THAT(
      outcome.report.rejections,
      ElementsAre(
          Rejection{"start", "is not an integer", 1, {5}},
          Rejection{"constraints[0]", "is broken: \"end\" is below \"start\"", 2, {2, 4}},
          Rejection{"constraints[1]", "is broken: \"city\" and \"state\" are no allowed pair", 2, {3, 4}}));
}

TEST(RecordEncoder, ConstrainsBinsAndNoMissingOrOtherValues) {
  const Outcome outcome = Encode(
      Constrained(),
      absl::StrCat(kConstrainedHeader, "29,21,Bonn,NW\n99,NA,Bonn,NW\n", "1,1,Trier,NW\n1,1,Trier,RP\n"));
  EXPECT_EQ(outcome.report.rows_accepted, 4) << "of the same bin; missing; of a city that is not listed";
}

using Importer = std::function<CodeRows(const std::string& csv)>;

// The first file of some rows, in every order and of every length, that is imported as other rows than those
// of its rows that are imported alone; empty where there is none.
std::string FileWhoseRowsMoveEachOther(const Importer& import) {
  const std::array<std::string, 5> rows = {"25,11,Bonn,NW\n", "5,80,Mainz,NW\n", "30,30,Mainz,RP\n",
                                           "1,NA,Trier,NW\n", "90,9,Bonn,RP\n"};
  std::array<size_t, 5> order = {0, 1, 2, 3, 4};
  do {
    std::string csv = kConstrainedHeader;
    CodeRows expected;
    for (const size_t row : order) {
      csv += rows[row];
      const CodeRows alone = import(kConstrainedHeader + rows[row]);
      expected.insert(expected.end(), alone.begin(), alone.end());
      if (import(csv) != expected) return csv;
    }
  } while (std::ranges::next_permutation(order).found);
  return "";
}

TEST(RecordEncoder, ARowIsRejectedForWhatItIsWhateverTheOthersAre) {
  EXPECT_EQ(
      FileWhoseRowsMoveEachOther([](const std::string& csv) { return Encode(Constrained(), csv).rows; }), "");
}

// What it has stored says whether a forbidden row came before.
TEST(ConstraintsCanary, AnImportThatStopsAtAForbiddenRowIsCaught) {
  const Importer stops = [](const std::string& csv) {
    const Outcome outcome = Encode(Constrained(), csv);
    if (outcome.report.examples.empty()) return outcome.rows;
    CodeRows before = outcome.rows;
    before.resize(std::min(before.size(), static_cast<size_t>(outcome.report.examples[0].line) - 2));
    return before;
  };
  EXPECT_NE(FileWhoseRowsMoveEachOther(stops), "");
}

TEST(RecordEncoder, FailsTheWholeImportWhereNoRowMayBeDropped) {
  const Outcome outcome =
      Encode(SexAge(), "sex,age\nM,35\nF,100\n", {.outside_domain = OutsideDomain::kFailImport});
  EXPECT_EQ(
      FieldViolationOf(outcome.status),
      (FieldViolation{"csv",
                      "line 3: \"age\" is above the largest value, 99; this dataset drops no row, so the "
                      "whole file is refused"}));
}

TEST(RecordEncoder, NamesMissingAndRepeatedColumns) {
  EXPECT_EQ(Encode(SexAge(), "sex\nM\n").status.message(), "csv: the header lacks the column \"age\"");
  EXPECT_EQ(Encode(SexAge(dp::PersonUnit{"pid", 2}), "x\n1\n").status.message(),
            "csv: the header lacks the columns \"sex\", \"age\", \"pid\"");
  EXPECT_EQ(Encode(SexAge(), "sex,age,Age\nM,1,2\n").status, absl::OkStatus());
  EXPECT_EQ(Encode(SexAge(), "sex,age,note,note\n").status.message(),
            "csv: line 1: the header names \"note\" twice, as columns 3 and 4");
  EXPECT_EQ(Encode(SexAge(), "sex,age,sex\n").status.message(),
            "csv: line 1: the header names \"sex\" twice, as columns 1 and 3");
}

TEST(RecordEncoder, GuessesTheSeparatorOfAHeaderThatLacksItsColumns) {
  const auto said = [](const std::string& csv) {
    return std::string(Encode(SexAge(), csv).status.message());
  };
  EXPECT_EQ(
      said("sex;age;note\nM;35;x\n"),
      "csv: the header lacks the columns \"sex\", \"age\"; the header has the columns when it is split at "
      "\";\": write \"format\": {\"separator\": \";\"} in the schema");
  EXPECT_THAT(said("note, long; sex ;age\n"), HasSubstr("split at \";\""));
  EXPECT_THAT(said("\n\nsex;age"), HasSubstr("split at \";\""));
  for (const char* const header : {"sex;years\n", "\"sex\";\"years\"\n", "\"sex;age\"\n", "sex\n"})
    EXPECT_THAT(said(header), Not(HasSubstr("split"))) << header;
  EXPECT_EQ(said("sex,age\n\"M\";\"35\"\n"),
            "csv: line 2: a quote stands inside a field; quoted fields begin and end with one");
}

std::string Divided(std::string text, char separator) {
  std::replace(text.begin(), text.end(), '^', separator);
  return text;
}
std::string InJson(char separator) {
  return separator == '\t' ? "\\t" : std::string(1, separator);
}

TEST(RecordEncoder, TheGuessedSeparatorIsThatOfTheFileAndNeverThatOfTheSchema) {
  const dp::Schema plain = SexAge(dp::PersonUnit{"pid", 2});
  for (const char of_schema : {',', ';', '\t', '|'}) {
    dp::Schema schema = plain;
    schema.separator = of_schema;
    for (const char of_file : {',', ';', '\t', '|'}) {
      for (const char* const file : {"pid^sex^age\n1^M^35\n", "\"pid\"^\"sex\"^\"age\"\n\"1\"^\"M\"^\"35\"\n",
                                     "\"age\"^note^pid^\"sex\"\r\n35^x^1^M\r\n", "pid^sex^age\r1^M^35\r"}) {
        const std::string csv = Divided(file, of_file);
        const Outcome outcome = Encode(schema, csv);
        if (of_file == of_schema) {
          EXPECT_TRUE(outcome.status.ok()) << csv << outcome.status;
          EXPECT_EQ(outcome.rows.size(), 1u) << csv;
        } else {
          EXPECT_THAT(std::string(outcome.status.message()),
                      AllOf(HasSubstr("in the schema"),
                            HasSubstr(absl::StrCat("{\"separator\": \"", InJson(of_file), "\"}")),
                            Not(HasSubstr(absl::StrCat("{\"separator\": \"", InJson(of_schema), "\"}")))))
              << csv;
        }
      }
    }
  }
}

TEST(RecordEncoder, NamesOnlyTheFirstOfManyMissingColumns) {
  std::vector<dp::Attribute> attributes;
  for (int i = 0; i < 30; ++i) {
    attributes.push_back(dp::Attribute::Create("a" + std::to_string(i), dp::CodedKind{2}).value());
  }
  const dp::Schema schema =
      dp::CreateSchema(dp::Domain::Create(attributes).value(), dp::RecordUnit{}).value();
  EXPECT_THAT(std::string(Encode(schema, "x\n").status.message()), HasSubstr("\"a9\" and 20 more"));
}

TEST(RecordEncoder, HandsOnTheUnitAndRejectsRowsWithoutOne) {
  const Outcome outcome =
      Encode(SexAge(dp::PersonUnit{"pid", 2}), "pid,sex,age\n p1 ,M,35\n,F,20\np2,F,21\n");
  EXPECT_THAT(outcome.ids, ElementsAre("p1", "p2"));
  EXPECT_THAT(outcome.report.examples, ElementsAre(RejectedRow{3, "pid", "is empty"}));
  EXPECT_TRUE(outcome.report.ignored_columns.empty());
}

// "income" has bins and is a measure; "hours" are a measure alone, of the column "h", and may be missing.
dp::Schema WithMeasures(dp::PrivacyUnit unit = dp::RecordUnit{}) {
  std::vector<dp::Attribute> attributes = {
      dp::Attribute::Create("income", dp::IntegerKind{0, 999, 100}).value(),
      dp::Attribute::Create("sex", dp::CategoricalKind{{"F", "M"}, "?"}).value()};
  dp::Reading from_h;
  from_h.column = "h";
  std::vector<dp::Measure> measures = {
      dp::Measure::Create("income", {0, 500, 50}).value(),
      dp::Measure::Create("hours", {-1, 1, 0.1}, dp::Missing{}, from_h).value()};
  return dp::CreateSchema(dp::Domain::Create(std::move(attributes), std::move(measures)).value(),
                          std::move(unit))
      .value();
}

TEST(RecordEncoder, ReadsAttributesThenMeasuresAndAColumnMayBeBoth) {
  const Outcome outcome = Encode(WithMeasures(), "h,sex,income\n0.25,M,174\n-1,F,175\n,F,0\n");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.rows, (CodeRows{{1, 1, 3, 13}, {1, 0, 4, 0}, {0, 0, 0, 21}}));
  EXPECT_TRUE(outcome.report.ignored_columns.empty());
  EXPECT_TRUE(outcome.report.cells_clipped.empty());
}

TEST(RecordEncoder, CountsClippedCellsOfAcceptedRowsByMeasure) {
  const Outcome outcome =
      Encode(WithMeasures(), "h,sex,income\n5,M,501\n-7,F,999\n1e300,F,1000\n0,M,500\nNA,M,700\n");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.rows, (CodeRows{{5, 1, 10, 20}, {9, 0, 10, 0}, {5, 1, 10, 10}, {7, 1, 10, 21}}));
  EXPECT_EQ(outcome.report.cells_clipped, (std::map<std::string, int64_t>{{"hours", 2}, {"income", 3}}))
      << "those of a rejected row do not count";
  EXPECT_EQ(outcome.report.rows_rejected, 1) << "1000 has no bin";
}

TEST(RecordEncoder, RejectsRowsWhoseMeasureIsNoNumberOrIsMissingWhereItMayNotBe) {
  const Outcome outcome = Encode(WithMeasures(), "h,sex,income\nx,M,1\ninf,F,abc\n0,F,\n0,F,2\n");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.rows, (CodeRows{{0, 0, 0, 10}}));
  EXPECT_EQ(outcome.report.rejections,
            (std::vector<Rejection>{{"income", "is empty", 1, {4}},
                                    {"income", "is not an integer", 1, {3}},
                                    {"hours", "is not a finite number", 2, {2, 3}}}))
      << "a cell that the attribute of the same name rejects counts once";
}

TEST(RecordEncoder, NamesTheColumnsThatMeasuresLackOnce) {
  const Outcome outcome = Encode(WithMeasures(dp::PersonUnit{"pid", 3}), "sex\nF\n");
  EXPECT_EQ(FieldViolationOf(outcome.status)->description,
            "the header lacks the columns \"income\", \"h\", \"pid\"");
  EXPECT_THAT(std::string(Encode(WithMeasures(), "h;sex;income\n0;M;1\n").status.message()),
              HasSubstr("when it is split at \";\""));
  EXPECT_THAT(std::string(Encode(WithMeasures(), "x;sex;income\n0;M;1\n").status.message()),
              Not(HasSubstr("split")));
}

TEST(RecordEncoder, HandsOnTheUnitBesideMeasures) {
  const Outcome outcome =
      Encode(WithMeasures(dp::PersonUnit{"pid", 3}), "pid,h,sex,income\np1,0,M,1\n,0,M,1\n");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(outcome.ids, ElementsAre("p1"));
  EXPECT_EQ(outcome.report.rejections, (std::vector<Rejection>{{"pid", "is empty", 1, {3}}}));
}

TEST(RecordEncoder, GivesTheFirstReasonOfARow) {
  const dp::Schema schema = SexAge(dp::PersonUnit{"pid", 2});
  EXPECT_THAT(Encode(schema, "age,pid,sex\n200,,M\n").report.examples,
              ElementsAre(RejectedRow{2, "age", "is above the largest value, 99"}));
}

}  // namespace
}  // namespace curator::records
