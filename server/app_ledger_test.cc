#include "app_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/testing/names.h"
#include "ledger/open_ledger.h"
#include "tests/testing/scratch_folder.h"

namespace curator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class LedgerCommands : public ::testing::Test {
 protected:
  std::string url() const { return absl::StrCat("sqlite:", scratch_.path(), "/ledger.db"); }
  LedgerCommandOptions options() const {
    return {.ledger = url(), .anchor_directory = {}, .data_directory = scratch_.path()};
  }
  // A ledger with one dataset, whose history has two entries.
  void MakeLedger() const {
    auto ledger = ledger::OpenLedger({.url = url(),
                                      .anchor_dir = absl::StrCat(scratch_.path(), "/anchor"),
                                      .entropy = [n = 0](size_t size) mutable {
                                        return std::string(size, static_cast<char>('a' + n++));
                                      }});
    ASSERT_TRUE(ledger.ok()) << ledger.status();
    const auto created = (*ledger)->CreateDataset(
        {.request_id = "create",
         .name = "census",
         .owner = TestPrincipal("olga"),
         .schema = "schema",
         .schema_hash = Sha256("schema"),
         .neighbour_relation = "ADD_REMOVE",
         .privacy_unit = "RECORD",
         .accounts = {{.rule = "rule", .rule_name = "ZCDP", .limits = {{"rho", 10}}}}});
    ASSERT_TRUE(created.ok()) << created.status();
    ASSERT_TRUE((*ledger)->SealDataset(created->id, "content", TestPrincipal("olga")).ok());
  }
  void Tamper(const char* script) const {
    sqlite3* file = nullptr;
    ASSERT_EQ(sqlite3_open(url().substr(7).c_str(), &file), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(file, script, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(file);
  }

  const testing::ScratchFolder scratch_;
  std::ostringstream out_;
  std::ostringstream error_;
};

TEST_F(LedgerCommands, MigratePrintsOrTakesTheStepsThatAreMissing) {
  EXPECT_EQ(RunMigrate(url(), MigrateMode::kPrint, out_, error_), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("-- 1 ledger"), HasSubstr("CREATE TABLE charges")));
  out_.str("");
  EXPECT_EQ(RunMigrate(url(), MigrateMode::kApply, out_, error_), 0);
  EXPECT_THAT(out_.str(), HasSubstr("applied 1 ledger"));
  out_.str("");
  EXPECT_EQ(RunMigrate(url(), MigrateMode::kApply, out_, error_), 0);
  EXPECT_EQ(out_.str(), "the schema is up to date\n");
  EXPECT_THAT(error_.str(), IsEmpty());
}

TEST_F(LedgerCommands, ASoundLedgerIsCheckedWithStatusZero) {
  MakeLedger();
  EXPECT_EQ(RunCheckLedger(options(), out_, error_), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("census: sound, 2 entries"), HasSubstr("anchored up to entry 2"),
                                HasSubstr("the ledger is sound")));
}

TEST_F(LedgerCommands, AnEditedLedgerIsReported) {
  MakeLedger();
  Tamper("DROP TRIGGER entries_are_never_updated; UPDATE entries SET actor = 'mallory' WHERE seq = 1");
  EXPECT_EQ(RunCheckLedger(options(), out_, error_), 3);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("entry 1 was edited"), HasSubstr("the ledger is NOT sound")));
}

TEST_F(LedgerCommands, AnEditedHistoryOfTheServerIsReported) {
  MakeLedger();
  {
    const auto ledger = ledger::OpenLedger({.url = url(),
                                            .anchor_dir = absl::StrCat(scratch_.path(), "/anchor"),
                                            .entropy = [](size_t size) { return std::string(size, 'z'); }});
    ASSERT_TRUE(ledger.ok()) << ledger.status();
    ASSERT_TRUE((*ledger)
                    ->AppendServerEntry(
                        {.after_seq = 0, .kind = "PRINCIPAL_CREATED", .payload = "bob", .actor = "ada"})
                    .ok());
  }
  EXPECT_EQ(RunCheckLedger(options(), out_, error_), 0);
  EXPECT_THAT(out_.str(), HasSubstr("@server: sound, 1 entries"));
  Tamper("DROP TRIGGER server_entries_are_never_updated; UPDATE server_entries SET actor = 'eve'");
  out_.str("");
  EXPECT_EQ(RunCheckLedger(options(), out_, error_), 3);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("@server: CONTRADICTS ITSELF"), HasSubstr("entry 1 was edited")));
}

TEST_F(LedgerCommands, ALedgerBehindItsAnchorIsReported) {
  MakeLedger();
  Tamper(
      "DROP TRIGGER entries_are_never_deleted; DELETE FROM entries WHERE seq = 2; "
      "UPDATE chain_heads SET seq = 1, hash = (SELECT hash FROM entries)");
  EXPECT_EQ(RunCheckLedger(options(), out_, error_), 3);
  EXPECT_THAT(out_.str(), HasSubstr("ends with entry 1, and the anchor knows entry 2"));
  EXPECT_EQ(RunBackupNote(options(), out_, error_), 3);
}

TEST_F(LedgerCommands, AHistoryWithoutAnAnchorHasAStatusOfItsOwn) {
  MakeLedger();
  std::filesystem::remove_all(absl::StrCat(scratch_.path(), "/anchor"));
  EXPECT_EQ(RunCheckLedger(options(), out_, error_), 4);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("--accept-missing-anchor"), Not(HasSubstr("the ledger is sound"))));
  Tamper("UPDATE account_counters SET limit_value = 20");
  EXPECT_EQ(RunCheckLedger(options(), out_, error_), 3) << "a contradiction is worse";
}

TEST_F(LedgerCommands, ALedgerOfAnOlderProgramIsNotChecked) {
  EXPECT_EQ(RunCheckLedger(options(), out_, error_), 1);
  EXPECT_THAT(error_.str(), HasSubstr("curatord migrate"));
}

TEST_F(LedgerCommands, ABackupNoteSaysWhatToCopyAndHowFarHistoryHasCome) {
  MakeLedger();
  EXPECT_EQ(RunBackupNote(options(), out_, error_), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("ledger.db"), HasSubstr("/anchor"), HasSubstr("server.key"),
                                HasSubstr(" 2 "), HasSubstr("  census")));
}

TEST_F(LedgerCommands, AnUnreachableLedgerIsNamed) {
  LedgerCommandOptions away = options();
  away.ledger = "postgresql://curator@127.0.0.1:1/ledger";
  EXPECT_EQ(RunBackupNote(away, out_, error_), 1);
  EXPECT_THAT(out_.str() + error_.str(), HasSubstr("127.0.0.1"));
}

TEST_F(LedgerCommands, AUrlWithAPasswordIsRefusedAndNotRepeated) {
  LedgerCommandOptions away = options();
  away.ledger = "postgresql://curator:s3cret@127.0.0.1:1/ledger";
  EXPECT_EQ(RunBackupNote(away, out_, error_), 1);
  EXPECT_THAT(out_.str() + error_.str(), AllOf(HasSubstr("PGPASSFILE"), Not(HasSubstr("s3cret"))));
}

}  // namespace
}  // namespace curator
