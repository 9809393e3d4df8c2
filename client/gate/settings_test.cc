#include "client/gate/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace curator::gate {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

json Whole() {
  return {{"listen", "unix:/run/curator-gate/http.sock"},
          {"origin", "https://curator.example"},
          {"server", "unix:/run/curator/local.sock"},
          {"metrics_listen", "127.0.0.1:9187"},
          {"logins",
           {{{"alias", "corp"},
             {"issuer", "https://idp.example"},
             {"client_id", "curator-gate"},
             {"client_secret_file", "/etc/curator/gate.secret"}}}}};
}

std::string ErrorOf(const json& document) {
  return std::string(ParseSettings(document.dump()).status().message());
}

TEST(GateSettingsTest, AWholeConfigurationIsRead) {
  const auto settings = ParseSettings(Whole().dump());
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->origin, "https://curator.example");
  ASSERT_EQ(settings->logins.size(), 1U);
  EXPECT_EQ(settings->logins[0].scope, "openid profile");
}

TEST(GateSettingsTest, AMistakeIsNamedByItsMember) {
  const std::vector<std::pair<json::json_pointer, json>> mistakes = {
      {json::json_pointer("/listen"), "127.0.0.1:80"},
      {json::json_pointer("/origin"), "http://x"},
      {json::json_pointer("/origin"), "https://x/path"},
      {json::json_pointer("/origin"), "https://"},
      {json::json_pointer("/origin"), "https://x:443"},
      {json::json_pointer("/origin"), "https://X"},
      {json::json_pointer("/origin"), "https://a@x"},
      {json::json_pointer("/origin"), "https://x?a"},
      {json::json_pointer("/server"), "10.0.0.1:7878"},
      {json::json_pointer("/logins/0/issuer"), "http://idp"},
      {json::json_pointer("/logins/0/alias"), "A b"},
      {json::json_pointer("/logins/0/client_id"), ""},
      {json::json_pointer("/metrics_listen"), "0.0.0.0:9187"},
      {json::json_pointer("/metrics_listen"), "127.0.0.1:70000"},
      {json::json_pointer("/surprise"), 1}};
  for (const auto& [member, value] : mistakes) {
    json document = Whole();
    document[member] = value;
    EXPECT_THAT(ErrorOf(document), HasSubstr(member.back())) << member << " " << value;
  }
}

TEST(GateSettingsTest, ALoginThatIsNoObjectIsNamed) {
  json document = Whole();
  document["logins"][0] = 5;
  EXPECT_EQ(ErrorOf(document), "logins[0]: must be an object");
}

TEST(GateSettingsTest, TwoLoginsHaveTwoAliases) {
  json document = Whole();
  document["logins"].push_back(document["logins"][0]);
  EXPECT_THAT(ErrorOf(document), StartsWith("logins[1].alias"));
}

}  // namespace
}  // namespace curator::gate
