#include "app_bootstrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "tests/testing/scratch_folder.h"

namespace curator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(RunBootstrap, DoesNotBeginALedgerBesideTheRecordsOfAnother) {
  const testing::ScratchFolder scratch;
  const std::string data_dir = absl::StrCat(scratch.path(), "/data");
  std::filesystem::create_directories(data_dir + "/datasets/d1");
  const config::ServerConfig config{.ledger = absl::StrCat("sqlite:", scratch.path(), "/ledger.db"),
                                    .data_dir = data_dir};
  std::ostringstream out;
  std::ostringstream error;
  EXPECT_EQ(
      RunBootstrap(config, {.principal = "ada", .certificate = "spiffe://curator.example/ada"}, out, error),
      1);
  EXPECT_THAT(error.str(), HasSubstr("To begin a new ledger here, start once with --init"));
  EXPECT_EQ(out.str(), "");
}

class EdgeConfigTest : public ::testing::Test {
 protected:
  int Print(const std::string& gate) {
    out_.str("");
    error_.str("");
    const config::ServerConfig config{.listeners = {{.kind = config::ListenerKind::kEdge,
                                                     .address = "unix:/run/curator-edge/edge.sock",
                                                     .secret_file = secret_file_}}};
    return RunEdgeConfig(config, {.bind = "*:443", .certificate = "/etc/curator/edge.pem", .gate = gate},
                         out_, error_);
  }
  // The lines from "kind name" up to the next section.
  std::string Section(const std::string& title) const {
    const std::string text = out_.str();
    const size_t begin = text.find("\n" + title + "\n");
    return begin == std::string::npos ? "" : text.substr(begin, text.find("\n\n", begin) - begin);
  }

  const testing::ScratchFolder scratch_;
  const std::string secret_file_ = absl::StrCat(scratch_.path(), "/edge.secret");
  std::ostringstream out_;
  std::ostringstream error_;
};

TEST_F(EdgeConfigTest, WithAGateBrowsersGoToItsSocketAndCallsToTheServer) {
  ASSERT_EQ(Print("unix:/run/curator-gate/http.sock"), 0) << error_.str();
  EXPECT_THAT(Section("backend gate"),
              HasSubstr("    server gate unix@/run/curator-gate/http.sock maxconn 1900"));
  EXPECT_THAT(Section("backend curatord"),
              HasSubstr("    server curatord unix@/run/curator-edge/edge.sock proto h2"));
  EXPECT_THAT(Section("frontend edge"),
              AllOf(HasSubstr("    use_backend gate if !grpc\n    default_backend curatord"),
                    Not(HasSubstr("deny_status 404"))));
}

TEST_F(EdgeConfigTest, WithAGateBrowsersAndLoginsHaveTablesOfTheirOwn) {
  ASSERT_EQ(Print("unix:/run/curator-gate/http.sock"), 0) << error_.str();
  EXPECT_THAT(Section("backend browsers"),
              HasSubstr("stick-table type ipv6 size 100k expire 10m store conn_cur"));
  EXPECT_THAT(Section("backend logins"),
              HasSubstr("stick-table type ipv6 size 100k expire 10m store http_req_rate(10s)"));
  EXPECT_THAT(Section("frontend edge"),
              AllOf(HasSubstr("track-sc1 src,ipmask(32,64) table browsers if !grpc"),
                    HasSubstr("track-sc2 src,ipmask(32,64) table logins if !grpc { path_beg /auth/ }"),
                    HasSubstr("deny_status 429 if !grpc { sc1_conn_cur(browsers) gt 200 }"),
                    HasSubstr("deny_status 429 if !grpc { sc2_http_req_rate(logins) gt 60 }")));
}

TEST_F(EdgeConfigTest, AGateGetsNothingOfWhatTheServerBelieves) {
  ASSERT_EQ(Print("unix:/run/curator-gate/http.sock"), 0) << error_.str();
  std::istringstream lines(Section("frontend edge"));
  int believed = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("set-header x-curator-") == std::string::npos) continue;
    EXPECT_THAT(line, HasSubstr(" if grpc"));
    ++believed;
  }
  EXPECT_EQ(believed, 2) << "the secret, and a client's certificate";
}

TEST_F(EdgeConfigTest, WithoutAGateBrowsersAreAnsweredWith404) {
  ASSERT_EQ(Print(""), 0) << error_.str();
  EXPECT_THAT(Section("frontend edge"), HasSubstr("http-request deny deny_status 404 if !grpc"));
  EXPECT_THAT(out_.str(), AllOf(Not(HasSubstr("gate")), Not(HasSubstr("logins")),
                                Not(::testing::ContainsRegex("[{][A-Z]+[}]"))));
}

TEST_F(EdgeConfigTest, AGateThatIsNoSocketIsRefusedByItsFlag) {
  for (const char* gate :
       {"/run/gate.sock", "unix:", "unix:/", "unix:gate.sock", "unix@/run/gate.sock", "127.0.0.1:7880",
        "http://127.0.0.1:7880", "unix:/run/gate.sock maxconn 5", "unix:/run/a\nb", "unix:/run/#a",
        "unix:/run/\"a\"", "unix:/run/$HOME", "unix:/run/\xc3\xa4"}) {
    EXPECT_EQ(Print(gate), 1) << gate;
    EXPECT_THAT(error_.str(), HasSubstr("INVALID_ARGUMENT: --gate: must be unix:/PATH")) << gate;
    EXPECT_EQ(out_.str(), "") << gate;
  }
  EXPECT_FALSE(std::filesystem::exists(secret_file_)) << "nothing was made";
}

}  // namespace
}  // namespace curator
