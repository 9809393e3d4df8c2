// What only a server on the other end of a wire can do to the ledger.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "ledger/conformance/faulty_database.h"
#include "ledger/conformance/invariants.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/postgres/postgres_database.h"
#include "ledger/sql/sql_ledger.h"
#include "tests/testing/cutting_proxy.h"
#include "tests/testing/postgres_cluster.h"

namespace curator::ledger {
namespace {

using testing::CuttingProxy;
using ::testing::ElementsAre;
using testing::PostgresCluster;

class WireFaults : public LedgerConformance {
 protected:
  std::unique_ptr<Ledger> OpenThrough(const CuttingProxy& proxy) {
    const std::string address = absl::StrCat(":", PostgresCluster::Shared().port(), "/");
    return Must(TryOpenCopy(
        absl::StrCat(absl::StrReplaceAll(url(), {{address, absl::StrCat(":", proxy.port(), "/")}}),
                     "?sslmode=disable&gssencmode=disable")));
  }
  // Makes the first `times` inserts of charges fail with this SQLSTATE: at once, or when they are committed.
  enum class Moment { kAtInsert, kAtCommit };
  void FailCharges(const std::string& sqlstate, int times, Moment moment) {
    const std::string trigger =
        moment == Moment::kAtInsert
            ? "CREATE TRIGGER fail BEFORE INSERT ON charges FOR EACH ROW EXECUTE FUNCTION fail()"
            : "CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON charges DEFERRABLE INITIALLY DEFERRED FOR EACH "
              "ROW EXECUTE FUNCTION fail()";
    const absl::Status planted = TryInStore(
        absl::StrCat("CREATE SEQUENCE IF NOT EXISTS failures; SELECT setval('failures', 1, false); "
                     "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
                     "IF nextval('failures') <= ",
                     times, " THEN RAISE EXCEPTION 'injected' USING ERRCODE = '", sqlstate,
                     "'; END IF; RETURN NEW; END $body$; DROP TRIGGER IF EXISTS fail ON charges; ", trigger));
    ASSERT_TRUE(planted.ok()) << planted;
  }
  void ExpectNoViolations(Ledger& ledger) {
    EXPECT_THAT(ViolationsIn(ledger, *OpenStore(), reported_), ElementsAre());
  }
  // One charge with its release; each step is reported once it is acknowledged.
  absl::Status ChargeAndStore(Ledger& ledger, const ChargeRequest& request) {
    const absl::StatusOr<Attempt> attempt = ledger.Begin(request);
    if (!attempt.ok()) return attempt.status();
    const absl::StatusOr<Release> release =
        attempt->release ? *attempt->release : ledger.Store(*attempt, request.sealed_key);
    if (!release.ok()) return release.status();
    reported_.push_back(
        {request.principal.name(), request.request_id, ChargeState::kCommitted, release->payload});
    return absl::OkStatus();
  }

  std::vector<Acknowledged> reported_;
};

TEST_P(WireFaults, AWireCutAtAnyMessageChargesOnceAndStoresOnce) {
  CuttingProxy proxy(PostgresCluster::Shared().port());
  auto ledger = OpenThrough(proxy);
  const Dataset dataset = MakeDataset(*ledger, "census", 1'000'000);
  const int64_t account = FirstAccount(*ledger, dataset);
  int runs = 0;
  for (const auto direction : {CuttingProxy::Direction::kToServer, CuttingProxy::Direction::kToClient}) {
    int message = 0;
    for (bool has_struck = true; has_struck; ++message, ++runs) {
      proxy.CutAt(message, direction);
      const ChargeRequest request = RequestOf(dataset, absl::StrCat("run ", runs), account, 2);
      const absl::Status status = ChargeAndStore(*ledger, request);
      has_struck = proxy.has_struck();
      ASSERT_TRUE(status.ok()) << "message " << message << ": " << status;
    }
    EXPECT_GT(message, 8) << "a charge and its release are more messages than that";
  }
  EXPECT_EQ(BalanceOf(*ledger, dataset).spent, 2 * runs);
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM releases"), runs);
  ExpectNoViolations(*ledger);
}

TEST_P(WireFaults, ATransactionThatLosesIsRunAgain) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 100);
  const int64_t account = FirstAccount(*ledger, dataset);
  int charges = 0;
  for (const Moment moment : {Moment::kAtInsert, Moment::kAtCommit}) {
    // serialization_failure, deadlock_detected, admin_shutdown
    for (const auto& [sqlstate, times] :
         {std::pair{"40001", 3}, std::pair{"40P01", 3}, std::pair{"57P01", 1}}) {
      FailCharges(sqlstate, times, moment);
      const ChargeRequest request = RequestOf(dataset, absl::StrCat("charge ", charges++), account, 2);
      const absl::Status status = ChargeAndStore(*ledger, request);
      EXPECT_TRUE(status.ok()) << sqlstate << ": " << status;
    }
  }
  EXPECT_EQ(BalanceOf(*ledger, dataset).spent, 2 * charges);
  ExpectNoViolations(*ledger);
}

// At the statement in the middle of a transaction, and in a message with other statements.
TEST_P(WireFaults, EachSqlStateEndsATransactionAsItIsMeant) {
  const auto store = OpenStore();
  for (const auto& [sqlstate, ending] : {
           std::pair{"40001", sql::Ending::kConflict}, std::pair{"40P01", sql::Ending::kConflict},
           std::pair{"23505", sql::Ending::kConflict}, std::pair{"40003", sql::Ending::kUnknown},
           std::pair{"40002", sql::Ending::kFailed},   std::pair{"08006", sql::Ending::kUnknown},
           std::pair{"57P01", sql::Ending::kUnknown},  std::pair{"58030", sql::Ending::kUnknown},
           std::pair{"53300", sql::Ending::kUnknown},  std::pair{"0A000", sql::Ending::kFailed},
           std::pair{"22012", sql::Ending::kFailed},   std::pair{"23502", sql::Ending::kFailed},
           std::pair{"23514", sql::Ending::kFailed},   std::pair{"24000", sql::Ending::kFailed},
           std::pair{"26000", sql::Ending::kFailed},   std::pair{"34000", sql::Ending::kFailed},
           std::pair{"42501", sql::Ending::kFailed},   std::pair{"42601", sql::Ending::kFailed},
           std::pair{"42P01", sql::Ending::kFailed},   std::pair{"42703", sql::Ending::kFailed},
           std::pair{"42883", sql::Ending::kFailed},   std::pair{"53100", sql::Ending::kFailed},
           std::pair{"53200", sql::Ending::kFailed},   std::pair{"55P03", sql::Ending::kFailed},
           std::pair{"57014", sql::Ending::kFailed},   std::pair{"P0001", sql::Ending::kFailed},
           std::pair{"P0002", sql::Ending::kFailed},   std::pair{"XX001", sql::Ending::kFailed},
       }) {
    const std::string raise =
        absl::StrCat("DO $$ BEGIN RAISE EXCEPTION 'injected' USING ERRCODE = '", sqlstate, "'; END $$");
    const sql::Outcome in_script =
        store->Write([&](sql::Transaction& transaction) { return transaction.ExecuteScript(raise); });
    EXPECT_EQ(in_script.ending, ending) << sqlstate << ": " << in_script.status;
    const std::string call = absl::StrCat("SELECT 1 FROM raise_", sqlstate, "()");
    ASSERT_TRUE(TryInStore(absl::StrCat("CREATE FUNCTION raise_", sqlstate,
                                        "() RETURNS BIGINT LANGUAGE plpgsql AS $body$ BEGIN RAISE EXCEPTION "
                                        "'injected' USING ERRCODE = '",
                                        sqlstate, "'; END $body$"))
                    .ok());
    const sql::Outcome in_pipeline = store->Write([&](sql::Transaction& transaction) {
      return transaction.ExecuteTogether({{"SELECT 7", {{}}}, {call, {{}}}, {"SELECT 8", {{}}}}).status();
    });
    EXPECT_EQ(in_pipeline.ending, ending) << sqlstate << ": " << in_pipeline.status;
  }
}

TEST_P(WireFaults, AFullDiskChargesNothingAndTheRetryChargesOnce) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 100);
  const int64_t account = FirstAccount(*ledger, dataset);
  int charges = 0;
  for (const Moment moment : {Moment::kAtInsert, Moment::kAtCommit}) {
    const ChargeRequest request = RequestOf(dataset, absl::StrCat("charge ", charges), account, 2);
    FailCharges("53100", 1, moment);
    EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, ledger->Begin(request).status());
    EXPECT_EQ(BalanceOf(*ledger, dataset).spent, 2 * charges);
    EXPECT_TRUE(Must(ledger->Begin(request)).newly_charged);
    EXPECT_EQ(BalanceOf(*ledger, dataset).spent, 2 * ++charges);
  }
  ExpectNoViolations(*ledger);
}

TEST_P(WireFaults, AServerThatIsGoneAnswersUnavailableAndComesBackWithEverythingAcknowledged) {
  auto cluster = Must(PostgresCluster::Start());
  const std::string url = cluster->CreateDatabase();
  auto ledger = Must(TryOpenCopy(url));
  const Dataset dataset = MakeDataset(*ledger, "census", 100);
  const int64_t account = FirstAccount(*ledger, dataset);
  const Attempt attempt = Must(ledger->Begin(RequestOf(dataset, "r1", account, 2)));
  ASSERT_TRUE(cluster->CrashAndRestart().ok());
  EXPECT_EQ(Must(ledger->Store(attempt, "answer")).payload, "answer");
  EXPECT_EQ(BalanceOf(*ledger, dataset).spent, 2);
  const auto store = Must(postgres::OpenPostgresDatabase(url));
  EXPECT_THAT(ViolationsIn(*ledger, *store, {{"ana", "r1", ChargeState::kCommitted, "answer"}}),
              ElementsAre());
  cluster.reset();
  EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, ledger->Health());
  EXPECT_STATUS_IS(absl::StatusCode::kUnavailable,
                   ledger->Begin(RequestOf(dataset, "r2", account, 1)).status());
}

TEST_P(WireFaults, AServerThatCrashesInTheMiddleOfATransactionIsAskedAgain) {
  auto cluster = Must(PostgresCluster::Start());
  const std::string url = cluster->CreateDatabase();
  Must(TryOpenCopy(url)).reset();
  auto fragile = std::make_unique<FaultyDatabase>(Must(postgres::OpenPostgresDatabase(url)));
  FaultyDatabase& store = *fragile;
  auto ledger = Must(sql::SqlLedger::Open(std::move(fragile), anchor_dir(), SeededEntropy(NextSeed())));
  const Dataset dataset = MakeDataset(*ledger, "census", 1000);
  const int64_t account = FirstAccount(*ledger, dataset);
  // Before the first statement, among the writes, and before and after the commit of a charge; then in its
  // release.
  int charges = 0;
  for (const int step : {0, 6, 9, 10, 14}) {
    store.ArmPause(step, [&](FaultyDatabase::Moment) { EXPECT_TRUE(cluster->CrashAndRestart().ok()); });
    const ChargeRequest request = RequestOf(dataset, absl::StrCat("charge ", charges++), account, 2);
    const absl::Status status = ChargeAndStore(*ledger, request);
    EXPECT_TRUE(store.has_struck());
    EXPECT_TRUE(status.ok()) << "step " << step << ": " << status;
  }
  EXPECT_EQ(BalanceOf(*ledger, dataset).spent, 2 * charges);
  EXPECT_THAT(ViolationsIn(*ledger, *Must(postgres::OpenPostgresDatabase(url)), reported_), ElementsAre());
}

INSTANTIATE_TEST_SUITE_P(OnTheWire, WireFaults, ::testing::Values("postgres"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
