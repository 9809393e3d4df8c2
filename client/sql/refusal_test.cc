#include "client/sql/refusal.h"

#include <gtest/gtest.h>

#include <string>

namespace curator::sql {
namespace {

std::string Said(std::string_view sql, int64_t place) {
  return std::string(Refusal(sql, place, "wrong").message());
}

TEST(Refusals, ShowTheLineAndMarkThePlace) {
  EXPECT_EQ(Said("SELECT x", 7), "wrong\nLINE 1: SELECT x\n               ^");
  EXPECT_EQ(Said("SELECT a\nFROM b\nWHERE c", 22), "wrong\nLINE 3: WHERE c\n              ^");
  EXPECT_EQ(Said("a\r\nb", 3), "wrong\nLINE 2: b\n        ^");
}

TEST(Refusals, MarkTheEndOfALine) {
  EXPECT_EQ(Said("SELECT", 6), "wrong\nLINE 1: SELECT\n              ^");
  EXPECT_EQ(Said("SELECT\nx", 6), "wrong\nLINE 1: SELECT\n              ^");
  EXPECT_EQ(Said("SELECT", 99), "wrong\nLINE 1: SELECT\n              ^");
  EXPECT_EQ(Said("", 0), "wrong\nLINE 1: \n        ^");
}

TEST(Refusals, WithoutAPlaceHaveWordsAlone) {
  EXPECT_EQ(Said("SELECT", -1), "wrong");
}

TEST(Refusals, CountCharactersAndKeepTabs) {
  EXPECT_EQ(Said("'äö€' x", 10), "wrong\nLINE 1: 'äö€' x\n              ^");
  EXPECT_EQ(Said("\ta\tb", 3), "wrong\nLINE 1: \ta\tb\n        \t \t^");
}

TEST(Refusals, MarkThePlaceBehindWideCharactersAndAccents) {
  EXPECT_EQ(Said("'東京' x", 9), "wrong\nLINE 1: '東京' x\n               ^") << "two columns each";
  EXPECT_EQ(Said("'u\u0308' x", 6), "wrong\nLINE 1: 'u\u0308' x\n            ^");
}

TEST(Refusals, ShowAPartOfALongLine) {
  const std::string line = std::string(100, 'a') + "X" + std::string(100, 'b');
  EXPECT_EQ(Said(line, 100), "wrong\nLINE 1: ..." + std::string(60, 'a') + "X" + std::string(59, 'b') +
                                 "...\n" + std::string(71, ' ') + "^");
}

TEST(Refusals, ShowNoControlCharacters) {
  EXPECT_EQ(Said("a\x1b[31m\u202e b", 10), "wrong\nLINE 1: a?[31m? b\n                ^");
}

TEST(Refusals, AreTextWhereTheParserQuotesHalfACharacter) {
  EXPECT_EQ(Refusal("SELECT", -1, "trailing junk at or near \"7\xc3\"").message(),
            "trailing junk at or near \"7?\"");
}

TEST(Refusals, AreShortEnoughForTheStatusOfACall) {
  const std::string words(10'000, 'w');
  EXPECT_LT(Refusal("SELECT", 0, words).message().size(), 3000);
}

TEST(Refusals, PlacesOfCharactersAreBytes) {
  EXPECT_EQ(PlaceOfCharacter("aäb", 0), 0);
  EXPECT_EQ(PlaceOfCharacter("aäb", 2), 3);
  EXPECT_EQ(PlaceOfCharacter("aäb", 9), 4);
}

}  // namespace
}  // namespace curator::sql
