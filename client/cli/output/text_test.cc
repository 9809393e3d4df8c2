#include "client/cli/output/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace curator::cli {
namespace {

TEST(Text, SharesArePercentagesThatAreNeverOnTheWrongSide) {
  EXPECT_EQ(PercentUpText(0), "0%");
  EXPECT_EQ(PercentUpText(1), "100%");
  EXPECT_EQ(PercentUpText(0.041), "4.1%") << "exactly, although not in binary";
  EXPECT_EQ(PercentUpText(0.0411), "4.2%");
  EXPECT_EQ(PercentDownText(0.0419), "4.1%");
  EXPECT_EQ(PercentUpText(0.0996), "10%");
  EXPECT_EQ(PercentUpText(0.009952), "1.0%");
  EXPECT_EQ(PercentUpText(0.6101), "62%");
  EXPECT_EQ(PercentDownText(0.9999), "99%");
  EXPECT_EQ(PercentUpText(0.00012345), "0.013%");
  EXPECT_EQ(PercentDownText(1e-12), "0.00000000010%");
  EXPECT_EQ(PercentDownText(1e-16), "0%");
  EXPECT_EQ(PercentUpText(2.5), "250%");
}

TEST(Text, ExactNumbersReadBackAsThemselves) {
  for (const double number : {0.1, 1.0 / 3, 1e300, -2.5, 0.0, 20000.0}) {
    EXPECT_EQ(std::stod(ExactText(number)), number) << ExactText(number);
  }
  EXPECT_EQ(ExactText(0.1), "0.1");
  EXPECT_EQ(ExactText(20000), "20000");
  EXPECT_EQ(ExactText(200000), "200000");
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

TEST(Text, IsCutToTheColumnsOfTheTerminal) {
  EXPECT_EQ(Shortened("Zürich", 6, "~"), "Zürich");
  EXPECT_EQ(Shortened("Zürich", 4, "~"), "Zür~");
  EXPECT_EQ(Shortened("東京都庁", 6, "~"), "東京~") << "a wide character has two";
  EXPECT_EQ(Shortened("東京都庁", 5, "~"), "東京~");
  EXPECT_EQ(Shortened("Zu\u0308rich", 3, "~"), "Zu\u0308~") << "no accent is left behind";
  EXPECT_EQ(Shortened("ab", 1, "~"), "~");
}

TEST(Text, CsvQuotesOnlyWhereItMust) {
  EXPECT_EQ(CsvText("plain"), "plain");
  EXPECT_EQ(CsvText("[30, 35)"), "\"[30, 35)\"");
  EXPECT_EQ(CsvText("say \"yes\""), "\"say \"\"yes\"\"\"");
  EXPECT_EQ(CsvText("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(CsvText("a\x1b]0;title\x07"), "a?]0;title?") << "a terminal that prints it does nothing";
  EXPECT_EQ(CsvText("\"a\x1b[2J\",\tb\x9b"), "\"\"\"a?[2J\"\",\tb\x9b\"");
  EXPECT_EQ(CsvField(Value(std::vector<std::string>{"age", "sex"})), "\"age,sex\"");
  EXPECT_EQ(CsvField(Value(true)), "true");
  EXPECT_EQ(CsvField(Value()), "");
}

TEST(Text, CellsForPeople) {
  EXPECT_EQ(DisplayText(Value()), "-");
  EXPECT_EQ(DisplayText(Value(std::vector<std::string>())), "-");
  EXPECT_EQ(DisplayText(Value(false)), "no");
  EXPECT_EQ(DisplayText(Value(int64_t{-12})), "-12");
  EXPECT_EQ(DisplayText(Value(std::vector<std::string>{"a", "b"})), "a, b");
}

TEST(Text, PartsOfAnEventThatComeAgainAreCounted) {
  EXPECT_EQ(FormatEvent(""), "");
  EXPECT_EQ(FormatEvent("discrete Laplace (scale 3)"), "discrete Laplace (scale 3)");
  EXPECT_EQ(FormatEvent("a + b + b + b + a"), "a + 3 x b + a");
  EXPECT_EQ(FormatEvent("a + a"), "2 x a");
}

TEST(Text, PeopleNeverSeeLessThanTheBound) {
  EXPECT_EQ(RoundedUpText(0.9936911767), "0.993692");
  EXPECT_EQ(RoundedUpText(0.9936919999), "0.993692");
  EXPECT_EQ(RoundedUpText(12.0), "12");
  EXPECT_EQ(RoundedUpText(std::nextafter(10.0, 11.0)), "10");
  EXPECT_EQ(RoundedUpText(10.00000001), "10.0001");
  EXPECT_EQ(RoundedUpText(999999.5), "1e+06");
  EXPECT_EQ(RoundedUpText(1.0000001e-9), "1.00001e-09");
  EXPECT_EQ(RoundedDownText(0.9936919999), "0.993691");
  EXPECT_EQ(RoundedDownText(1.0), "1");
  EXPECT_EQ(RoundedUpText(std::numeric_limits<double>::infinity()), "infinity");
}

}  // namespace
}  // namespace curator::cli
