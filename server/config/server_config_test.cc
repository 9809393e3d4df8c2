#include "config/server_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"

namespace curator::config {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json Whole() {
  return json::parse(R"({
    "listeners": [
      {"kind": "edge", "address": "unix:/run/curator/edge.sock", "secret_file": "/etc/curator/edge.secret",
       "client_ca": "/etc/curator/clients.pem"},
      {"kind": "local", "address": "unix:/run/curator/local.sock"},
      {"kind": "mutual_tls", "address": "10.0.0.5:7878", "tls_folder": "/etc/curator/tls/current",
       "refresh_seconds": 5}],
    "ledger": "sqlite:/var/lib/curator/ledger.db",
    "data_dir": "/var/lib/curator",
    "issuers": [{"alias": "corp", "issuer": "https://idp.example", "audiences": ["curator"],
                 "algorithms": ["ES256"], "unknown": "register", "name_claim": "name"}],
    "jwks_folder": "/var/lib/curator-jwks",
    "limits": {"streams_per_connection": 7},
    "custody": "single",
    "audit": {"path": "/var/lib/curator-audit/audit.db"}})");
}

// The field that is wrong once `changes` are merged into a whole configuration.
std::string FaultOf(const json& changes) {
  json config = Whole();
  config.merge_patch(changes);
  const absl::Status status = ParseServerConfig(config.dump()).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << changes.dump() << ": " << status;
  return FieldViolationOf(status).value_or(FieldViolation()).field;
}

json OneListener(const json& listener) {
  return {{"listeners", json::array({listener})}};
}

TEST(ServerConfig, IsReadWhole) {
  const absl::StatusOr<ServerConfig> config = ParseServerConfig(Whole().dump());
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(config->listeners.size(), 3);
  EXPECT_EQ(config->listeners[0].kind, ListenerKind::kEdge);
  EXPECT_EQ(config->listeners[0].client_ca, "/etc/curator/clients.pem");
  EXPECT_EQ(config->listeners[2].refresh_seconds, 5);
  ASSERT_EQ(config->issuers.size(), 1);
  EXPECT_EQ(config->issuers[0].issuer.algorithms, std::vector<auth::Algorithm>{auth::Algorithm::kEs256});
  EXPECT_EQ(config->issuers[0].unknown, UnknownIdentities::kRegister);
  EXPECT_EQ(config->issuers[0].name_claim, "name");
  EXPECT_EQ(config->limits.streams_per_connection, 7);
  EXPECT_EQ(config->limits.message_bytes, 4 << 20);
  EXPECT_EQ(config->audit.path, "/var/lib/curator-audit/audit.db");
  EXPECT_EQ(config->audit.name_days, 400);
  EXPECT_EQ(config->custody, Custody::kSingle);
}

TEST(ServerConfig, TheExampleInTheDocumentationIsRead) {
  std::ifstream file(CURATOR_OPERATING);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  constexpr std::string_view kBegin = "```json\n";
  const size_t begin = text.find(kBegin) + kBegin.size();
  const absl::StatusOr<ServerConfig> config =
      ParseServerConfig(text.substr(begin, text.find("```", begin) - begin));
  EXPECT_TRUE(config.ok()) << config.status();
}

TEST(ServerConfig, GivesAPrincipalItsQuotasAndInTheRestThoseOfAllOthers) {
  json whole = Whole();
  whole["quotas"] = {{"calls_per_second", 30},
                     {"watches", 7},
                     {"principals", {{"ana", {{"calls_per_second", 50}, {"import_bytes_per_hour", 0}}}}}};
  const absl::StatusOr<ServerConfig> config = ParseServerConfig(whole.dump());
  ASSERT_TRUE(config.ok()) << config.status();
  const QuotaTable table = config->quota_table();
  EXPECT_EQ(table.Of("bob").calls_per_second, 30);
  EXPECT_EQ(table.Of("bob").import_bytes_per_hour, 1 << 30);
  EXPECT_EQ(table.Of("bob").synthesis_cpu_seconds_per_day, 14'400);
  EXPECT_EQ(table.Of("ana").calls_per_second, 50);
  EXPECT_EQ(table.Of("ana").import_bytes_per_hour, 0);
  EXPECT_EQ(table.Of("ana").watches, 7) << "though her own object comes first in the file or last";
}

TEST(ServerConfig, NamesTheQuotaThatIsWrongAndWhose) {
  const auto fault_of = [](const json& quotas) { return FaultOf({{"quotas", quotas}}); };
  EXPECT_EQ(fault_of({{"calls_per_minute", 1}}), "quotas.calls_per_minute");
  EXPECT_EQ(fault_of({{"synthesis_cpu_seconds_per_day", -1}}), "quotas.synthesis_cpu_seconds_per_day");
  EXPECT_EQ(fault_of({{"import_bytes_per_hour", "1 GiB"}}), "quotas.import_bytes_per_hour");
  EXPECT_EQ(fault_of({{"principals", json::array()}}), "quotas.principals");
  EXPECT_EQ(fault_of({{"principals", {{"a b", json::object()}}}}), "quotas.principals");
  EXPECT_EQ(fault_of({{"principals", {{"ana", 7}}}}), "quotas.principals.ana");
  EXPECT_EQ(fault_of({{"principals", {{"ana", {{"watches", 0}}}}}}), "quotas.principals.ana.watches");
  EXPECT_EQ(fault_of({{"principals", {{"ana", {{"principals", json::object()}}}}}}),
            "quotas.principals.ana.principals");
}

TEST(ServerConfig, NamesTheMemberThatIsUnknown) {
  EXPECT_EQ(FaultOf({{"ledgre", "sqlite:x"}}), "ledgre");
  EXPECT_EQ(FaultOf({{"limits", {{"stream", 1}}}}), "limits.stream");
  EXPECT_EQ(FaultOf({{"audit", {{"days", 1}}}}), "audit.days");
  EXPECT_EQ(FaultOf(OneListener({{"kind", "local"}, {"address", "unix:/x"}, {"secret_file", "y"}})),
            "listeners[0].secret_file")
      << "which only an edge has";
}

TEST(ServerConfig, NamesTheMemberThatIsWrong) {
  const std::vector<std::pair<json, std::string>> wrong = {
      {{{"ledger", nullptr}}, "ledger"},
      {{{"ledger", 7}}, "ledger"},
      {{{"data_dir", ""}}, "data_dir"},
      {{{"audit", 7}}, "audit"},
      {{{"custody", "one"}}, "custody"},
      {{{"metrics", "on"}}, "metrics"},
      {{{"metrics", {{"file", ""}}}}, "metrics.file"},
      {{{"metrics", {{"per_analyst", 1}}}}, "metrics.per_analyst"},
      {{{"metrics", {{"listen", "0.0.0.0:9090"}}}}, "metrics.listen"},
      {{{"log_level", "debug"}}, "log_level"},
      {{{"audit", {{"name_days", 30}}}}, "audit.name_days"},
      {{{"ledger", "postgresql://db.example/curator"}}, "audit.path"},
      {{{"listeners", nullptr}}, "listeners"},
      {{{"listeners", json::object()}}, "listeners"},
      {{{"listeners", json::array()}}, "listeners"},
      {OneListener(7), "listeners[0]"},
      {OneListener({{"address", "unix:/x"}}), "listeners[0].kind"},
      {OneListener({{"kind", "tls"}, {"address", "unix:/x"}}), "listeners[0].kind"},
      {OneListener({{"kind", "edge"}, {"address", "unix:/x"}}), "listeners[0].secret_file"},
      {OneListener({{"kind", "mutual_tls"}, {"address", "10.0.0.5:7878"}}), "listeners[0].tls_folder"},
      {OneListener({{"kind", "mutual_tls"}, {"address", "unix:/x"}, {"tls_folder", "t"}}),
       "listeners[0].address"},
      {{{"limits", {{"streams_per_connection", 0}}}}, "limits.streams_per_connection"},
      {{{"limits", {{"streams_per_connection", 1.5}}}}, "limits.streams_per_connection"},
      {{{"limits", {{"streams_per_connection", 1e30}}}}, "limits.streams_per_connection"},
      {{{"jwks_folder", nullptr}}, "jwks_folder"},
      {{{"issuers", {{{"alias", "Corp!"}, {"issuer", "x"}, {"audiences", {"y"}}}}}}, "issuers[0].alias"},
      {{{"issuers", {{{"alias", "corp"}, {"issuer", "x"}}}}}, "issuers[0].audiences"},
      {{{"issuers", {{{"alias", "corp"}, {"issuer", "x"}, {"audiences", {"y"}}, {"algorithms", {"HS256"}}}}}},
       "issuers[0].algorithms"},
  };
  const json logs_in = {
      {"alias", "a"}, {"issuer", "https://x"}, {"audiences", {"curator"}}, {"client_id", "cli"}};
  EXPECT_EQ(FaultOf({{"issuers", {logs_in}}}), "issuers[0].client_id")
      << "for whom no token would be accepted";
  for (const auto& [changes, field] : wrong) EXPECT_EQ(FaultOf(changes), field) << changes.dump();
}

TEST(ServerConfig, SaysWhereMetricsAreWrittenAndWhatTheLogLeavesOut) {
  json config = Whole();
  EXPECT_EQ(ParseServerConfig(config.dump())->metrics.file, "");
  EXPECT_FALSE(ParseServerConfig(config.dump())->metrics.per_analyst);
  EXPECT_EQ(ParseServerConfig(config.dump())->log_level, LogLevel::kInfo);
  config["metrics"] = {{"file", "/var/lib/curator-metrics/curator.prom"}, {"per_analyst", true}};
  config["log_level"] = "warning";
  const auto read = ParseServerConfig(config.dump());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->metrics.file, "/var/lib/curator-metrics/curator.prom");
  EXPECT_TRUE(read->metrics.per_analyst);
  EXPECT_EQ(read->log_level, LogLevel::kWarning);
}

TEST(ServerConfig, ItTakesTwoPersonsUnlessItSaysOtherwise) {
  json config = Whole();
  config.erase("custody");
  EXPECT_EQ(ParseServerConfig(config.dump())->custody, Custody::kTwoPersons);
}

TEST(ServerConfig, ApprovalsNeedAFreshLoginWhereItSaysSo) {
  json config = Whole();
  EXPECT_EQ(ParseServerConfig(config.dump())->most_login_age, std::nullopt);
  config["approvals"] = {{"max_login_age_seconds", 600}};
  EXPECT_EQ(ParseServerConfig(config.dump())->most_login_age, std::chrono::seconds(600));
  EXPECT_EQ(FaultOf({{"approvals", json::object()}}), "approvals.max_login_age_seconds");
  EXPECT_EQ(FaultOf({{"approvals", 600}}), "approvals");
  EXPECT_EQ(FaultOf({{"approvals", {{"max_login_age_seconds", 0}}}}), "approvals.max_login_age_seconds");
  EXPECT_EQ(FaultOf({{"approvals", {{"max_login_age", 600}}}}), "approvals.max_login_age_seconds");
  EXPECT_EQ(FaultOf({{"approvals", {{"max_login_age_seconds", 600}}}, {"issuers", nullptr}}), "approvals");
}

TEST(ServerConfig, HasEachAddressAndEachIssuerOnce) {
  const json local = {{"kind", "local"}, {"address", "unix:/x"}};
  EXPECT_EQ(FaultOf({{"listeners", {local, local}}}), "listeners[1].address");
  const json issuer = {{"alias", "corp"}, {"issuer", "x"}, {"audiences", {"y"}}};
  json same_alias = issuer;
  same_alias["issuer"] = "z";
  json same_issuer = issuer;
  same_issuer["alias"] = "other";
  EXPECT_EQ(FaultOf({{"issuers", {issuer, same_alias}}}), "issuers[1].alias");
  EXPECT_EQ(FaultOf({{"issuers", {issuer, same_issuer}}}), "issuers[1].issuer");
}

TEST(ServerConfig, RefusesToShowItselfToStrangersAndSaysWhy) {
  json config = Whole();
  config["listeners"] = {{{"kind", "local"}, {"address", "0.0.0.0:7878"}}};
  const absl::Status status = ParseServerConfig(config.dump()).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("CVE-2023-1428"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("listeners[0].address"));
}

TEST(ServerConfig, IsStrictJson) {
  EXPECT_FALSE(ParseServerConfig(R"({"ledger": "a", "ledger": "b"})").ok());
  EXPECT_FALSE(ParseServerConfig("").ok());
  EXPECT_TRUE(absl::IsNotFound(ReadServerConfig("/nowhere/curatord.json").status()));
}

}  // namespace
}  // namespace curator::config
