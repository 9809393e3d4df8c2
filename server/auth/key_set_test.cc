#include "auth/key_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "auth/testing/test_keys.h"

namespace curator::auth {
namespace {

using nlohmann::json;

TEST(KeySet, OfAnRsaKeyWithoutAnAlgorithmIsForRs256) {
  const TestKey key("RSA 2048", "a", "RS256");
  json jwk = key.Jwk();
  jwk.erase("alg");
  const absl::StatusOr<KeySet> set = KeySet::Parse(JwksOf({jwk}));
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->Find("a")->algorithm(), Algorithm::kRs256);
  EXPECT_TRUE(set->Find("a")->Verifies("text", key.Sign("text")));
  EXPECT_FALSE(set->Find("a")->Verifies("another text", key.Sign("text")));
}

TEST(KeySet, LeavesOutAKeyThatSaysAnotherAlgorithmThanItsKind) {
  json jwk = TestKey("P-256", "a", "ES256").Jwk();
  jwk["alg"] = "RS256";
  EXPECT_FALSE(KeySet::Parse(JwksOf({jwk})).ok());
}

TEST(KeySet, LeavesOutAPointThatIsNotOnTheCurve) {
  json jwk = TestKey("P-256", "a", "ES256").Jwk();
  jwk["y"] = jwk["x"];
  EXPECT_FALSE(KeySet::Parse(JwksOf({jwk})).ok());
}

TEST(KeySet, RefusesTwoKeysWithOneId) {
  const json one = TestKey("P-256", "a", "ES256").Jwk();
  const json other = TestKey("P-256", "a", "ES256").Jwk();
  EXPECT_TRUE(absl::IsInvalidArgument(KeySet::Parse(JwksOf({one, other})).status()));
}

TEST(KeySet, NeverHasNoKey) {
  for (const char* text : {"", "{}", "[]", R"({"keys":[]})", R"({"keys":{}})", R"({"keys":[{"kty":"oct"}]})",
                           R"({"keys":[7]})", R"({"keys":[],"keys":[]})"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(KeySet::Parse(text).status())) << text;
  }
}

TEST(KeySet, TellsTwoKeysApartByTheirThumbprints) {
  const TestKey one("P-256", "a", "ES256");
  const TestKey other("P-256", "a", "ES256");
  const std::string first = KeySet::Parse(JwksOf({one.Jwk()}))->Find("a")->thumbprint();
  EXPECT_EQ(KeySet::Parse(JwksOf({one.Jwk()}))->Find("a")->thumbprint(), first);
  EXPECT_NE(KeySet::Parse(JwksOf({other.Jwk()}))->Find("a")->thumbprint(), first);
}

TEST(Base64Url, IsReadInItsOnlyForm) {
  EXPECT_EQ(DecodeBase64Url("YQ").value(), "a");
  for (const char* text : {"YQ==", "YR", "Y", "YQ\n", " YQ", "+/+/"}) {
    EXPECT_FALSE(DecodeBase64Url(text).ok()) << text;
  }
}

}  // namespace
}  // namespace curator::auth
