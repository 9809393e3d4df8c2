#include "client/cli/schema/csv_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "client/cli/output/text.h"
#include "tests/testing/scratch_folder.h"

namespace curator::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CsvColumns : public ::testing::Test {
 protected:
  std::string Write(const std::string& content) const {
    std::ofstream((folder_ / "a.csv").string(), std::ios::binary) << content;
    return (folder_ / "a.csv").string();
  }
  CsvHeader Header(const std::string& content) const {
    const auto header = ReadCsvHeader(Write(content));
    EXPECT_TRUE(header.ok()) << header.status();
    return header.value_or(CsvHeader());
  }
  std::string Refusal(const std::string& content) const {
    const auto header = ReadCsvHeader(Write(content));
    EXPECT_EQ(header.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(header.status().message()), HasSubstr("a.csv"));
    return std::string(header.status().message());
  }

  const curator::testing::ScratchFolder folder_;
};

TEST_F(CsvColumns, TheSeparatorIsTheOneOfTheHeader) {
  EXPECT_THAT(Header("a,b,c\n1;2;3;4;5;6,7,8\n").columns, ElementsAre("a", "b", "c"));
  EXPECT_EQ(Header("a;b;c,d\n").separator, ';');
  EXPECT_EQ(Header("a|b").separator, '|');
  EXPECT_EQ(Header("a\tb\r\n1\t2\r\n").separator, '\t');
  EXPECT_EQ(Header("alone\n1;2;3\n").separator, ',') << "what follows the header does not count";
  EXPECT_EQ(Header("\"a;b;c;d\",e\n").separator, ',') << "what is in quotes does not count";
}

TEST_F(CsvColumns, MarksQuotesAndBlanksAreNoPartOfAName) {
  EXPECT_THAT(Header("\xEF\xBB\xBF\"first\",  second ,\" third\"\r\n").columns,
              ElementsAre("first", "second", "third"));
  EXPECT_THAT(Header("\n \n\"a\"\"b\",\"c,d\"\n").columns, ElementsAre("a\"b", "c,d"));
  EXPECT_THAT(Header("a,,b\rold").columns, ElementsAre("a", "", "b"));
}

TEST_F(CsvColumns, NothingBehindTheHeaderIsRead) {
  EXPECT_THAT(Header("a,b\n\"an open quote, and too, many, fields").columns, ElementsAre("a", "b"));
  EXPECT_THAT(Header("a,b\n" + std::string(1 << 20, 'x')).columns, ElementsAre("a", "b"));
}

TEST_F(CsvColumns, AFileWithoutAHeaderIsRefused) {
  EXPECT_THAT(Refusal(""), HasSubstr("no header"));
  EXPECT_THAT(Refusal(std::string("a\0b\n", 4)), HasSubstr("NUL"));
  EXPECT_THAT(Refusal("\xFF\xFE"
                      "a,b\n"),
              HasSubstr("UTF-16"));
  EXPECT_THAT(Refusal(std::string(2 << 20, 'x')), HasSubstr("too long"));
  EXPECT_THAT(Refusal("\x1F\x8B not gzip"), HasSubstr("gzip"));
}

TEST_F(CsvColumns, TwoColumnsOfOneNameAreRefused) {
  EXPECT_THAT(Refusal("a,b, a\n"), HasSubstr("columns 1 and 3 have the same name, \"a\""));
}

class CountsRows final : public records::CsvSink {
 public:
  absl::Status TakeHeader(const std::vector<std::string>&) override { return absl::OkStatus(); }
  void TakeField(size_t, std::string_view) override {}
  absl::Status TakeRow(int64_t) override { return ++rows, absl::OkStatus(); }
  int rows = 0;
};

TEST_F(CsvColumns, TheHashIsThatOfTheFilesBytes) {
  CountsRows rows;
  const auto hash = ReadCsvRows(Write("a;b\n1;2\n3;4\n"), ';', rows);
  ASSERT_TRUE(hash.ok()) << hash.status();
  EXPECT_EQ(rows.rows, 2);
  EXPECT_EQ(Hex(*hash), "9e28fa04bf8e926e740eeae3562d76180763f286feb882245e8ab32b7717ffd1");
}

TEST_F(CsvColumns, AMalformedRowIsAnError) {
  CountsRows rows;
  const auto hash = ReadCsvRows(Write("a,b\n1\n"), ',', rows);
  EXPECT_THAT(std::string(hash.status().message()), HasSubstr("line 2"));
}

}  // namespace
}  // namespace curator::cli
