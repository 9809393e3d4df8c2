// What the ledger relies on in a PostgreSQL database: how keys are compared, and which writes touch no index.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"

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
  ASSERT_TRUE(
      TryInCluster(absl::StrCat("ALTER DATABASE ", DatabaseName(), " REFRESH COLLATION VERSION")).ok());
  EXPECT_TRUE(TryOpen().ok());
}

TEST_P(PostgresConformance, TheEndOfAChargeWritesNoIndex) {
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
  EXPECT_EQ(AskStore("SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'charges'"), kCharges);
  EXPECT_EQ(AskStore("SELECT n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'charges'"), kCharges);
}

INSTANTIATE_TEST_SUITE_P(Postgres, PostgresConformance, ::testing::Values("postgres"));

}  // namespace
}  // namespace curator::ledger
