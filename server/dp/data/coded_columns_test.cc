#include "dp/data/coded_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace curator::dp {
namespace {

using testing::HasSubstr;

TEST(CodedColumns, AreThoseOfTheAttributesThenThoseOfTheMeasures) {
  const Domain domain = Domain::Create({Attribute::Create("a", CodedKind{3}).value(),
                                        Attribute::Create("b", CodedKind{300}).value()},
                                       {Measure::Create("a", {0, 10, 0.1}, Missing{}).value(),
                                        Measure::Create("c", {-100'000, 100'000, 1}).value()})
                            .value();
  EXPECT_EQ(SizesOf(domain), (std::vector<int64_t>{3, 300, 102, 200'001}));
  EXPECT_EQ(AttributeSizesOf(domain), (std::vector<int64_t>{3, 300}));
}

TEST(CodedColumns, UsesTheNarrowestWidth) {
  EXPECT_EQ(WidthFor(1), CodeWidth::kOneByte);
  EXPECT_EQ(WidthFor(256), CodeWidth::kOneByte);
  EXPECT_EQ(WidthFor(257), CodeWidth::kTwoBytes);
  EXPECT_EQ(WidthFor(65536), CodeWidth::kTwoBytes);
  EXPECT_EQ(WidthFor(65537), CodeWidth::kFourBytes);
}

TEST(CodedColumns, GivesBackTheCodesOfEveryWidth) {
  CodedColumns columns({256, 65536, kMaxAttributeSize});
  const std::vector<uint32_t> largest = {255, 65535, kMaxAttributeSize - 1};
  ASSERT_TRUE(columns.AppendRow(std::vector<uint32_t>{1, 2, 3}).ok());
  ASSERT_TRUE(columns.AppendRow(largest).ok());
  ASSERT_TRUE(columns.Check().ok());
  const ColumnsView view = columns.View();
  ASSERT_EQ(view.rows, 2);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(view.columns[i][0], i + 1);
    EXPECT_EQ(view.columns[i][1], largest[i]);
  }
}

TEST(CodedColumns, RefusesRowsOfAnotherLengthAndCodesBeyondTheSize) {
  CodedColumns columns({3, 300});
  EXPECT_FALSE(columns.AppendRow(std::vector<uint32_t>{1}).ok());
  EXPECT_THAT(columns.AppendRow(std::vector<uint32_t>{3, 0}).message(), HasSubstr("column 0"));
  EXPECT_THAT(columns.AppendRow(std::vector<uint32_t>{2, 300}).message(), HasSubstr("column 1"));
  EXPECT_EQ(columns.rows(), 0);
}

TEST(CodedColumns, RawCodesAreCheckedBeforeUse) {
  CodedColumns columns({3, 300});
  const std::array<std::byte, 2> narrow = {std::byte{2}, std::byte{0}};
  const std::array<std::byte, 4> wide = {std::byte{0x2b}, std::byte{1}, std::byte{0},
                                         std::byte{0}};  // 299, 0
  columns.AppendCodes(0, narrow);
  EXPECT_THAT(columns.Check().message(), HasSubstr("another length"));
  columns.AppendCodes(1, wide);
  EXPECT_TRUE(columns.Check().ok());

  const std::array<std::byte, 2> too_large = {std::byte{0x2c}, std::byte{1}};  // 300
  columns.AppendCodes(0, std::array<std::byte, 1>{std::byte{0}});
  columns.AppendCodes(1, too_large);
  EXPECT_THAT(columns.Check().message(), HasSubstr("column 1 is not below its size, 300"));
}

}  // namespace
}  // namespace curator::dp
