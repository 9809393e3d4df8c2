// What the ledger relies on in a PostgreSQL database: how keys are compared, and which writes touch no index.
#include <atomic>
#include <thread>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/sql/migrations.h"

namespace curator::ledger {
namespace {

using ::testing::HasSubstr;

class PostgresConformance : public LedgerConformance {
 protected:
  std::string DatabaseName() const { return url().substr(url().rfind('/') + 1); }
  // Runs a statement in another database of the same cluster.
  absl::Status TryInCluster(const std::string& statement) {
    const std::string administrative = absl::StrCat(url().substr(0, url().rfind('/')), "/postgres");
    return OpenStoreOf(administrative)
        ->Write([&](sql::Transaction& transaction) { return transaction.ExecuteScript(statement); })
        .status;
  }
  int64_t KeysThatFollowTheDatabasesCollation() {
    return AskStore(
        "SELECT COUNT(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid "
        "JOIN pg_attribute a ON a.attrelid = i.indexrelid WHERE c.relnamespace = 'public'::regnamespace "
        "AND a.attcollation NOT IN (0, '\"C\"'::regcollation)");
  }
};

TEST_P(PostgresConformance, EveryKeyComparesBytesWhateverTheDatabaseSortsBy) {
  ASSERT_EQ(AskStore("SELECT CASE WHEN 'apple' < 'Zebra' THEN 1 ELSE 0 END"), 1) << "it sorts by bytes";
  Open();
  EXPECT_EQ(KeysThatFollowTheDatabasesCollation(), 0);
  ASSERT_TRUE(TryInStore("CREATE TABLE canary (name TEXT PRIMARY KEY)").ok());
  EXPECT_EQ(KeysThatFollowTheDatabasesCollation(), 1);
}

TEST_P(PostgresConformance, ADatabaseThatWasSortedByAnotherVersionOfItsCollationIsRefused) {
  Open();
  ASSERT_TRUE(
      TryInStore("UPDATE pg_database SET datcollversion = '1.0' WHERE datname = current_database()").ok());
  const absl::Status refused = TryOpen().status();
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, refused);
  for (const char* const words :
       {"version 1.0 of its collation", "REINDEX DATABASE", "REFRESH COLLATION VERSION"}) {
    EXPECT_THAT(std::string(refused.message()), HasSubstr(words));
  }
  ASSERT_TRUE(PublicErrorOf(refused).has_value()) << "a connection that is opened later is for a client";
  EXPECT_THAT(PublicErrorOf(refused)->message, ::testing::Not(HasSubstr("REINDEX")));
  ASSERT_TRUE(
      TryInCluster(absl::StrCat("ALTER DATABASE ", DatabaseName(), " REFRESH COLLATION VERSION")).ok());
  EXPECT_TRUE(TryOpen().ok());
}

// As an index leaves them that was sorted by another version of a collation: it does not find the first.
TEST_P(PostgresConformance, TwoChargesUnderOneRequestIdAreFound) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  const int64_t account = FirstAccount(*ledger, dataset);
  Must(ledger->Begin(RequestOf(dataset, "one", account, 1)));
  Must(ledger->Begin(RequestOf(dataset, "two", account, 1)));
  Tamper(
      "ALTER TABLE charges DROP CONSTRAINT charges_principal_request_id_key; "
      "UPDATE charges SET request_id = 'one' WHERE request_id = 'two'");
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings,
              ::testing::Contains(HasSubstr("two charges under request id one of ana")));
}

TEST_P(PostgresConformance, TheEndOfAChargeLeavesItsRowAsItIsAndNoOpenOne) {
  constexpr int kCharges = 200;
  {
    auto ledger = Open();
    const Dataset dataset = MakeDataset(*ledger, "census", kCharges);
    const int64_t account = FirstAccount(*ledger, dataset);
    for (int i = 0; i < kCharges; ++i) {
      const Attempt attempt =
          Must(ledger->Begin(RequestOf(dataset, absl::StrCat("request ", i), account, 1)));
      if (i % 2 == 0) {
        ASSERT_TRUE(ledger->Store(attempt, "answer").ok());
      } else {
        ASSERT_TRUE(ledger->Forfeit(attempt, "cancelled").ok());
      }
    }
  }
  // A session hands in its counts when it ends, before it leaves the list of sessions.
  while (AskStore("SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() "
                  "AND pid <> pg_backend_pid()") > 0) {
  }
  EXPECT_EQ(AskStore("SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'charges'"), 0);
  EXPECT_EQ(AskStore("SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'endings'"), kCharges);
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM open_charges"), 0);
}

TEST_P(PostgresConformance, AMigrationRunsUnderSettingsOfItsOwn) {
  // What a connection sets for charges does not hold for a migration, which may scan and may take hours.
  const std::string script =
      "DO $$ BEGIN IF current_setting('statement_timeout') <> '0' OR current_setting('lock_timeout') <> "
      "'30s' "
      "OR current_setting('enable_seqscan') <> 'on' OR current_setting('plan_cache_mode') <> 'auto' "
      "THEN RAISE EXCEPTION 'the settings of a charge'; END IF; END $$";
  StartWithoutSchema();
  const auto store = OpenStore();
  std::vector<sql::Migration> steps = sql::EmbeddedMigrations();
  const int64_t known = sql::NewestSchema(store->dialect(), steps);
  steps.push_back({.dialect = "postgres",
                   .version = known + 1,
                   .name = "settings",
                   .sha256 = absl::BytesToHexString(Sha256(script)),
                   .script = script});
  std::vector<std::string> reported;
  const absl::Status migrated = sql::Migrate(
      *store, steps, [&](std::string_view event, std::string_view) { reported.emplace_back(event); });
  EXPECT_TRUE(migrated.ok()) << migrated;
  EXPECT_EQ(static_cast<int64_t>(reported.size()), 2 * (known + 1));
  EXPECT_EQ(reported.back(), "migration_applied");
}

TEST_P(PostgresConformance, AMigrationWaitsForAChangeThatHasBegun) {
  MakeDataset(*Open(), "census", 10);
  const std::string script = "CREATE TABLE later (x BIGINT)";
  const auto store = OpenStore();
  std::vector<sql::Migration> steps = sql::EmbeddedMigrations();
  steps.push_back({.dialect = "postgres",
                   .version = sql::NewestSchema(store->dialect(), steps) + 1,
                   .name = "later",
                   .sha256 = absl::BytesToHexString(Sha256(script)),
                   .script = script});
  std::atomic<bool> has_migrated = false;
  std::thread migration;
  int64_t waiting = 0;
  const sql::Outcome change = OpenStore()->Write([&](sql::Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(transaction.Execute("SELECT seq FROM chain_heads FOR UPDATE", {}).status());
    migration = std::thread([&] {
      EXPECT_TRUE(sql::Migrate(*store, steps).ok());
      has_migrated = true;
    });
    while (waiting == 0 && !has_migrated) {
      waiting =
          AskStore("SELECT COUNT(*) FROM pg_locks WHERE relation = 'chain_heads'::regclass AND NOT granted");
    }
    return absl::OkStatus();
  });
  migration.join();
  EXPECT_TRUE(change.status.ok()) << change.status;
  EXPECT_EQ(waiting, 1);
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM later"), 0);
}

INSTANTIATE_TEST_SUITE_P(Postgres, PostgresConformance, ::testing::Values("postgres"));

}  // namespace
}  // namespace curator::ledger
