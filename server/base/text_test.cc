#include "base/text.h"

#include <gtest/gtest.h>

#include "base/errors.h"

namespace curator {
namespace {

TEST(Uuid, RefusesOtherShapes) {
  EXPECT_TRUE(IsUuid("F81D4FAE-7dec-11d0-a765-00a0c91e6bf6"));
  EXPECT_FALSE(IsUuid(""));
  EXPECT_FALSE(IsUuid("f81d4fae7dec11d0a76500a0c91e6bf6"));
  EXPECT_FALSE(IsUuid("f81d4fae-7dec-11d0-a765-00a0c91e6bf"));
  EXPECT_FALSE(IsUuid("f81d4fae-7dec-11d0-a765-00a0c91e6bf66"));
  EXPECT_FALSE(IsUuid("f81d4fae-7dec-11d0-a765_00a0c91e6bf6"));
  EXPECT_FALSE(IsUuid("g81d4fae-7dec-11d0-a765-00a0c91e6bf6"));
}

TEST(Uuid, KeepsAllBytesButVersionAndVariant) {
  std::array<uint8_t, 16> bytes;
  bytes.fill(0xff);
  EXPECT_EQ(UuidText(bytes, 4), "ffffffff-ffff-4fff-bfff-ffffffffffff");
  EXPECT_EQ(UuidText({1, 2, 3}, 8), "01020300-0000-8000-8000-000000000000");
}

TEST(Utf8, AWholeCharacterHasItsLengthAndAPartOfOneHasNone) {
  for (const std::string_view character : {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
    EXPECT_EQ(Utf8CharacterLength(character), character.size()) << character;
    EXPECT_EQ(Utf8CharacterLength(character.substr(0, character.size() - 1)), 0u) << character;
    EXPECT_EQ(Utf8CharacterLength(std::string(character) + "x"), character.size()) << character;
  }
  EXPECT_EQ(Utf8CharacterLength(std::string_view("\0", 1)), 1u);
}

TEST(Utf8, OverlongFormsSurrogatesAndNumbersBeyondTheLastAreNoCharacters) {
  for (const std::string_view text : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80",
                                      "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_EQ(Utf8CharacterLength(text), 0u);
  }
}

TEST(HasControlCharacter, FindsWhatATerminalOrAPageMayObey) {
  for (const char* text : {"a\nb", "\x1b]0;title\x07", "\x7f",
                           "\xC2\x9B"
                           "31m",
                           "a\u2028b", "a\u2029b", "\u202Egpj.exe", "\u2066x", "\u200F", "\u061C"}) {
    EXPECT_TRUE(HasControlCharacter(text)) << text;
  }
  for (const char* text :
       {"", "a line", "caf\u00E9", "\u4E2D\u6587", "\U0001F600", "\u200D", "\u2027\u202F"}) {
    EXPECT_FALSE(HasControlCharacter(text)) << text;
  }
  EXPECT_TRUE(HasControlCharacter(std::string_view("a\0b", 3)));
}

TEST(Shortened, EndsAfterAWholeCharacter) {
  EXPECT_EQ(Shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(Shortened("abcdefg", 6), "abc...");
  EXPECT_EQ(Shortened("ab\u00E9defg", 6), "ab...");
  EXPECT_EQ(Shortened("\u00E9\u00E9\u00E9", 3), "...");
}

TEST(CheckLine, NamesTheFieldOfTextThatIsNoLine) {
  EXPECT_TRUE(CheckLine("summary", "a study of names").ok());
  EXPECT_EQ(FieldViolationOf(CheckLine("summary", "two\nlines"))->field, "summary");
  EXPECT_EQ(FieldViolationOf(CheckLine("reason", "\xff"))->field, "reason");
}

}  // namespace
}  // namespace curator
