#include "records/csv_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"

namespace curator::records {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Row {
  int64_t line = 0;
  std::vector<std::string> fields;
  bool operator==(const Row&) const = default;
};

class Collected final : public CsvSink {
 public:
  absl::Status TakeHeader(const std::vector<std::string>& columns) override {
    header = columns;
    return absl::OkStatus();
  }
  void TakeField(size_t column, std::string_view text) override {
    EXPECT_EQ(column, fields.size());
    fields.emplace_back(text);
  }
  absl::Status TakeRow(int64_t line) override {
    rows.push_back({line, std::exchange(fields, {})});
    return absl::OkStatus();
  }

  std::vector<std::string> header;
  std::vector<Row> rows;
  std::vector<std::string> fields;
};

absl::Status Read(Collected& sink, std::string_view text, size_t piece = 1 << 20, char separator = ',') {
  CsvReader reader(sink, separator);
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    if (absl::Status status = reader.Append(text.substr(0, piece)); !status.ok()) return status;
  }
  return reader.Finish();
}

std::string MessageFor(std::string_view text) {
  Collected sink;
  const absl::Status status = Read(sink, text);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::optional<FieldViolation> violation = FieldViolationOf(status);
  EXPECT_EQ(violation.value_or(FieldViolation{}).field, "csv");
  return violation.value_or(FieldViolation{}).description;
}

TEST(CsvReader, ReadsAHeaderAndRows) {
  Collected sink;
  ASSERT_TRUE(Read(sink, "a,b\n1,2\n3,\n").ok());
  EXPECT_THAT(sink.header, ElementsAre("a", "b"));
  EXPECT_THAT(sink.rows, ElementsAre(Row{2, {"1", "2"}}, Row{3, {"3", ""}}));
}

TEST(CsvReader, ReadsQuotesBlanksAndUtf8) {
  Collected sink;
  ASSERT_TRUE(Read(sink, "a , \"b, c\"\n\"say \"\"hi\"\"\",  Zo\xC3\xAB  \n\" x \",\"\"\n").ok());
  EXPECT_THAT(sink.header, ElementsAre("a", "b, c"));
  EXPECT_THAT(sink.rows, ElementsAre(Row{2, {"say \"hi\"", "Zo\xC3\xAB"}}, Row{3, {" x ", ""}}));
}

TEST(CsvReader, EveryKindOfLineEndIsOneLine) {
  for (const std::string_view end : {"\n", "\r\n", "\r"}) {
    Collected sink;
    std::string text = "a,b";
    for (const std::string_view line : {"1,2", "", "3,4"}) {
      text += end;
      text += line;
    }
    ASSERT_TRUE(Read(sink, text).ok());
    EXPECT_THAT(sink.rows, ElementsAre(Row{2, {"1", "2"}}, Row{4, {"3", "4"}}))
        << ::testing::PrintToString(end);
  }
}

TEST(CsvReader, LineBreaksInsideQuotesCountAsLines) {
  Collected sink;
  ASSERT_TRUE(Read(sink, "a,b\n1,\"x\ny\nz\"\n3,4\n").ok());
  EXPECT_THAT(sink.rows, ElementsAre(Row{2, {"1", "x\ny\nz"}}, Row{5, {"3", "4"}}));
}

TEST(CsvReader, TheLastLineNeedsNoEnd) {
  Collected sink;
  ASSERT_TRUE(Read(sink, "a\n1\n\"2\"").ok());
  EXPECT_THAT(sink.rows, ElementsAre(Row{2, {"1"}}, Row{3, {"2"}}));
}

TEST(CsvReader, SkipsAByteOrderMark) {
  Collected sink;
  ASSERT_TRUE(Read(sink, "\xEF\xBB\xBF\"a\",b\n1,2\n").ok());
  EXPECT_THAT(sink.header, ElementsAre("a", "b"));
}

TEST(CsvReader, AHeaderAloneIsAFileWithoutRows) {
  Collected sink;
  ASSERT_TRUE(Read(sink, "a").ok());
  EXPECT_THAT(sink.header, ElementsAre("a"));
  EXPECT_TRUE(sink.rows.empty());
}

TEST(CsvReader, PiecesOfAnySizeReadAlike) {
  const std::string text =
      "\xEF\xBB\xBF"
      "a,\"b\"\r\n\"1\r\n,\"\"\",2\r\n\r\n 3 ,\"\"\r\n5,\xC3\xA9";
  Collected whole;
  ASSERT_TRUE(Read(whole, text).ok());
  ASSERT_EQ(whole.rows.size(), 3u);
  for (size_t piece = 1; piece < text.size(); ++piece) {
    Collected sink;
    ASSERT_TRUE(Read(sink, text, piece).ok());
    EXPECT_EQ(sink.header, whole.header);
    EXPECT_EQ(sink.rows, whole.rows) << piece;
  }
}

TEST(CsvReader, ACutAtAnyByteReadsAlike) {
  const std::string text = "a,b\r\n\"x\r\ny\",2\r\n3,4\r\n";
  Collected whole;
  ASSERT_TRUE(Read(whole, text).ok());
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    Collected sink;
    CsvReader reader(sink);
    ASSERT_TRUE(reader.Append(text.substr(0, cut)).ok());
    ASSERT_TRUE(reader.Append(text.substr(cut)).ok());
    ASSERT_TRUE(reader.Finish().ok());
    EXPECT_EQ(sink.rows, whole.rows) << cut;
  }
}

// Whole lines without quotes take the fast path; single bytes do not.
TEST(CsvReader, RandomTextReadsAlikeAsAWholeAndByteByByte) {
  std::mt19937_64 random(5);
  constexpr std::string_view kBytes = "ab,,\n\n\r \t\"\xC3";
  int good = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = "h,i\n";
    const size_t rows = random() % 4;
    for (size_t row = 0; row < rows; ++row) text += "x,y\n";
    const size_t length = random() % 24;
    for (size_t i = 0; i < length; ++i) text += kBytes[random() % kBytes.size()];
    Collected whole;
    Collected bytes;
    const absl::Status status = Read(whole, text);
    ASSERT_EQ(Read(bytes, text, 1), status) << text;
    ASSERT_EQ(bytes.header, whole.header) << text;
    ASSERT_EQ(bytes.rows, whole.rows) << text;
    good += status.ok() && whole.rows.size() > rows ? 1 : 0;
  }
  EXPECT_GT(good, 1000) << "too few texts are CSV";
}

TEST(CsvReader, TellsWhereAndWhatIsMalformed) {
  EXPECT_EQ(MessageFor(""), "is empty: there is no header line");
  EXPECT_EQ(MessageFor("\n \n"), "is empty: there is no header line");
  EXPECT_EQ(MessageFor("a,b\n1,2\n3\n"), "line 3: has 1 field where the header has 2");
  EXPECT_EQ(MessageFor("a,b\n1,2,3\n"), "line 2: has 3 fields where the header has 2");
  EXPECT_EQ(MessageFor("a,b\n1,2\n3,\"4\n5,6\n"), "line 3: a quote is not closed");
  EXPECT_EQ(MessageFor("a,b\n\"1,2\n"), "line 2: a quote is not closed");
  EXPECT_EQ(MessageFor("a,b\n1,x\"y\n"),
            "line 2: a quote stands inside a field; quoted fields begin and end with one");
  EXPECT_EQ(MessageFor("a,b\n1,\"x\"y\n"),
            "line 2: a quote stands inside a field; quoted fields begin and end with one");
  EXPECT_EQ(MessageFor(std::string_view("a,b\n1,\0\n", 8)), "line 2: contains a NUL byte; is the file text?");
  EXPECT_EQ(MessageFor("\x1F\x8B\x08"), "is compressed with gzip, but was not announced as such");
  EXPECT_EQ(MessageFor("\xFF\xFE"
                       "a"),
            "is UTF-16; UTF-8 is expected");
}

TEST(CsvReader, BoundsFieldsColumnsAndHeaders) {
  EXPECT_EQ(MessageFor("a,b\n1," + std::string(kMaxFieldBytes + 1, 'x') + "\n"),
            "line 2: a field is longer than 65536 bytes; is a quote not closed?");
  EXPECT_EQ(MessageFor("a,b\n\"" + std::string(10 * kMaxFieldBytes, 'x')),
            "line 2: a field is longer than 65536 bytes; is a quote not closed?");
  std::string columns;
  for (size_t i = 0; i <= kMaxColumns; ++i) columns += "a,";
  EXPECT_EQ(MessageFor(columns), "line 1: there are more than 16384 columns");
  std::string header;
  for (int i = 0; i < 20; ++i) header.append(60'000, 'a').append(",");
  EXPECT_EQ(MessageFor(header), "line 1: the header is longer than 1048576 bytes");
}

TEST(CsvReader, AFieldOfTheGreatestLengthIsRead) {
  Collected sink;
  ASSERT_TRUE(Read(sink, "a\n" + std::string(kMaxFieldBytes, 'x') + "\n", 1000).ok());
  EXPECT_EQ(sink.rows.at(0).fields.at(0).size(), kMaxFieldBytes);
}

TEST(CsvReader, AfterAnErrorEveryCallReturnsIt) {
  Collected sink;
  CsvReader reader(sink);
  const absl::Status first = reader.Append("a,b\n1\n1,2\n");
  EXPECT_EQ(reader.Append("3,4\n"), first);
  EXPECT_EQ(reader.Finish(), first);
  EXPECT_TRUE(sink.rows.empty());
}

// In one piece by the fast path, byte by byte by libcsv.
TEST(CsvReader, OtherSeparatorsDivideColumnsAndCommasDoNot) {
  for (const char separator : {';', '\t', '|'}) {
    std::string text = "a;b;c\n1,5; x ;\n;;\n\"q;r\";\"\n\";z\r\n";
    std::replace(text.begin(), text.end(), ';', separator);
    for (const size_t piece : {size_t{1}, size_t{3}, size_t{1} << 20}) {
      Collected sink;
      ASSERT_TRUE(Read(sink, text, piece, separator).ok());
      EXPECT_THAT(sink.header, ElementsAre("a", "b", "c"));
      EXPECT_THAT(sink.rows, ElementsAre(Row{2, {"1,5", "x", ""}}, Row{3, {"", "", ""}},
                                         Row{4, {std::string("q") + separator + "r", "\n", "z"}}));
    }
  }
}

}  // namespace
}  // namespace curator::records
