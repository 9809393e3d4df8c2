#include "auth/api_token.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace curator::auth {
namespace {

std::string Counting(size_t bytes) {
  static unsigned char next = 0;
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>(++next * 37));
  return text;
}

TEST(ApiToken, IsReadAsItWasWritten) {
  const ApiToken token = MakeApiToken(Counting);
  const std::string text = FormatApiToken(token);
  EXPECT_EQ(text.size(), 68);
  const absl::StatusOr<ApiToken> parsed = ParseApiToken(text);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->id, token.id);
  EXPECT_EQ(parsed->secret, token.secret);
}

TEST(ApiToken, WithAnyOtherCharacterIsRefused) {
  const std::string text = FormatApiToken(MakeApiToken(Counting));
  for (size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = changed[at] == 'b' ? 'c' : 'b';
    EXPECT_FALSE(ParseApiToken(changed).ok()) << at;
  }
  EXPECT_FALSE(ParseApiToken(text + "a").ok());
  EXPECT_FALSE(ParseApiToken(text.substr(0, text.size() - 1)).ok());
  EXPECT_FALSE(ParseApiToken("").ok());
}

TEST(ShortId, UsesEveryBitOnce) {
  EXPECT_EQ(MakeShortId([](size_t bytes) { return std::string(bytes, '\0'); }), "aaaaaaaaaaaa");
  EXPECT_EQ(MakeShortId([](size_t bytes) { return std::string(bytes, '\xff'); }), "777777777777");
  std::set<std::string> ids;
  for (int i = 0; i < 30; ++i) ids.insert(MakeShortId(Counting));
  EXPECT_EQ(ids.size(), 30);
}

TEST(Secrets, AreEqualOrNot) {
  EXPECT_TRUE(AreEqualSecrets("abc", "abc"));
  EXPECT_FALSE(AreEqualSecrets("abc", "abd"));
  EXPECT_FALSE(AreEqualSecrets("abc", "ab"));
}

}  // namespace
}  // namespace curator::auth
