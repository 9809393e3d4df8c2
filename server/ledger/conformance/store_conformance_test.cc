// What the ledger relies on in every store: a transaction that fails reports it and leaves nothing behind.
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"

namespace curator::ledger {
namespace {

using ::testing::HasSubstr;

class StoreConformance : public LedgerConformance {};

TEST_P(StoreConformance, AValueThatIsReadAsAnotherTypeIsAnErrorAndNothingIsWritten) {
  const sql::Outcome outcome = OpenStore()->Write([](sql::Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(transaction.ExecuteScript("CREATE TABLE half_done (x INTEGER)"));
    ASSIGN_OR_RETURN(const std::vector<sql::Row> rows, transaction.Execute("SELECT 7", {}));
    return transaction.Execute("SELECT $1", {rows.at(0).Text(0)}).status();
  });
  EXPECT_EQ(outcome.ending, sql::Ending::kFailed);
  EXPECT_STATUS_IS(absl::StatusCode::kInternal, outcome.status);
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("a value of an unexpected type"));
  EXPECT_TRUE(TryInStore("CREATE TABLE half_done (x INTEGER)").ok()) << "it is not there";
}

TEST_P(StoreConformance, AStatementThatTheStoreDoesNotUnderstandFailsAndItsConnectionGoesOn) {
  const auto store = OpenStore();
  const sql::Outcome failed = store->Read([](sql::Transaction& transaction) {
    return transaction.Execute("SELECT x FROM a_table_that_is_not_there", {}).status();
  });
  EXPECT_EQ(failed.ending, sql::Ending::kFailed);
  EXPECT_THAT(std::string(failed.status.message()), HasSubstr("the ledger's store answered"));
  int64_t answer = 0;
  const sql::Outcome next = store->Read([&](sql::Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<sql::Row> rows, transaction.Execute("SELECT 7", {}));
    answer = rows.at(0).Integer(0);
    return absl::OkStatus();
  });
  EXPECT_TRUE(next.status.ok()) << next.status;
  EXPECT_EQ(answer, 7);
}

// The newer program has changed the schema while this server runs on.
TEST_P(StoreConformance, AServerThatRunsOnAfterAnUpgradeChargesNothingAndServesWhatItReleased) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 100);
  const int64_t account = FirstAccount(*ledger, dataset);
  const Attempt stored = Must(ledger->Begin(RequestOf(dataset, "stored", account, 1)));
  const Release release = Must(ledger->Store(stored, "answer"));
  const Attempt started = Must(ledger->Begin(RequestOf(dataset, "started", account, 1)));
  const int64_t known = AskStore("SELECT MAX(version) FROM schema_migrations");
  ASSERT_TRUE(
      TryInStore(absl::StrCat("INSERT INTO schema_migrations (version, name, sha256, applied_at_us) VALUES (",
                              known + 1, ", 'a later one', 'x', 0)"))
          .ok());
  const auto expect_outdated = [&](const absl::Status& status) {
    EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, status);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("upgraded to schema ", known + 1, "; this server knows ", known)));
  };
  expect_outdated(ledger->Begin(RequestOf(dataset, "by guess", account, 1)).status());
  expect_outdated(ledger->Begin(RequestOf(dataset, "under locks", account, 1)).status());
  expect_outdated(ledger->Store(started, "late").status());
  expect_outdated(ledger->CreateDataset(SpecOf("another", 5)).status());
  expect_outdated(ledger->Health());
  EXPECT_EQ(Must(ledger->GetRelease(release.id)).payload, "answer");
  EXPECT_EQ(AskStore("SELECT CAST(SUM(spent) AS BIGINT) FROM account_counters"), 2);
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM datasets"), 1);
}

TEST_P(StoreConformance, AnUpgradeThatComesBeforeTheFirstGuessOfAServerIsNoticed) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 100);
  ASSERT_TRUE(TryInStore("INSERT INTO schema_migrations (version, name, sha256, applied_at_us) VALUES "
                         "(9999, 'a later one', 'x', 0)")
                  .ok());
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger->CreateDataset(SpecOf("another", 5)).status());
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM datasets"), 1);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, StoreConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
