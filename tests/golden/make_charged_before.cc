// Makes the state that charged_before_test.cc starts from: run it with the server of an earlier version.
//
//   make_charged_before FOLDER
//
// FOLDER must not exist. It gets the server's data directory, its ledger, and as text what that server
// answered: charges.txt (when it was killed), stored.txt (what it had stored) and finished.txt (what came of
// the interrupted request when that server itself, on a copy of the state, was asked again).
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/golden/charged_before.h"
#include "tests/testing/server_process.h"
#include "tests/testing/small_table.h"

namespace curator::golden {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Arguments(const fs::path& folder) {
  return {"--listen=127.0.0.1:0", "--dev", "--ledger=sqlite:" + (folder / "ledger.db").string(),
          "--data-dir=" + (folder / "data").string(), "--drain-seconds=0"};
}

void Write(const fs::path& path, const std::vector<std::string>& lines) {
  std::ofstream file(path);
  for (const std::string& line : lines) file << line << "\n";
}

void Append(std::vector<std::string> more, std::vector<std::string>& lines) {
  lines.insert(lines.end(), more.begin(), more.end());
}

Client ClientOf(testing::ServerProcess& server) {
  return Client({.server = server.Address().value(), .principal = "owner"});
}

void MakeDatasets(const Client& client) {
  testing::MakeSealed(client, testing::NewDataset("census", v1::RULE_ADVANCED, "20", "1e-5"),
                      testing::SmallCsv(800));
  v1::CreateDatasetRequest wide = testing::LargeDataset();
  wide.set_name("wide");
  const std::string csv = testing::LargeCsv();
  testing::MakeSealed(client, wide, csv.substr(0, csv.find('\n', 2000) + 1));  // few of its records
}

std::vector<std::string> AskAndStore(const Client& client, const ChargedRequests& requests) {
  const absl::StatusOr<Answer> answer = client.AnswerWorkload(requests.workload);
  EXPECT_TRUE(answer.ok()) << answer.status();
  std::vector<std::string> stored = Content(client, answer->header.release_id());
  for (const v1::CreateSynthesisRequest& synthesis : requests.syntheses)
    Append(Content(client, ReleaseOf(client, synthesis)), stored);
  testing::Grant(client, "census", "owner", {v1::SERVICE});
  const absl::StatusOr<v1::Charge> reserved = client.ReserveBudget(requests.reservation);
  EXPECT_TRUE(reserved.ok()) << reserved.status();
  v1::StartChargeRequest start;
  start.set_charge_id(reserved->id());
  EXPECT_TRUE(client.StartCharge(start).ok());
  EXPECT_TRUE(client.CommitBudget(reserved->id()).ok());
  stored.push_back("charge " + reserved->id());
  return stored;
}

void Make(const fs::path& folder) {
  const ChargedRequests requests = RequestsChargedBefore();
  fs::create_directory(folder);
  {
    testing::ServerProcess server(Arguments(folder));
    const Client client = ClientOf(server);
    MakeDatasets(client);
    Write(folder / "stored.txt", AskAndStore(client, requests));
    EXPECT_TRUE(client.CreateSynthesis(requests.blocking).ok());
    EXPECT_TRUE(client.CreateSynthesis(requests.interrupted).ok());
    Write(folder / "charges.txt", Charges(client, "census"));
    EXPECT_EQ(server.Stop(SIGKILL), -SIGKILL);
  }
  const fs::path copy = folder.string() + ".copy";
  fs::copy(folder, copy, fs::copy_options::recursive);
  testing::ServerProcess server(Arguments(copy));
  const Client client = ClientOf(server);
  Write(folder / "finished.txt", Content(client, ReleaseOf(client, requests.interrupted)));
  fs::remove_all(copy);
}

}  // namespace
}  // namespace curator::golden

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::cerr << "usage: make_charged_before FOLDER\n";
    return 2;
  }
  ::testing::InitGoogleTest();
  curator::golden::Make(arguments[1]);
  return ::testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed() ? 1 : 0;
}
