#include "auth/issuer_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "auth/testing/test_keys.h"
#include "base/errors.h"
#include "tests/testing/scratch_folder.h"

namespace curator::auth {
namespace {

using nlohmann::json;

class IssuerKeysTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Write({first_.Jwk()});
    keys_ = std::make_unique<IssuerKeys>(
        std::vector<Issuer>{issuer_},
        IssuerKeys::Options{
            .folder = folder_.path(),
            .between_looks = std::chrono::hours(1),
            .now = [this] { return now_.load(); },
            .wake = [this](const Issuer&) { ++wakes_; },
            .report = [this](const Issuer&, std::string_view what, bool) { reported_ = what; }});
  }

  // As the program that fetches them: a new file takes the place of the old one.
  void Write(const std::vector<json>& keys, const json& changes = json::object()) {
    json document = {{"issuer", issuer_.issuer},
                     {"fetched_at", absl::FormatTime(absl::RFC3339_full, now_.load(), absl::UTCTimeZone())},
                     {"keys", keys}};
    document.merge_patch(changes);
    WriteText(document.dump());
  }
  void WriteText(const std::string& text) {
    std::ofstream(folder_.path() + "/new") << text;
    std::filesystem::rename(folder_.path() + "/new", folder_.path() + "/corp.json");
  }
  std::string ReasonOf(std::string_view kid) {
    const absl::Status status = keys_->FindKey(TheIssuer(), kid).status();
    return status.ok() ? "" : PublicErrorOf(status).value_or(PublicError()).reason;
  }
  const Issuer& TheIssuer() const { return *keys_->Find(issuer_.issuer); }

  const testing::ScratchFolder folder_;
  const Issuer issuer_{.alias = "corp", .issuer = "https://idp.example", .audiences = {"curator"}};
  const TestKey first_{"P-256", "first", "ES256"};
  const TestKey second_{"P-256", "second", "ES256"};
  std::atomic<absl::Time> now_ = absl::FromUnixSeconds(1'800'000'000);
  std::atomic<int> wakes_ = 0;
  std::string reported_;
  std::unique_ptr<IssuerKeys> keys_;
};

TEST_F(IssuerKeysTest, AreThoseOfTheFile) {
  EXPECT_TRUE(keys_->FindKey(TheIssuer(), "first").ok());
  EXPECT_EQ(keys_->Find("https://another.example"), nullptr);
}

TEST_F(IssuerKeysTest, FollowTheFileSoThatAWithdrawnKeyStopsAtOnce) {
  const std::string thumbprint = keys_->FindKey(TheIssuer(), "first")->thumbprint();
  EXPECT_TRUE(keys_->CheckHas(TheIssuer(), thumbprint).ok());
  Write({second_.Jwk()});
  keys_->Look();
  EXPECT_TRUE(keys_->FindKey(TheIssuer(), "second").ok());
  EXPECT_EQ(ReasonOf("first"), "TOKEN_INVALID");
  EXPECT_TRUE(absl::IsUnauthenticated(keys_->CheckHas(TheIssuer(), thumbprint)));
}

TEST_F(IssuerKeysTest, WatchTheFileByThemselves) {
  IssuerKeys watching({issuer_}, {.folder = folder_.path(),
                                  .between_looks = std::chrono::milliseconds(10),
                                  .now = [this] { return now_.load(); }});
  Write({first_.Jwk(), second_.Jwk()});
  const absl::Time deadline = absl::Now() + absl::Seconds(2);
  while (!watching.FindKey(*watching.Find(issuer_.issuer), "second").ok() && absl::Now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(watching.FindKey(*watching.Find(issuer_.issuer), "second").ok());
}

TEST_F(IssuerKeysTest, StayAsTheyWereWhenTheFileIsNotUsable) {
  for (const char* text : {"", "{}", R"({"keys":[]})"}) {
    WriteText(text);
    keys_->Look();
    EXPECT_TRUE(keys_->FindKey(TheIssuer(), "first").ok()) << text;
  }
  Write({second_.Jwk()}, {{"issuer", "https://evil.example"}});
  keys_->Look();
  EXPECT_TRUE(keys_->FindKey(TheIssuer(), "first").ok());
  EXPECT_THAT(reported_, ::testing::HasSubstr("\"issuer\" is not https://idp.example"));
  Write({second_.Jwk()}, {{"fetched_at", "yesterday"}});
  keys_->Look();
  EXPECT_TRUE(keys_->FindKey(TheIssuer(), "first").ok());
  EXPECT_THAT(reported_, ::testing::HasSubstr("\"fetched_at\" is no time"));
}

TEST_F(IssuerKeysTest, AreUsedForTwentyFourHours) {
  now_ = now_.load() + absl::Hours(24);
  EXPECT_TRUE(keys_->FindKey(TheIssuer(), "first").ok());
  now_ = now_.load() + absl::Seconds(1);
  EXPECT_EQ(ReasonOf("first"), "CANNOT_AUTHENTICATE");
  Write({first_.Jwk()});
  keys_->Look();
  EXPECT_TRUE(keys_->FindKey(TheIssuer(), "first").ok());
}

TEST_F(IssuerKeysTest, ReportOnceThatTheyAreTooOld) {
  EXPECT_TRUE(keys_->State().ok());
  now_ = now_.load() + absl::Hours(25);
  EXPECT_FALSE(keys_->State().ok());
  keys_->Look();
  EXPECT_THAT(reported_, ::testing::HasSubstr("its tokens are refused"));
  reported_.clear();
  keys_->Look();
  EXPECT_EQ(reported_, "");
}

TEST_F(IssuerKeysTest, FromTheFutureAreNotUsed) {
  Write({first_.Jwk()}, {{"fetched_at", "2100-01-01T00:00:00Z"}});
  keys_->Look();
  EXPECT_EQ(ReasonOf("first"), "CANNOT_AUTHENTICATE");
}

TEST_F(IssuerKeysTest, AreAskedForOnceInThirtySecondsHoweverManyIdsAreUnknown) {
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(ReasonOf(absl::StrCat("unknown ", i)), "TOKEN_INVALID");
  EXPECT_EQ(wakes_, 1);
  now_ = now_.load() + absl::Seconds(30);
  EXPECT_EQ(ReasonOf("unknown"), "TOKEN_INVALID");
  EXPECT_EQ(wakes_, 2);
}

}  // namespace
}  // namespace curator::auth
