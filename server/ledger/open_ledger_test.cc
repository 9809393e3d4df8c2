#include "ledger/open_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/testing/names.h"
#include "ledger/sql/migrations.h"
#include "ledger/sqlite/sqlite_database.h"
#include "tests/testing/scratch_folder.h"

namespace curator::ledger {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class OpenLedgerTest : public ::testing::Test {
 protected:
  absl::Status StatusOf(const std::string& url, const std::string& anchor_dir = "") const {
    return OpenLedger({.url = url,
                       .anchor_dir = anchor_dir,
                       .entropy = [](size_t bytes) { return std::string(bytes, 'x'); }})
        .status();
  }
  std::string Path(const std::string& name) const { return absl::StrCat(scratch_.path(), "/", name); }

  const testing::ScratchFolder scratch_;
};

TEST(UrlWithoutPasswordTest, ShowsNoPartOfAPassword) {
  EXPECT_EQ(UrlWithoutPassword("postgresql://ana@host/db"), "postgresql://ana@host/db");
  EXPECT_EQ(UrlWithoutPassword("postgresql://ana:secret@host:5432/db"), "postgresql://ana@host:5432/db");
  EXPECT_EQ(UrlWithoutPassword("postgresql://ana:se@cr?et@host/db"), "postgresql://ana@host/db");
  EXPECT_EQ(UrlWithoutPassword("postgresql://host:5432/db?user=a@b&password=secret"),
            "postgresql://host:5432/db");
  EXPECT_EQ(UrlWithoutPassword("sqlite:/a/b@c?d"), "sqlite:/a/b@c?d");
}

TEST_F(OpenLedgerTest, AnUnknownSchemeIsAnInvalidArgumentThatListsTheKnownOnes) {
  const absl::Status status = StatusOf("mysql://localhost/x");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("sqlite:PATH"), HasSubstr("postgresql://")));
  EXPECT_EQ(StatusOf("").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(StatusOf("sqlite:").code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(OpenLedgerTest, AnUnwritablePathIsNamed) {
  for (const std::string& path :
       {Path("missing/ledger.db"), scratch_.path(), std::string("/proc/ledger.db")}) {
    const absl::Status status = StatusOf(absl::StrCat("sqlite:", path));
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
  }
}

TEST_F(OpenLedgerTest, AFileThatIsNoDatabaseIsLeftAsItIs) {
  std::ofstream(Path("notes.txt")) << std::string(5000, 'x');
  const absl::Status status = StatusOf(absl::StrCat("sqlite:", Path("notes.txt")));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_EQ(std::filesystem::file_size(Path("notes.txt")), 5000U);
}

TEST_F(OpenLedgerTest, AbsentPostgresSaysWhereItWasSought) {
  const absl::Status status = StatusOf("postgresql://curator@127.0.0.1:1/ledger", Path("anchor"));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("host 127.0.0.1:1"), HasSubstr("Start the server"), Not(HasSubstr("\n"))));
  EXPECT_THAT(PublicErrorOf(status)->message, Not(HasSubstr("127.0.0.1")))
      << "a client does not see the address";
}

TEST_F(OpenLedgerTest, AUrlWithAPasswordIsRefusedAndNotRepeated) {
  for (const char* const url : {"postgresql://curator:s3cret@127.0.0.1:1/ledger",
                                "postgresql://127.0.0.1:1/ledger?password=s3cret"}) {
    const absl::Status status = StatusOf(url, Path("anchor"));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("PGPASSFILE"), Not(HasSubstr("s3cret"))));
  }
}

TEST_F(OpenLedgerTest, PostgresNeedsAPlaceForItsAnchor) {
  EXPECT_EQ(StatusOf("postgresql://127.0.0.1:1/ledger").code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(OpenLedgerTest, SqliteKeepsItsAnchorBesideItselfByDefault) {
  ASSERT_TRUE(StatusOf(absl::StrCat("sqlite:", Path("ledger.db"))).ok());
  EXPECT_TRUE(std::filesystem::is_directory(Path("ledger.db.anchor")));
  ASSERT_TRUE(StatusOf(absl::StrCat("sqlite:", Path("other.db")), Path("elsewhere")).ok());
  EXPECT_FALSE(std::filesystem::exists(Path("other.db.anchor")));
}

// A ledger with a history, its anchor in a folder of its own, and the files of other ledgers.
class BelongsTogether : public OpenLedgerTest {
 protected:
  absl::StatusOr<std::unique_ptr<Ledger>> Open(const std::string& file, LedgerOptions options = {}) {
    options.url = absl::StrCat("sqlite:", Path(file));
    options.anchor_dir = Path("anchor");
    options.entropy = [this](size_t bytes) { return std::string(bytes, static_cast<char>('a' + runs_++)); };
    options.report = [this](std::string_view event, std::string_view) {
      if (!event.starts_with("migration_") && event != "histories_verified") reported_.emplace_back(event);
    };
    return OpenLedger(options);
  }
  void MakeHistory(const std::string& file) {
    auto ledger = Open(file);
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
  }

  std::vector<std::string> reported_;
  int runs_ = 0;
};

TEST_F(BelongsTogether, AFirstStartNeedsNoFlag) {
  MakeHistory("ledger.db");
  EXPECT_TRUE(Open("ledger.db").ok());
  EXPECT_THAT(reported_, IsEmpty());
}

TEST_F(BelongsTogether, AHistoryWithoutItsAnchorIsRefusedUntilThisIsAccepted) {
  MakeHistory("ledger.db");
  std::filesystem::remove_all(Path("anchor"));
  const absl::Status refused = Open("ledger.db").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_THAT(std::string(refused.message()), AllOf(HasSubstr(Path("ledger.db")), HasSubstr(Path("anchor")),
                                                    HasSubstr("--accept-missing-anchor")));
  EXPECT_FALSE(std::filesystem::exists(Path("anchor"))) << "what is missing is not made in silence";
  EXPECT_FALSE(Open("ledger.db", {.init = true}).ok()) << "another flag accepts something else";
  reported_.clear();
  EXPECT_TRUE(Open("ledger.db", {.accept_missing_anchor = true}).ok());
  EXPECT_THAT(reported_, ElementsAre("missing_anchor"));
  EXPECT_TRUE(Open("ledger.db").ok()) << "the new anchor is there from now on";
}

TEST_F(BelongsTogether, AnEmptyAnchorFolderIsAMissingAnchor) {
  MakeHistory("ledger.db");
  std::filesystem::remove_all(Path("anchor"));
  std::filesystem::create_directory(Path("anchor"));
  EXPECT_EQ(Open("ledger.db").status().code(), absl::StatusCode::kFailedPrecondition);
}

// A database that was deleted, and a URL with a typo.
TEST_F(BelongsTogether, ANewLedgerBesideTheAnchorsOfAnotherIsRefusedUntilThisIsAccepted) {
  MakeHistory("ledger.db");
  const absl::Status refused = Open("leger.db").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr(Path("leger.db")), HasSubstr(Path("anchor")), HasSubstr("--init")));
  EXPECT_EQ(Open("leger.db").status().code(), absl::StatusCode::kFailedPrecondition) << "nor the second time";
  EXPECT_FALSE(Open("leger.db", {.accept_missing_anchor = true}).ok());
  reported_.clear();
  EXPECT_TRUE(Open("leger.db", {.init = true}).ok());
  EXPECT_THAT(reported_, ElementsAre("new_ledger_beside_another"));
  EXPECT_TRUE(Open("leger.db").ok());
  EXPECT_TRUE(Open("ledger.db").ok());
}

TEST_F(BelongsTogether, ANewLedgerBesideTheRecordsOfAnotherIsRefusedUntilThisIsAccepted) {
  const absl::Status refused = Open("ledger.db", {.kept_datasets = "/data/datasets"}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_THAT(std::string(refused.message()), AllOf(HasSubstr("/data/datasets"), HasSubstr("--init")));
  EXPECT_TRUE(Open("ledger.db", {.kept_datasets = "/data/datasets", .init = true}).ok());
  EXPECT_TRUE(Open("ledger.db", {.kept_datasets = "/data/datasets"}).ok());
}

TEST(NetworkFileSystems, AreRefusedAndLocalOnesAreNot) {
  constexpr int64_t kNfs = 0x6969;
  constexpr int64_t kCifs = 0xFF534D42;
  constexpr int64_t kCifsSignExtended = static_cast<int32_t>(0xFF534D42);
  constexpr int64_t kExt4 = 0xEF53;
  constexpr int64_t kTmpfs = 0x01021994;
  for (const int64_t network : {kNfs, kCifs, kCifsSignExtended}) {
    const absl::Status status = sqlite::CheckFileSystem("/net/ledger.db", network);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << network;
    EXPECT_THAT(std::string(status.message()), HasSubstr("/net/ledger.db lies on a network file system"));
  }
  for (const int64_t local : {kExt4, kTmpfs}) {
    EXPECT_TRUE(sqlite::CheckFileSystem("/var/ledger.db", local).ok()) << local;
  }
}

class MigrationTest : public OpenLedgerTest {
 protected:
  std::unique_ptr<sql::Database> OpenStore() const { return *sqlite::OpenSqliteDatabase(Path("ledger.db")); }
  static void Run(sql::Database& store, const std::string& script) {
    const sql::Outcome outcome =
        store.Write([&](sql::Transaction& transaction) { return transaction.ExecuteScript(script); });
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  }
  static int64_t Ask(sql::Database& store, const std::string& query) {
    int64_t answer = -1;
    const sql::Outcome outcome = store.Read([&](sql::Transaction& transaction) -> absl::Status {
      auto rows = transaction.Execute(query, {});
      if (rows.ok()) answer = rows->at(0).Integer(0);
      return rows.status();
    });
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    return answer;
  }
};

TEST_F(MigrationTest, AreAppliedOnce) {
  auto store = OpenStore();
  ASSERT_TRUE(sql::Migrate(*store, sql::EmbeddedMigrations()).ok());
  ASSERT_TRUE(sql::Migrate(*store, sql::EmbeddedMigrations()).ok());
  const auto of_sqlite =
      std::count_if(sql::EmbeddedMigrations().begin(), sql::EmbeddedMigrations().end(),
                    [](const sql::Migration& migration) { return migration.dialect == "sqlite"; });
  EXPECT_EQ(Ask(*store, "SELECT COUNT(*) FROM schema_migrations"), of_sqlite);
}

TEST_F(MigrationTest, EveryBackendOfTheLedgerHasTheSameSteps) {
  std::map<std::string, std::vector<std::string>> names;
  for (const sql::Migration& migration : sql::EmbeddedMigrations())
    names[migration.dialect].push_back(migration.name);
  EXPECT_EQ(names.erase("audit"), 1U) << "which has a file of its own beside a ledger in SQLite";
  ASSERT_EQ(names.size(), LedgerBackends().size());
  for (const auto& [dialect, steps] : names) EXPECT_EQ(steps, names.begin()->second) << dialect;
}

TEST_F(MigrationTest, DriftIsRefused) {
  auto store = OpenStore();
  ASSERT_TRUE(sql::Migrate(*store, sql::EmbeddedMigrations()).ok());
  Run(*store, "UPDATE schema_migrations SET sha256 = 'another text' WHERE version = 1");
  const absl::Status status = sql::Migrate(*store, sql::EmbeddedMigrations());
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("migration 1 was applied with another text"));
}

TEST_F(MigrationTest, ASchemaOfANewerProgramIsRefused) {
  auto store = OpenStore();
  ASSERT_TRUE(sql::Migrate(*store, sql::EmbeddedMigrations()).ok());
  Run(*store, "INSERT INTO schema_migrations VALUES (9999, 'from the future', 'x', 0)");
  const absl::Status status = sql::Migrate(*store, sql::EmbeddedMigrations());
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("newer program"));
}

TEST_F(MigrationTest, ASchemaThatLacksAStepInTheMiddleIsRefused) {
  auto store = OpenStore();
  ASSERT_TRUE(sql::Migrate(*store, sql::EmbeddedMigrations()).ok());
  Run(*store, "DELETE FROM schema_migrations WHERE version = 1");
  const absl::Status status = sql::Migrate(*store, sql::EmbeddedMigrations());
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("migration 1 was skipped"));
}

TEST_F(MigrationTest, AProgramThatLacksAStepInTheMiddleAppliesNone) {
  auto store = OpenStore();
  std::vector<sql::Migration> without_first = sql::EmbeddedMigrations();
  const auto is_first = [](const sql::Migration& migration) { return migration.version == 1; };
  without_first.erase(std::remove_if(without_first.begin(), without_first.end(), is_first),
                      without_first.end());
  const absl::Status status = sql::Migrate(*store, without_first);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("migration 2 is out of order"));
  EXPECT_EQ(Ask(*store, "SELECT COUNT(*) FROM sqlite_master"), 0);
}

TEST_F(MigrationTest, ATextThatDoesNotHaveItsChecksumIsRefused) {
  auto store = OpenStore();
  std::vector<sql::Migration> edited = sql::EmbeddedMigrations();
  for (sql::Migration& migration : edited) migration.script += " ";
  EXPECT_EQ(sql::Migrate(*store, edited).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(MigrationTest, AStepThatFailsLeavesNothingBehind) {
  auto store = OpenStore();
  // SHA-256 of the script below.
  const std::string script = "CREATE TABLE half (x INTEGER); CREATE TABLE half (x INTEGER);";
  const sql::Migration broken{.dialect = "sqlite",
                              .version = 1,
                              .name = "broken",
                              .sha256 = "20f48d24e50a6090df09422374b86ebc4bab9d398d7a22fa7cafbe559690bbfb",
                              .script = script};
  EXPECT_FALSE(sql::Migrate(*store, {broken}).ok());
  EXPECT_EQ(Ask(*store, "SELECT COUNT(*) FROM sqlite_master WHERE name = 'half'"), 0);
  EXPECT_TRUE(sql::Migrate(*store, sql::EmbeddedMigrations()).ok());
}

}  // namespace
}  // namespace curator::ledger
