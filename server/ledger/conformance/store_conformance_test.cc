// What the ledger relies on in every store: a transaction that fails reports it and leaves nothing behind.
#include <new>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/faulty_database.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/sql/migrations.h"

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

TEST_P(StoreConformance, ABodyWithoutMemoryIsUnavailableAndItsConnectionGoesOn) {
  const auto store = OpenStore();
  const sql::Outcome outcome = store->Write([](sql::Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(transaction.ExecuteScript("CREATE TABLE half_done (x INTEGER)"));
    throw std::bad_alloc();
  });
  EXPECT_EQ(outcome.ending, sql::Ending::kFailed);
  EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, outcome.status);
  const sql::Outcome next = store->Write([](sql::Transaction& transaction) {
    return transaction.ExecuteScript("CREATE TABLE half_done (x INTEGER)");
  });
  EXPECT_TRUE(next.status.ok()) << next.status << ": the first one is not there";
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

// As one statement, and after others in a transaction.
TEST_P(StoreConformance, LastStepsAreDoneTogetherOrNotAtAll) {
  ASSERT_TRUE(TryInStore("CREATE TABLE counters (id BIGINT PRIMARY KEY, spent BIGINT NOT NULL); "
                         "CREATE TABLE names (name TEXT PRIMARY KEY); "
                         "INSERT INTO counters VALUES (1, 0), (2, 0); INSERT INTO names VALUES ('taken')")
                  .ok());
  static const std::vector<sql::Column> kColumns = {{"name", sql::ColumnType::kText}};
  const auto write = [&](bool follows_another, std::vector<sql::Parameters> changes,
                         const std::vector<std::string>& names) {
    std::vector<sql::Parameters> rows;
    for (const std::string& name : names) rows.push_back({name});
    return OpenStore()->Write([&](sql::Transaction& transaction) -> absl::Status {
      if (follows_another) RETURN_IF_ERROR(transaction.Execute("SELECT 7", {}).status());
      return transaction.ExecuteLast(
          {sql::Update{.table = "counters",
                       .set = "spent = spent + $2",
                       .where = "id = $1",
                       .types = {sql::ColumnType::kInteger, sql::ColumnType::kInteger},
                       .rows = changes},
           sql::Insertion{"names", &kColumns, rows}});
    });
  };
  const auto state = [&] {
    return AskStore(
        "SELECT (SELECT CAST(SUM(id * spent) AS BIGINT) FROM counters) + 1000 * (SELECT COUNT(*) FROM "
        "names)");
  };
  constexpr int64_t kMissing = 3;
  const auto is_failure = ::testing::AnyOf(sql::Ending::kFailed, sql::Ending::kRefused);
  int64_t expected = state();
  for (const bool follows_another : {false, true}) {
    const std::string suffix = follows_another ? "'b" : "'a";  // a quote, which SQL text would end with
    EXPECT_THAT(write(follows_another, {{kMissing, int64_t{5}}}, {"x"}).ending, is_failure);
    EXPECT_THAT(write(follows_another, {{int64_t{1}, int64_t{5}}, {kMissing, int64_t{5}}}, {"x"}).ending,
                is_failure);
    EXPECT_EQ(write(follows_another, {{int64_t{1}, int64_t{5}}}, {"x", "taken"}).ending,
              sql::Ending::kConflict);
    EXPECT_EQ(state(), expected);
    EXPECT_EQ(write(follows_another, {{int64_t{1}, int64_t{5}}}, {"one" + suffix}).ending,
              sql::Ending::kDone);
    EXPECT_EQ(write(follows_another, {{int64_t{1}, int64_t{-1}}, {int64_t{2}, int64_t{10}}},
                    {"two" + suffix, "three" + suffix})
                  .ending,
              sql::Ending::kDone);
    expected += 5 - 1 + 20 + 3000;
    EXPECT_EQ(state(), expected);
    EXPECT_EQ(write(follows_another, {}, {}).ending, sql::Ending::kDone);
  }
}

TEST_P(StoreConformance, ALargeReleaseIsReadInPieces) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  const int64_t account = FirstAccount(*ledger, dataset);
  constexpr size_t kPiece = size_t{8} << 20;
  for (const size_t bytes : {kPiece, kPiece + 1, 3 * kPiece}) {
    const std::string payload = SeededEntropy(bytes)(bytes);
    const Attempt attempt =
        Must(ledger->Begin(RequestOf(dataset, absl::StrCat(bytes, " bytes"), account, 1)));
    const Release release = Must(ledger->Store(attempt, payload));
    EXPECT_TRUE(release.payload == payload);
    ASSERT_TRUE(ledger->ShareRelease(release.id, "ben", {}, TestPrincipal("ana")).ok());
    EXPECT_TRUE(Must(ledger->GetRelease(release.id)).payload == payload);
    Tamper(
        absl::StrCat("UPDATE releases SET payload_size = 9000000000000000000 WHERE id = '", release.id, "'"));
    EXPECT_TRUE(Must(ledger->GetRelease(release.id)).payload == payload);
  }
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
  expect_outdated(ledger
                      ->RaiseToAnchor({.dataset_id = dataset.id,
                                       .reason = "the disk failed",
                                       .actor = TestPrincipal("petra"),
                                       .proposed_by = "olga"})
                      .status());
  expect_outdated(ledger->Health());
  EXPECT_EQ(Must(ledger->GetRelease(release.id)).payload, "answer");
  EXPECT_EQ(AskStore("SELECT CAST(SUM(spent) AS BIGINT) FROM account_counters"), 2);
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM datasets"), 1);
}

TEST_P(StoreConformance, AMigrationThatLosesAgainstAnotherTransactionIsTakenAgain) {
  StartWithoutSchema();
  FaultyDatabase faulty(OpenStore());
  faulty.ArmAt(Fault::kConflict, FaultyDatabase::Moment::kInWrite);
  const absl::Status migrated = sql::Migrate(faulty, sql::EmbeddedMigrations());
  EXPECT_TRUE(faulty.has_struck());
  EXPECT_TRUE(migrated.ok()) << migrated;
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

// Reaches the end of the disk: SQLite's own limit, and the error that PostgreSQL gives.
const char* FillTheDisk(bool is_sqlite) {
  return is_sqlite
             ? "PRAGMA max_page_count = 1; CREATE TABLE heap (x BLOB); INSERT INTO heap VALUES "
               "(zeroblob(1000000));"
             : "DO $$ BEGIN RAISE EXCEPTION 'could not extend file \"base/16384/2619\": No space left on "
               "device' USING ERRCODE = '53100'; END $$;";
}

TEST_P(StoreConformance, AFullDiskIsARefusalWithAReasonAndNoUnknownOutcome) {
  const bool is_sqlite = OpenStore()->dialect().name == std::string_view("sqlite");
  const sql::Outcome outcome = OpenStore()->Write(
      [&](sql::Transaction& transaction) { return transaction.ExecuteScript(FillTheDisk(is_sqlite)); });
  EXPECT_EQ(outcome.ending, sql::Ending::kFailed);
  EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, outcome.status);
  const std::optional<PublicError> shown = PublicErrorOf(outcome.status);
  ASSERT_TRUE(shown.has_value());
  EXPECT_EQ(shown->reason, "STORE_FULL");
  EXPECT_THAT(shown->message, HasSubstr("the change was refused"));
}

TEST_P(StoreConformance, AClientGetsNoWordOfTheStore) {
  const absl::Status failed = TryInStore("SELECT x FROM a_table_that_is_not_there");
  EXPECT_THAT(std::string(failed.message()), HasSubstr("a_table_that_is_not_there")) << "the log has it";
  EXPECT_EQ(PublicErrorOf(failed)->message, "the ledger's store failed: the server's log has the cause");
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, StoreConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
