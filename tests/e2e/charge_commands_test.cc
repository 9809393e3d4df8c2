// The accountant from the command line, and the example of a service that uses it.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "nlohmann/json.hpp"
#include "tests/testing/scratch_folder.h"
#include "tests/testing/shell.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using nlohmann::json;

class ChargeCommands : public ::testing::TestWithParam<Backend> {
 protected:
  ChargeCommands() : server_(GetParam()), owner_(server_.ClientFor("owner")) {
    MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(0));
    Grant(owner_, "census", "owner", {v1::SERVICE});
  }
  std::pair<int, std::string> Curator(const std::string& command) const {
    return Shell(CURATOR_PATH " --server " + server_.address() + " --as owner --output json " + command);
  }
  // What a command that must succeed shows of its charge.
  json Charge(const std::string& command) const {
    const auto [status, output] = Curator("charge " + command);
    EXPECT_EQ(status, 0) << output;
    json charge = json::parse(output, nullptr, false);
    EXPECT_FALSE(charge.is_discarded()) << output;
    return charge;
  }
  // The example, told to spend `epsilon` on a program that leaves a file behind and ends with status 5.
  int RunCharged(const std::string& epsilon) const {
    return Shell(CURATOR_CHARGED_RUN " " + server_.address() + " owner census " + epsilon + " sh -c 'touch " +
                 LookedAt() + "; exit 5'")
        .first;
  }
  std::string LookedAt() const { return folder_.path() + "/looked"; }
  v1::Counter Epsilon() const { return owner_.GetBudget("census")->accounts(0).counters(0); }

  const ScratchFolder folder_;
  TestServer server_;
  Client owner_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, ChargeCommands, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(ChargeCommands, ReserveExtendStartForLessCommitAndShow) {
  const std::string id = Charge("reserve census --epsilon 0.5 --summary 'weekly report'")["charge_id"];
  EXPECT_EQ(Epsilon().held(), "0.5");
  EXPECT_EQ(Charge("extend " + id + " --lifetime 7200")["state"], "reserved");
  EXPECT_EQ(Charge("start " + id + " --epsilon 0.25")["state"], "started");
  EXPECT_EQ(Charge("commit " + id)["state"], "committed");
  EXPECT_EQ(Charge("show " + id)["summary"], "weekly report");
  EXPECT_EQ(Epsilon().spent(), "0.25");
  EXPECT_EQ(Epsilon().held(), "0");
}

TEST_P(ChargeCommands, CancelGivesBackBeforeTheStartAndNotAfterIt) {
  const std::string cancelled = Charge("reserve census --epsilon 0.5")["charge_id"];
  EXPECT_EQ(Charge("cancel " + cancelled + " --reason 'not needed'")["state"], "cancelled");
  EXPECT_EQ(Epsilon().held(), "0");
  const std::string started = Charge("reserve census --epsilon 0.5")["charge_id"];
  Charge("start " + started);
  EXPECT_NE(Curator("charge cancel " + started).first, 0);
  EXPECT_EQ(Epsilon().spent(), "0.5");
}

TEST_P(ChargeCommands, AWrongAmountIsNamedByItsOption) {
  for (const char* wrong : {"--epsilon 0", "--epsilon 1e30", "--rho 1e30", "--epsilon 1 --delta 7"}) {
    const std::string option = std::string(wrong).substr(std::string(wrong).rfind("--"));
    const auto [status, output] = Curator(std::string("charge reserve census ") + wrong + " 2>&1");
    EXPECT_EQ(status, 1) << wrong;
    EXPECT_NE(output.find(option.substr(0, option.find(' ')) + ": "), std::string::npos) << output;
    EXPECT_EQ(output.find("--event"), std::string::npos) << output;
  }
}

TEST_P(ChargeCommands, TheExampleLooksOnlyAtWhatIsPaid) {
  EXPECT_EQ(RunCharged("2"), 1) << "more than there is";
  EXPECT_FALSE(std::filesystem::exists(LookedAt()));
  EXPECT_EQ(Epsilon().spent(), "0");
  EXPECT_EQ(RunCharged("0.75"), 5) << "the program's own";
  EXPECT_TRUE(std::filesystem::exists(LookedAt()));
  EXPECT_EQ(Epsilon().spent(), "0.75");
  EXPECT_TRUE(owner_.VerifyLedger("census")->ok());
}

}  // namespace
}  // namespace curator::testing
