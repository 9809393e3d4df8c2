#include "client/jwks/refresher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "auth/testing/test_keys.h"
#include "tests/testing/scratch_folder.h"

namespace curator::jwks {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kDiscovery[] = "https://idp.example/.well-known/openid-configuration";
constexpr char kKeys[] = "https://idp.example/keys";

class RefresherTest : public ::testing::Test {
 protected:
  RefresherTest() {
    web_[kDiscovery] = json{{"issuer", "https://idp.example"}, {"jwks_uri", kKeys}}.dump();
    web_[kKeys] = auth::JwksOf({key_.Jwk()});
  }

  Refresher Make(const std::string& jwks_uri = {}) {
    const Settings settings{
        .folder = folder_.path(),
        .issuers = {{.alias = "corp", .issuer = "https://idp.example", .jwks_uri = jwks_uri}}};
    return Refresher(settings,
                     {.fetch = [this](const std::string& url) -> absl::StatusOr<std::string> {
                        fetched_.push_back(url);
                        if (web_.count(url) == 0) return absl::UnavailableError(url + ": answered 404");
                        return web_.at(url);
                      },
                      .now = [this] { return now_; },
                      .report = [this](std::string_view, const absl::Status& status) { last_ = status; }});
  }
  std::string File() const {
    std::ifstream file(folder_.path() + "/corp.json");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const testing::ScratchFolder folder_;
  const auth::TestKey key_{"P-256", "k1", "ES256"};
  std::map<std::string, std::string> web_;
  std::vector<std::string> fetched_;
  absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
  absl::Status last_;
};

TEST_F(RefresherTest, WritesTheKeysThatDiscoveryNames) {
  Make().Run();
  EXPECT_TRUE(last_.ok()) << last_;
  EXPECT_THAT(fetched_, ElementsAre(kDiscovery, kKeys));
  const json file = json::parse(File());
  EXPECT_EQ(file.at("issuer"), "https://idp.example");
  EXPECT_EQ(file.at("fetched_at"), "2027-01-15T08:00:00Z");
  EXPECT_EQ(file.at("keys").at(0).at("kid"), "k1");
}

TEST_F(RefresherTest, FetchesTheKeysAloneWhereTheirAddressIsKnown) {
  Make(kKeys).Run();
  EXPECT_THAT(fetched_, ElementsAre(kKeys));
}

TEST_F(RefresherTest, KeepsTheOldFileWhenTheNewKeysCannotBeUsed) {
  Refresher refresher = Make(kKeys);
  refresher.Run();
  const std::string before = File();
  for (const char* text : {"", "{}", R"({"keys":[]})", "<html>"}) {
    web_[kKeys] = text;
    now_ += absl::Minutes(10);
    refresher.Run();
    EXPECT_FALSE(last_.ok()) << text;
    EXPECT_EQ(File(), before) << text;
  }
  web_.erase(kKeys);
  now_ += absl::Minutes(10);
  refresher.Run();
  EXPECT_THAT(std::string(last_.message()), HasSubstr("404"));
  EXPECT_EQ(File(), before);
}

TEST_F(RefresherTest, RefusesADiscoveryDocumentOfAnotherIssuer) {
  web_[kDiscovery] = json{{"issuer", "https://idp.example/tenant"}, {"jwks_uri", kKeys}}.dump();
  Make().Run();
  EXPECT_THAT(std::string(last_.message()), HasSubstr("another issuer"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/corp.json"));
}

TEST_F(RefresherTest, FetchesEveryTenMinutesAndAMinuteAfterAFailure) {
  Refresher refresher = Make(kKeys);
  EXPECT_EQ(refresher.Run(), now_ + absl::Minutes(10));
  now_ += absl::Minutes(10) - absl::Seconds(1);
  refresher.Run();
  EXPECT_THAT(fetched_, ElementsAre(kKeys));
  now_ += absl::Seconds(1);
  web_.erase(kKeys);
  EXPECT_EQ(refresher.Run(), now_ + absl::Minutes(1));
  EXPECT_THAT(fetched_, ElementsAre(kKeys, kKeys));
}

TEST_F(RefresherTest, FetchesWhenItIsAskedButOnceInThirtySeconds) {
  Refresher refresher = Make(kKeys);
  refresher.Run();
  for (int i = 0; i < 1000; ++i) refresher.Ask("corp");
  refresher.Ask("unknown");
  EXPECT_EQ(refresher.Run(), now_ + Refresher::kCoolDown);
  EXPECT_THAT(fetched_, ElementsAre(kKeys));
  now_ += Refresher::kCoolDown;
  refresher.Run();
  EXPECT_THAT(fetched_, ElementsAre(kKeys, kKeys));
}

TEST(Settings, AreStrict) {
  const json right = {{"folder", "/f"}, {"issuers", {{{"alias", "corp"}, {"issuer", "https://x"}}}}};
  EXPECT_TRUE(ParseSettings(right.dump()).ok());
  const std::vector<std::pair<json, std::string>> wrong = {
      {{{"foldr", "/f"}}, "foldr: is unknown"},
      {{{"folder", nullptr}}, "folder: must be a text"},
      {{{"issuers", json::array()}}, "issuers: must be an array"},
      {{{"refresh_seconds", 0}}, "refresh_seconds: must be an integer"},
      {{{"issuers", {{{"alias", "../corp"}, {"issuer", "https://x"}}}}},
       "issuers[0].alias: must have at most 32"},
      {{{"issuers", {{{"alias", std::string(33, 'a')}, {"issuer", "https://x"}}}}}, "issuers[0].alias"},
      {{{"issuers", {{{"alias", "corp"}, {"issuer", "http://x"}}}}}, "issuers[0].issuer: must begin with"},
      {{{"issuers", {{{"alias", "a"}, {"issuer", "https://x"}, {"jwks_uri", "file:///x"}}}}},
       "issuers[0].jwks_uri: must begin with"},
      {{{"issuers", {{{"alias", "a"}, {"issuer", "https://x"}}, {{"alias", "a"}, {"issuer", "https://y"}}}}},
       "issuers[1].alias: is another issuer's"},
      {{{"wake_socket", std::string(108, '/')}}, "wake_socket: must be a path"},
      {{{"issuers", {{{"alias", "corp"}}}}}, "issuers[0].issuer: must be a text"}};
  for (const auto& [changes, message] : wrong) {
    json settings = right;
    settings.merge_patch(changes);
    EXPECT_THAT(std::string(ParseSettings(settings.dump()).status().message()), HasSubstr(message));
  }
}

}  // namespace
}  // namespace curator::jwks
