// The exported history, verified by a program that shares no code with the one that wrote it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "client/request_id.h"
#include "tests/testing/scratch_folder.h"
#include "tests/testing/shell.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::HasSubstr;

class LedgerExport : public ::testing::TestWithParam<Backend> {
 protected:
  LedgerExport() : server_(GetParam()), owner_(server_.ClientFor("owner")) { MakeHistory(); }

  // Questions, a refusal, a reservation that is started for less, one that is cancelled, and one that is
  // still held.
  void MakeHistory() {
    MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
    Grant(owner_, "census", "owner", {v1::SERVICE});
    Ask("0.25");
    Ask("5");
    const std::string started = Reserve("0.2");
    v1::StartChargeRequest start;
    start.set_charge_id(started);
    start.mutable_final_event()->mutable_pure()->set_epsilon("0.125");
    EXPECT_TRUE(owner_.StartCharge(start).ok());
    EXPECT_TRUE(owner_.CommitBudget(started).ok());
    v1::CancelReservationRequest cancel;
    cancel.set_charge_id(Reserve("0.1"));
    EXPECT_TRUE(owner_.CancelReservation(cancel).ok());
    Reserve("0.0625");
  }

  void Ask(const std::string& epsilon) const {
    v1::AnswerWorkloadRequest question;
    question.set_dataset("census");
    *question.mutable_workload() = AllMarginals(1);
    question.mutable_spend()->set_epsilon(epsilon);
    (void)owner_.AnswerWorkload(question);
  }

  std::string Reserve(const std::string& epsilon) const {
    v1::ReserveBudgetRequest request;
    request.set_dataset("census");
    request.mutable_event()->mutable_pure()->set_epsilon(epsilon);
    const absl::StatusOr<v1::Charge> charge = owner_.ReserveBudget(request);
    EXPECT_TRUE(charge.ok()) << charge.status();
    return charge.ok() ? charge->id() : "";
  }

  std::vector<std::string> Export() const {
    const std::string path = folder_.path() + "/census.jsonl";
    const auto [status, output] = Shell(CURATOR_PATH " --server " + server_.address() +
                                        " --as owner ledger export census --out " + path);
    EXPECT_EQ(status, 0) << output;
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  std::pair<int, std::string> Verify(const std::vector<std::string>& lines) const {
    const std::string path = folder_.path() + "/checked.jsonl";
    std::ofstream file(path);
    for (const std::string& line : lines) file << line << "\n";
    file.close();
    return Shell("python3 " CURATOR_VERIFIER " " + path);
  }

  const ScratchFolder folder_;
  TestServer server_;
  Client owner_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, LedgerExport, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(LedgerExport, AnIndependentVerifierFindsTheSameBalancesAndTheSameHead) {
  const auto [status, output] = Verify(Export());
  EXPECT_EQ(status, 0) << output;
  EXPECT_THAT(output, HasSubstr("epsilon: limit 1000000000000, spent 375000000000, held 62500000000\n"));
  const absl::StatusOr<v1::VerifyLedgerResponse> verified = owner_.VerifyLedger("census");
  ASSERT_TRUE(verified.ok() && verified->ok());
  std::ostringstream head;
  for (const unsigned char byte : verified->head_hash()) head << std::hex << (byte >> 4) << (byte & 15);
  EXPECT_THAT(output, HasSubstr("head " + head.str()));
}

TEST_P(LedgerExport, AnEditedARemovedAndAReorderedEntryAreEachFound) {
  const std::vector<std::string> lines = Export();
  ASSERT_GT(lines.size(), 6u);
  std::vector<std::string> edited = lines;
  const size_t payload = edited[3].find("\"payload\":\"") + 60;
  edited[3][payload] = edited[3][payload] == '0' ? '1' : '0';
  EXPECT_EQ(Verify(edited).first, 1);
  EXPECT_THAT(Verify(edited).second, HasSubstr("was edited"));

  std::vector<std::string> shortened = lines;
  shortened.erase(shortened.begin() + 3);
  EXPECT_THAT(Verify(shortened).second, HasSubstr("entry 4 is missing"));

  std::vector<std::string> reordered = lines;
  std::swap(reordered[3], reordered[4]);
  EXPECT_EQ(Verify(reordered).first, 1);
}

// A partitioned dataset from the command line, from its making to its verified history.
TEST_P(LedgerExport, APartitionedDatasetGrowsFromTheCommandLineAndItsHistoryHolds) {
  const std::string path = folder_.path();
  std::ofstream(path + "/visits.json")
      << R"({"attributes": [{"name": "year", "integer": {"min": 2020, "max": 2030}}, {"name": "kind", "coded": {"size": 2}}]})";
  std::ofstream(path + "/visits.csv") << "year,kind\n2020,0\n2021,1\n2024,0\n2025,1\n";
  const auto curator = [&](const std::string& line) {
    const auto [status, output] =
        Shell(CURATOR_PATH " --server " + server_.address() + " --as owner " + line);
    EXPECT_EQ(status, 0) << line << "\n" << output;
    return output;
  };
  curator(
      "dataset create visits --schema " + path +
      "/visits.json --rule pure --epsilon 1 --partition-by year --part early=2020..2023 --part 2024=2024");
  curator("dataset import visits " + path + "/visits.csv --part early --max-rejected 100%");
  EXPECT_THAT(curator("dataset seal visits --part early --output json"), HasSubstr("\"records\":2"));
  curator("workload answer visits --marginals 1 --epsilon 0.5");
  EXPECT_THAT(curator("dataset add-part visits 2025=2025 --rule pure --epsilon 0.75"), HasSubstr("2025"));
  curator("dataset import visits " + path + "/visits.csv --part 2025 --max-rejected 100%");
  curator("dataset seal visits --part 2025");
  curator("workload answer visits --marginals 1 --epsilon 0.25 --parts early,2025");
  EXPECT_THAT(curator("budget show visits"),
              HasSubstr("the dataset's spent amounts: those of the part that has spent most"));
  EXPECT_THAT(curator("dataset show visits"), HasSubstr("2020, 2021, 2022, 2023"));
  EXPECT_THAT(curator("ledger show visits"), HasSubstr("part 2025: epsilon 0.75"));

  curator("ledger export visits --out " + path + "/visits.jsonl");
  std::ifstream file(path + "/visits.jsonl");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  const auto [status, output] = Verify(lines);
  EXPECT_EQ(status, 0) << output;
  EXPECT_THAT(output, HasSubstr("epsilon: limit 1000000000000, spent 750000000000, held 0\n"));
  EXPECT_THAT(output, HasSubstr("epsilon: limit 750000000000, spent 250000000000, held 0\n"));
}

}  // namespace
}  // namespace curator::testing
