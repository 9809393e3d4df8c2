// Receipts and repair over a real socket, by the command line: what an analyst keeps shows whether the
// history still contains it, and a restored backup is refused until its owner raises it to the anchor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "app.h"
#include "client/client.h"
#include "tests/testing/postgres_cluster.h"
#include "tests/testing/scratch_folder.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A command's exit status and what it printed.
struct Ran {
  int status = 0;
  std::string output;
};

Ran Shell(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  Ran ran;
  std::array<char, 4096> buffer;
  while (const size_t size = fread(buffer.data(), 1, buffer.size(), pipe)) {
    ran.output.append(buffer.data(), size);
  }
  ran.status = WEXITSTATUS(pclose(pipe));
  return ran;
}

class Receipts : public ::testing::TestWithParam<Backend> {
 protected:
  Receipts() : options_(FreshOptions(GetParam(), folder_.path())), mine_(folder_.path() + "/mine.jsonl") {
    options_.anchor_directory = folder_.path() + "/anchor";
    Start();
    const Client owner({.server = app_->address(), .principal = "owner"});
    MakeSealed(owner, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
    EXPECT_EQ(As("owner", "dataset grant census ana --role analyst --role service").status, 0);
    EXPECT_EQ(As("owner", "dataset grant census bob").status, 0);
    EXPECT_EQ(As("owner", "dataset grant census vera --role approver").status, 0);
  }

  void Start() {
    absl::StatusOr<std::unique_ptr<App>> app = App::Start(options_);
    ASSERT_TRUE(app.ok()) << app.status();
    app_ = *std::move(app);
  }

  Ran As(const std::string& principal, const std::string& line) const {
    return Shell(CURATOR_PATH " --server " + app_->address() + " --as " + principal + " " + line);
  }
  Ran Ask(const std::string& principal, const std::string& epsilon, const std::string& more = "") const {
    return As(principal, "workload answer census --marginals 1 --epsilon " + epsilon + " " + more);
  }
  Ran Verify(const std::string& more = "") const {
    return As("ana", "ledger verify census --receipts " + mine_ + " " + more);
  }
  std::string Spent() const {
    const Client owner({.server = app_->address(), .principal = "owner"});
    return owner.GetBudget("census")->accounts(0).counters(0).spent();
  }

  // The URL of a copy of the database as it is now.
  std::string Backup() {
    app_.reset();
    std::string url;
    if (GetParam() == Backend::kPostgres) {
      url = PostgresCluster::Shared().CopyDatabase(options_.ledger);
    } else {
      const fs::path path = options_.ledger.substr(std::string("sqlite:").size());
      fs::copy_file(path, path.string() + ".backup");
      url = options_.ledger + ".backup";
    }
    fs::copy(options_.anchor_directory, options_.anchor_directory + ".backup", fs::copy_options::recursive);
    Start();
    return url;
  }
  // Goes on with a backup of the database, under the anchor as it is, or under its backup as well.
  enum class Anchor { kKept, kRestored };
  void Restore(const std::string& url, Anchor anchor) {
    app_.reset();
    options_.ledger = url;
    if (anchor == Anchor::kRestored) {
      fs::remove_all(options_.anchor_directory);
      fs::rename(options_.anchor_directory + ".backup", options_.anchor_directory);
    }
    Start();
  }

  void Rewrite(const std::string& from, const std::string& to) const {
    std::ifstream in(mine_);
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const size_t place = text.find(from);
    ASSERT_NE(place, std::string::npos) << text;
    text.replace(place, from.size(), to);
    std::ofstream(mine_) << text;
  }

  const ScratchFolder folder_;
  AppOptions options_;
  const std::string mine_;
  std::unique_ptr<App> app_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Receipts, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Receipts, ShowThatTheHistoryContainsWhatWasCharged) {
  ASSERT_EQ(Ask("ana", "0.1", "--receipt " + mine_).status, 0);
  ASSERT_EQ(Ask("bob", "0.1").status, 0);
  ASSERT_EQ(As("ana", "charge reserve census --epsilon 0.05 --receipt " + mine_).status, 0);
  ASSERT_EQ(Ask("owner", "0.1").status, 0);
  const Ran verified = Verify("--output json");
  EXPECT_EQ(verified.status, 0) << verified.output;
  EXPECT_THAT(verified.output, HasSubstr("\"contained\":true"));
  const Ran key = As("stranger", "ledger key --output csv");
  EXPECT_EQ(key.status, 0) << key.output;
  const std::string hex = key.output.substr(key.output.size() - 65, 64);
  EXPECT_EQ(Verify("--key " + hex).status, 0);
  app_.reset();
  Start();
  EXPECT_EQ(Verify("--key " + hex).status, 0) << "the key outlives a restart";
}

TEST_P(Receipts, AreRefusedWhenForgedOrOfAnotherLedgerOrSignedByAnotherKey) {
  ASSERT_EQ(Ask("ana", "0.1", "--receipt " + mine_).status, 0);
  const Ran other_key = Verify("--key " + std::string(64, 'a'));
  EXPECT_EQ(other_key.status, 1);
  EXPECT_THAT(other_key.output, HasSubstr("signed with another key"));

  const fs::path elsewhere = folder_.path() + "/elsewhere";
  fs::create_directory(elsewhere);
  AppOptions other = FreshOptions(GetParam(), elsewhere);
  other.data_directory = options_.data_directory;  // the same secret, so the same key
  other.anchor_directory = elsewhere / "anchor";
  other.init = true;  // a new ledger beside the records of this one
  std::swap(options_, other);
  app_.reset();
  Start();
  const Client owner({.server = app_->address(), .principal = "owner"});
  MakeSealed(owner, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
  EXPECT_EQ(As("owner", "dataset grant census ana --role analyst --role service").status, 0);
  const Ran other_ledger = Verify();
  EXPECT_EQ(other_ledger.status, 1);
  EXPECT_THAT(other_ledger.output, HasSubstr("is of another ledger"));
  std::swap(options_, other);
  app_.reset();
  Start();

  Rewrite("100000000000", "200000000000");
  const Ran half_forged = Verify();
  EXPECT_EQ(half_forged.status, 1);
  EXPECT_THAT(half_forged.output, HasSubstr("forged or damaged: its content"));
  Rewrite("100000000000", "200000000000");  // the content, too
  const Ran forged = Verify();
  EXPECT_EQ(forged.status, 1);
  EXPECT_THAT(forged.output, HasSubstr("forged or damaged: its signature"));
  std::ofstream(mine_) << "not a receipt\n";
  EXPECT_THAT(Verify().output, HasSubstr("line 1: is not a receipt"));
  EXPECT_EQ(Verify().status, 1);
}

TEST_P(Receipts, TellARolledBackHistoryAndItsOwnerAndAnApproverRepairIt) {
  ASSERT_EQ(Ask("ana", "0.1", "--receipt " + mine_).status, 0);
  const std::string backup = Backup();
  ASSERT_EQ(Ask("ana", "0.3", "--receipt " + mine_).status, 0);
  Restore(backup, Anchor::kKept);
  const Ran refused = Ask("ana", "0.2");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.output, HasSubstr("dataset \"census\" is read-only"));
  EXPECT_THAT(refused.output, HasSubstr("curator ledger repair propose census"));
  const Ran damaged = As("owner", "ledger verify census");
  EXPECT_EQ(damaged.status, 1);
  EXPECT_THAT(damaged.output, HasSubstr("ends with entry"));
  const Ran rolled_back = Verify();
  EXPECT_EQ(rolled_back.status, 1);
  EXPECT_THAT(rolled_back.output, HasSubstr("receipt 2 the history was rolled back"));

  const std::string proposal = folder_.path() + "/repair.json";
  const std::string propose = "ledger repair propose census --reason 'the disk failed' --out " + proposal;
  const std::string approve = "ledger repair approve census " + proposal;
  EXPECT_THAT(As("ana", propose).output, HasSubstr("PERMISSION_DENIED"));
  const Ran proposed = As("owner", propose);
  EXPECT_EQ(proposed.status, 0) << proposed.output;
  EXPECT_THAT(proposed.output, HasSubstr("nothing was changed"));
  EXPECT_THAT(As("owner", approve).output, HasSubstr("PERMISSION_DENIED"))
      << "the owner alone repairs nothing";
  EXPECT_THAT(As("ana", approve).output, HasSubstr("PERMISSION_DENIED"));
  EXPECT_EQ(As("vera", approve + " --dry-run").status, 0);
  EXPECT_EQ(Ask("ana", "0.2").status, 1) << "it was only shown";
  const Ran repaired = As("vera", approve);
  EXPECT_EQ(repaired.status, 0) << repaired.output;
  EXPECT_THAT(As("vera", approve).output, HasSubstr("is behind the anchor or the receipts"));
  EXPECT_EQ(Spent(), "0.4") << "no less than the anchor knows";
  EXPECT_EQ(Ask("ana", "0.2").status, 0);
  EXPECT_EQ(Ask("ana", "0.5").status, 3) << "only 0.4 was left";
  EXPECT_EQ(As("owner", "ledger verify census").status, 0);
  EXPECT_THAT(As("owner", "ledger show census").output, HasSubstr("REPAIRED"));
  EXPECT_THAT(Verify().output, HasSubstr("is lost: the repair in entry"));
  EXPECT_EQ(Verify().status, 1);

  const std::string exported = folder_.path() + "/census.jsonl";
  ASSERT_EQ(As("owner", "ledger export census --out " + exported).status, 0);
  const Ran recounted = Shell("python3 " CURATOR_VERIFIER " " + exported);
  EXPECT_EQ(recounted.status, 0) << recounted.output;
  EXPECT_THAT(recounted.output, HasSubstr("spent 600000000000"));
}

TEST_P(Receipts, TellARewrittenHistoryWhereEvenTheAnchorWasRolledBack) {
  const std::string backup = Backup();
  ASSERT_EQ(Ask("ana", "0.3", "--receipt " + mine_).status, 0);
  Restore(backup, Anchor::kRestored);
  ASSERT_EQ(Ask("bob", "0.1").status, 0) << "nobody but ana can know";
  const Ran rewritten = Verify();
  EXPECT_EQ(rewritten.status, 1);
  EXPECT_THAT(rewritten.output, HasSubstr("the history was rewritten"));
  const std::string proposal = folder_.path() + "/repair.json";
  const Ran proposed = As("owner", "ledger repair propose census --reason 'ana has a receipt' --receipts " +
                                       mine_ + " --out " + proposal);
  EXPECT_EQ(proposed.status, 0) << proposed.output;
  const Ran repaired = As("vera", "ledger repair approve census " + proposal);
  EXPECT_EQ(repaired.status, 0) << repaired.output;
  EXPECT_EQ(Spent(), "0.4") << "what bob spent, and what ana shows that she has";
  EXPECT_EQ(As("owner", "ledger verify census").status, 0);
}

// Whoever edits PostgreSQL's tables is found in the same way; here the file is at hand.
class ReceiptsOnAFile : public Receipts {};
INSTANTIATE_TEST_SUITE_P(Ledgers, ReceiptsOnAFile, ::testing::Values(Backend::kSqlite),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(ReceiptsOnAFile, TellAnEditedEntry) {
  ASSERT_EQ(Ask("ana", "0.1", "--receipt " + mine_).status, 0);
  app_.reset();
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(options_.ledger.substr(7).c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database,
                         "DROP TRIGGER entries_are_never_updated; UPDATE entries SET charge_id = 'x' || "
                         "substr(charge_id, 2) WHERE kind = 'CHARGED'",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(database);
  Start();
  const Ran edited = Verify();
  EXPECT_EQ(edited.status, 1);
  EXPECT_THAT(edited.output, HasSubstr("does not have the hash of its content"));
}

}  // namespace
}  // namespace curator::testing
