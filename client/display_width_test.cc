#include "client/display_width.h"

#include <gtest/gtest.h>

namespace curator {
namespace {

TEST(DisplayWidth, IsOneColumnForMostCharacters) {
  EXPECT_EQ(DisplayWidth(""), 0u);
  EXPECT_EQ(DisplayWidth("Zürich €"), 8u);
  EXPECT_EQ(DisplayWidth("Привет"), 6u);
}

TEST(DisplayWidth, IsTwoColumnsForWideCharacters) {
  EXPECT_EQ(DisplayWidth("東京"), 4u);
  EXPECT_EQ(DisplayWidth("서울"), 4u);
  EXPECT_EQ(DisplayWidth("ａ"), 2u) << "of full width";
  EXPECT_EQ(DisplayWidth("a😀b"), 4u);
  EXPECT_EQ(DisplayWidth("ｱ"), 1u) << "of half width";
}

TEST(DisplayWidth, IsNoColumnForAnAccentOfItsOwn) {
  EXPECT_EQ(DisplayWidth("Zu\u0308rich"), 6u);
  EXPECT_EQ(DisplayWidth("a\u200bb"), 2u);
}

TEST(DisplayWidth, IsOneColumnForABrokenByte) {
  EXPECT_EQ(DisplayWidth("a\xff\xe6"), 3u);
}

}  // namespace
}  // namespace curator
