// A whole installation but for the edge: an identity provider, the program that fetches its keys, a server,
// and the command line. Each is a process of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "auth/testing/test_certificates.h"
#include "auth/testing/test_keys.h"
#include "client/client.h"
#include "client/https/https.h"
#include "tests/testing/scratch_folder.h"
#include "tests/testing/server_process.h"

namespace curator::testing {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

constexpr char kDeviceGrant[] = "urn:ietf:params:oauth:grant-type:device_code";

class Provider : public ::testing::Test {
 protected:
  void SetUp() override {
    const auth::IssuedCertificate certificate =
        authority_.Issue({.names = {"DNS:localhost"}, .usage = "serverAuth"});
    Write("idp.pem", certificate.pem + certificate.key_pem);
    Write("ca.pem", authority_.pem());
    idp_ = std::make_unique<ServerProcess>(
        "/usr/bin/python3", std::vector<std::string>{IDENTITY_PROVIDER, "--certificate", File("idp.pem")});
    issuer_ = idp_->Address().value();
    Write("jwks.json", json{{"folder", folder_.path()},
                            {"wake_socket", File("wake.sock")},
                            {"authorities", File("ca.pem")},
                            {"issuers", {{{"alias", "corp"}, {"issuer", issuer_}}}}}
                           .dump());
    StartFetching();
    Write("curatord.json",
          json{{"listeners", {{{"kind", "local"}, {"address", "unix:" + File("local.sock")}}}},
               {"ledger", "sqlite:" + File("ledger.db")},
               {"data_dir", File("data")},
               {"issuers",
                {{{"alias", "corp"},
                  {"issuer", issuer_},
                  {"audiences", {"curator", "curator-cli"}},
                  {"client_id", "curator-cli"},
                  {"unknown", "register"}}}},
               {"jwks_folder", folder_.path()},
               {"jwks_wake_socket", File("wake.sock")}}
              .dump());
    server_ = std::make_unique<ServerProcess>(std::vector<std::string>{"--config", File("curatord.json")});
    address_ = server_->Address().value();
    // A log that nobody reads would hold the server up.
    log_reader_ = std::thread([this] {
      server_->AwaitLog("\"2 keys, fetched");
      has_two_keys_.set_value();
      server_->AwaitLog("no line has this");
    });
  }
  void TearDown() override {
    server_->Signal(SIGKILL);
    log_reader_.join();
  }

  void StartFetching() {
    fetcher_ = std::make_unique<ServerProcess>(CURATOR_JWKS,
                                               std::vector<std::string>{"--config", File("jwks.json")});
    ASSERT_TRUE(fetcher_->AwaitLog("keys_fetched")) << fetcher_->log();
  }

  std::string File(const std::string& name) const { return folder_.path() + "/" + name; }
  void Write(const std::string& name, const std::string& text) const { std::ofstream(File(name)) << text; }

  // What a test asks of the provider.
  json Ask(const std::string& path, const https::Fields& fields = {}) const {
    return json::parse(https::PostForm(issuer_ + path, fields, Tls())->body);
  }
  int64_t Fetches() const {
    return json::parse(*https::GetBody(issuer_ + "/test/fetches", Tls())).at("fetches");
  }
  https::Options Tls() const { return {.authorities = File("ca.pem")}; }

  // By the device flow.
  std::string TokenOf(const std::string& subject) const {
    const json device = Ask("/device", {{"client_id", "curator-cli"}});
    Ask("/test/approve", {{"user_code", device.at("user_code")}, {"sub", subject}});
    return Ask("/token", {{"grant_type", kDeviceGrant},
                          {"device_code", device.at("device_code")},
                          {"client_id", "curator-cli"}})
        .at("id_token");
  }
  Client With(const std::string& token) const {
    return Client(
        {.server = address_, .principal = {}, .retry = {}, .token = [token](bool) { return token; }});
  }

  const ScratchFolder folder_;
  const auth::TestAuthority authority_{absl::Now()};
  std::unique_ptr<ServerProcess> idp_;
  std::unique_ptr<ServerProcess> fetcher_;
  std::unique_ptr<ServerProcess> server_;
  std::promise<void> has_two_keys_;  // the server has read them
  std::thread log_reader_;
  std::string issuer_;
  std::string address_;
};

TEST_F(Provider, LetsInWhomTheProviderVouchesFor) {
  const std::string token = TokenOf("eve");
  EXPECT_EQ(With(token).Enrol({})->principal().name(), "corp.eve");
  EXPECT_EQ(With(token).WhoAmI()->principal().name(), "corp.eve");
}

TEST_F(Provider, ANewKeyThatIsPublishedBeforeItSignsCostsNoCall) {
  const std::string before = TokenOf("eve");
  ASSERT_TRUE(With(before).Enrol({}).ok());
  std::atomic<bool> is_over = false;
  std::atomic<int> calls = 0;
  std::thread load([&] {
    const Client client = With(before);
    while (!is_over) {
      EXPECT_TRUE(client.WhoAmI().ok());
      ++calls;
    }
  });
  Ask("/test/publish");
  fetcher_.reset();
  StartFetching();  // as its timer would
  EXPECT_EQ(has_two_keys_.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  Ask("/test/use");
  EXPECT_TRUE(With(TokenOf("eve")).WhoAmI().ok());
  is_over = true;
  load.join();
  EXPECT_GT(calls, 10);
}

// The fetch is due 30 seconds after the one at the start.
TEST_F(Provider, AThousandUnknownKeysCauseOneFetchWhichBringsTheNewOne) {
  ASSERT_TRUE(With(TokenOf("eve")).Enrol({}).ok());
  const int64_t before = Fetches();
  Ask("/test/publish");
  Ask("/test/use");
  const std::string token = TokenOf("eve");
  const auth::TestKey stranger("P-256", "stranger", "ES256");
  for (int i = 0; i < 1000; ++i) {
    const std::string forged =
        stranger.Token({{"iss", issuer_}, {"sub", "eve"}, {"aud", "curator"}, {"exp", 4e9}},
                       {{"kid", absl::StrCat("random ", i)}});
    EXPECT_TRUE(absl::IsUnauthenticated(With(forged).WhoAmI().status()));
  }
  const Client client = With(token);
  const auto deadline = steady_clock::now() + std::chrono::seconds(60);
  while (!client.WhoAmI().ok() && steady_clock::now() < deadline) absl::SleepFor(absl::Milliseconds(100));
  EXPECT_TRUE(client.WhoAmI().ok());
  EXPECT_EQ(Fetches() - before, 1);
}

// Of the ledger, the data folder, and everything else that the server may write.
std::string EverythingBelow(const std::string& folder) {
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    all.append(std::istreambuf_iterator<char>(file), {});
  }
  return all;
}

TEST_F(Provider, SecretsAreInNoLogNoFileAndNoCore) {
  const std::string token = TokenOf("eve");
  const Client eve = With(token);
  ASSERT_TRUE(eve.Enrol({}).ok());
  v1::CreateApiTokenRequest create;
  create.set_label("nightly");
  create.mutable_expire_time()->set_seconds(absl::ToUnixSeconds(absl::Now()) + 3600);
  const std::string api_token = eve.CreateApiToken(create)->token();
  ASSERT_TRUE(With(api_token).WhoAmI().ok());
  v1::OpenEnrolmentRequest open;
  open.mutable_identity()->set_kind(v1::Identity::CERTIFICATE);
  open.mutable_identity()->set_subject("spiffe://example/nightly");
  const std::string code = eve.OpenEnrolment(open)->code();
  // Refusals are logged in detail.
  EXPECT_FALSE(With(token + "x").WhoAmI().ok());
  EXPECT_FALSE(With(api_token + "x").WhoAmI().ok());

  std::ifstream limits(absl::StrCat("/proc/", server_->pid(), "/limits"));
  const std::string of_process{std::istreambuf_iterator<char>(limits), {}};
  EXPECT_THAT(of_process, ::testing::ContainsRegex("Max core file size +[01] +[01] "));
  server_->Signal(SIGKILL);
  log_reader_.join();
  log_reader_ = std::thread([] {});
  const std::string written = EverythingBelow(folder_.path()) + server_->log();
  ASSERT_THAT(written, HasSubstr("nightly")) << "which is no secret";
  ASSERT_THAT(server_->log(), HasSubstr("an API token is malformed"));
  for (const std::string& secret : {token, api_token, code}) {
    // Its last third: the beginning of a token names its algorithm, and that of an API token is its id.
    EXPECT_EQ(written.find(secret.substr(secret.size() * 2 / 3)), std::string::npos) << secret;
  }
}

TEST_F(Provider, AFreshLoginOfTheCommandLineIsANewOne) {
  setenv("XDG_STATE_HOME", folder_.path().c_str(), 1);
  const auto log_in = [this](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"--server", address_, "login", "--issuer-ca", File("ca.pem")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    ServerProcess login(CURATOR_CLI, arguments);
    EXPECT_TRUE(login.AwaitLog("enter the code ")) << login.log();
    const std::string code = login.log().substr(login.log().find("enter the code ") + 15, 8);
    Ask("/test/login", {{"sub", "eve"}, {"seconds_ago", "5000"}});
    Ask("/test/approve", {{"user_code", code}, {"sub", "eve"}});
    EXPECT_EQ(login.WaitForEnd(), 0) << login.log();
    std::ifstream kept(absl::StrCat(folder_.path(), "/curator/login.json"));
    const std::string text{std::istreambuf_iterator<char>(kept), {}};
    const size_t at = text.find("eyJ");
    const std::string token = text.substr(at, text.find('"', at) - at);
    std::string claims;
    const size_t body = token.find('.') + 1;
    EXPECT_TRUE(absl::WebSafeBase64Unescape(token.substr(body, token.rfind('.') - body), &claims));
    return absl::Now() - absl::FromUnixSeconds(json::parse(claims).at("auth_time"));
  };
  EXPECT_GT(log_in({}), absl::Seconds(4000)) << "the earlier one of the browser";
  EXPECT_LT(log_in({"--fresh"}), absl::Seconds(60));
}

TEST_F(Provider, ALoginOfTheCommandLineIsKept) {
  setenv("XDG_STATE_HOME", folder_.path().c_str(), 1);
  ServerProcess login(CURATOR_CLI, {"--server", address_, "login", "--issuer-ca", File("ca.pem")});
  ASSERT_TRUE(login.AwaitLog("enter the code ")) << login.log();
  const std::string code = login.log().substr(login.log().find("enter the code ") + 15, 8);
  Ask("/test/approve", {{"user_code", code}, {"sub", "eve"}});
  EXPECT_EQ(login.WaitForEnd(), 0) << login.log();
  ServerProcess enrol(CURATOR_CLI, {"--server", address_, "enrol"});
  EXPECT_EQ(enrol.WaitForEnd(), 0) << enrol.log();
  ServerProcess logout(CURATOR_CLI, {"--server", address_, "logout"});
  EXPECT_EQ(logout.WaitForEnd(), 0);
  ServerProcess nobody(CURATOR_CLI, {"--server", address_, "whoami"});
  EXPECT_EQ(nobody.WaitForEnd(), 1);
  EXPECT_THAT(nobody.log(), HasSubstr("curator login"));
}

}  // namespace
}  // namespace curator::testing
