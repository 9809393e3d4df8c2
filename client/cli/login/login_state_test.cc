#include "client/cli/login/login_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/testing/scratch_folder.h"

namespace curator::cli {
namespace {

namespace fs = std::filesystem;

class LoginStateTest : public ::testing::Test {
 protected:
  static Login LoginOf(const std::string& token) {
    return {.place = {.issuer = "https://idp.example", .client_id = "curator-cli", .scope = "openid"},
            .issuer_authorities = "ca.pem",
            .tokens = {.token = token, .refresh_token = "r"}};
  }

  const curator::testing::ScratchFolder folder_;
  const LoginState state_{folder_.path() + "/new/login.json"};
};

TEST_F(LoginStateTest, KeepsOneLoginForEachServer) {
  EXPECT_FALSE(state_.Find("https://a")->has_value());
  ASSERT_TRUE(state_.Keep("https://a", LoginOf("1")).ok());
  ASSERT_TRUE(state_.Keep("https://b", LoginOf("2")).ok());
  ASSERT_TRUE(state_.Keep("https://a", LoginOf("3")).ok());
  const Login found = *state_.Find("https://a").value();
  EXPECT_EQ(found.tokens.token, "3");
  EXPECT_EQ(found.tokens.refresh_token, "r");
  EXPECT_EQ(found.place.client_id, "curator-cli");
  EXPECT_EQ(found.issuer_authorities, "ca.pem");
  EXPECT_TRUE(state_.Forget("https://a").value());
  EXPECT_FALSE(state_.Forget("https://a").value());
  EXPECT_TRUE(state_.Find("https://b")->has_value());
}

TEST_F(LoginStateTest, IsReadableByItsUserAlone) {
  ASSERT_TRUE(state_.Keep("https://a", LoginOf("1")).ok());
  EXPECT_EQ(fs::status(state_.path()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::permissions(state_.path(), fs::perms::others_read, fs::perm_options::add);
  EXPECT_TRUE(absl::IsFailedPrecondition(state_.Find("https://a").status()));
}

TEST_F(LoginStateTest, SaysWhatToDoAboutAFileThatIsNone) {
  ASSERT_TRUE(state_.Keep("https://a", LoginOf("1")).ok());
  for (const char* text : {"", "[]", "{\"https://a\": 7}", "{\"https://a\": {}}"}) {
    std::ofstream(state_.path()) << text;
    const absl::Status status = state_.Find("https://a").status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << text;
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("log in again"));
  }
}

}  // namespace
}  // namespace curator::cli
