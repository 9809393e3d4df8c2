#include "client/cli/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace curator::cli {
namespace {

TEST(Text, ExactNumbersReadBackAsThemselves) {
  for (const double number : {0.1, 1.0 / 3, 1e300, -2.5, 0.0, 20000.0}) {
    EXPECT_EQ(std::stod(ExactText(number)), number) << ExactText(number);
  }
  EXPECT_EQ(ExactText(0.1), "0.1");
  EXPECT_EQ(ExactText(20000), "20000");
}

TEST(Text, PeopleGetFourDigits) {
  EXPECT_EQ(RoundedText(0.0123456), "0.01235");
  EXPECT_EQ(RoundedText(12.3456), "12.35");
  EXPECT_EQ(RoundedText(48213.4), "48213");
  EXPECT_EQ(RoundedText(std::numeric_limits<double>::infinity()), "inf");
}

TEST(Text, NamesFromElsewhereCannotDriveATerminal) {
  EXPECT_EQ(Printable("a\033[31mred"), "a?[31mred");
  EXPECT_EQ(Printable("line\nbreak\ttab\x7f"), "line?break?tab?");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "31m"),
            "?31m");  // U+009B, the one-character CSI
  EXPECT_EQ(Printable("Zürich, 東京"), "Zürich, 東京");
}

TEST(Text, WidthCountsCodePoints) {
  EXPECT_EQ(DisplayWidth("Zürich"), 6u);
  EXPECT_EQ(DisplayWidth(""), 0u);
}

TEST(Text, CsvQuotesOnlyWhereItMust) {
  EXPECT_EQ(CsvText("plain"), "plain");
  EXPECT_EQ(CsvText("[30, 35)"), "\"[30, 35)\"");
  EXPECT_EQ(CsvText("say \"yes\""), "\"say \"\"yes\"\"\"");
  EXPECT_EQ(CsvText("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(CsvField(Value(std::vector<std::string>{"age", "sex"})), "\"age,sex\"");
  EXPECT_EQ(CsvField(Value(true)), "true");
  EXPECT_EQ(CsvField(Value()), "");
}

TEST(Text, CellsForPeople) {
  EXPECT_EQ(TextOf(Value()), "-");
  EXPECT_EQ(TextOf(Value(std::vector<std::string>())), "-");
  EXPECT_EQ(TextOf(Value(false)), "no");
  EXPECT_EQ(TextOf(Value(int64_t{-12})), "-12");
  EXPECT_EQ(TextOf(Value(std::vector<std::string>{"a", "b"})), "a, b");
}

}  // namespace
}  // namespace curator::cli
