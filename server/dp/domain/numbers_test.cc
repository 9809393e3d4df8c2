#include "dp/domain/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace curator::dp {
namespace {

using Integer = std::variant<int64_t, NumberFault>;
using Number = std::variant<double, NumberFault>;

TEST(ReadInteger, ReadsSignsAndFractionsOfZeros) {
  EXPECT_EQ(ReadInteger("39"), Integer(int64_t{39}));
  EXPECT_EQ(ReadInteger("+39"), Integer(int64_t{39}));
  EXPECT_EQ(ReadInteger("-1"), Integer(int64_t{-1}));
  EXPECT_EQ(ReadInteger("-0"), Integer(int64_t{0}));
  EXPECT_EQ(ReadInteger("007"), Integer(int64_t{7}));
  EXPECT_EQ(ReadInteger("39.0"), Integer(int64_t{39}));
  EXPECT_EQ(ReadInteger("39."), Integer(int64_t{39}));
}

TEST(ReadInteger, IsExactAtBothEndsOfTheType) {
  EXPECT_EQ(ReadInteger("9223372036854775807"), Integer(std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(ReadInteger("-9223372036854775808"), Integer(std::numeric_limits<int64_t>::min()));
  EXPECT_EQ(ReadInteger("9223372036854775808"), Integer(NumberFault::kTooLarge));
  EXPECT_EQ(ReadInteger("-9223372036854775809"), Integer(NumberFault::kTooSmall));
  EXPECT_EQ(ReadInteger(std::string(1000, '9')), Integer(NumberFault::kTooLarge));
}

TEST(ReadInteger, RefusesWhatIsNotAnInteger) {
  for (const char* text : {"", "+", "-", ".", ".0", "39.5", "1e3", "0x10", "1,000", "1 2", "--1", "+-1",
                           "nan", "inf", "39.0x"}) {
    EXPECT_EQ(ReadInteger(text), Integer(NumberFault::kNotANumber)) << text;
  }
}

TEST(ReadNumber, ReadsDecimalsWithExponents) {
  EXPECT_EQ(ReadNumber("0.1"), Number(0.1));
  EXPECT_EQ(ReadNumber("+.5"), Number(0.5));
  EXPECT_EQ(ReadNumber("-2.5e3"), Number(-2500.0));
  EXPECT_EQ(ReadNumber("1e-400"), Number(0.0));
  EXPECT_EQ(ReadNumber("0.1000000000000000055511151231257827"), Number(0.1));
}

TEST(ReadNumber, RefusesNanInfinityOverflowAndTrailingText) {
  for (const char* text :
       {"", "nan", "NaN", "inf", "-inf", "infinity", "+-1", "1.0.0", "1e", "0x1p3", "1 ", "--1", "1,5"}) {
    EXPECT_EQ(ReadNumber(text), Number(NumberFault::kNotANumber)) << text;
  }
  EXPECT_EQ(ReadNumber("1e400"), Number(NumberFault::kTooLarge));
  EXPECT_EQ(ReadNumber("-1e400"), Number(NumberFault::kTooSmall));
}

TEST(ReadNumber, NegativeZeroIsZero) {
  EXPECT_FALSE(std::signbit(std::get<double>(ReadNumber("-0.0"))));
}

TEST(WriteNumber, ReadsBackAsTheSameDouble) {
  for (const double value : {0.1, 1e300, -5e-324, 1.0 / 3, 20000.0}) {
    EXPECT_EQ(ReadNumber(WriteNumber(value)), Number(value));
  }
  EXPECT_EQ(WriteNumber(20000), "20000");
}

TEST(WriteNumber, HasNoExponentWhereDigitsSuffice) {
  EXPECT_EQ(WriteNumber(100'000), "100000");
  EXPECT_EQ(WriteNumber(-5e6), "-5000000");
  EXPECT_EQ(WriteNumber(0x1p53), "9007199254740992");
  EXPECT_EQ(WriteNumber(0.0001), "0.0001");
  EXPECT_EQ(WriteNumber(-1.2345678901234567e-6), "-0.0000012345678901234567");
  EXPECT_EQ(WriteNumber(0), "0");
  EXPECT_EQ(WriteNumber(1e20), "1e+20");
  EXPECT_EQ(WriteNumber(1e-7), "1e-07");
}

TEST(TrimBlanks, RemovesBlanksAndTabsAtTheEndsOnly) {
  EXPECT_EQ(TrimBlanks(" \t a b \t"), "a b");
  EXPECT_EQ(TrimBlanks(" \t "), "");
}

}  // namespace
}  // namespace curator::dp
