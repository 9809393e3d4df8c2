// Whoever can write to the database can change it; nobody can change it unnoticed.
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/inspect_ledger.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

class TamperConformance : public LedgerConformance {
 protected:
  // A ledger with a stored release (cost 4) and a started charge (cost 3): entries 1 to 5.
  void SetUp() override {
    LedgerConformance::SetUp();
    auto ledger = Open();
    dataset_ = MakeDataset(*ledger, "census", 10);
    account_ = FirstAccount(*ledger, dataset_);
    const Attempt attempt = Must(ledger->Begin(Request("stored", 4)));
    release_id_ = Must(ledger->Store(attempt, "answer")).id;
    Must(ledger->Begin(Request("started", 3)));
  }
  ChargeRequest Request(const std::string& request_id, int64_t cost) const {
    return RequestOf(dataset_, request_id, account_, cost);
  }
  std::vector<std::string> FindingsAfter(const std::string& tampering) {
    Tamper(tampering);
    auto ledger = Open();
    const Verification verification = Must(ledger->Verify(dataset_.id));
    EXPECT_EQ(verification.ok, verification.findings.empty());
    return verification.findings;
  }
  // The charge that follows is refused, and what was released can still be read.
  void ExpectReadOnly(Ledger& ledger) {
    EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger.Begin(Request("next", 1)).status());
    EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger.DatasetHealth(dataset_.id));
    EXPECT_EQ(Must(ledger.GetRelease(release_id_)).payload, "answer");
  }

  // With its tables put back to match, only the anchor shows the loss.
  void TakeLastChargeOutOfHistory() {
    Tamper(
        "DELETE FROM entries WHERE seq = 5; "
        "UPDATE chain_heads SET seq = 4, hash = (SELECT hash FROM entries WHERE seq = 4); "
        "DELETE FROM charges WHERE request_id = 'started'; "
        "UPDATE account_counters SET spent = 4");
  }

  Dataset dataset_;
  int64_t account_ = 0;
  std::string release_id_;
};

TEST_P(TamperConformance, AnUntouchedLedgerVerifies) {
  EXPECT_THAT(FindingsAfter("SELECT 1"), ElementsAre());
  auto ledger = Open();
  EXPECT_TRUE(Must(ledger->Begin(Request("next", 1))).newly_charged);
}

TEST_P(TamperConformance, TheStoreItselfRefusesToRewriteEntries) {
  EXPECT_FALSE(TryInStore("UPDATE entries SET actor = 'mallory' WHERE seq = 1").ok());
  EXPECT_FALSE(TryInStore("DELETE FROM entries WHERE seq = 5").ok());
}

TEST_P(TamperConformance, TheStoreItselfRefusesToOverspend) {
  EXPECT_FALSE(TryInStore("UPDATE account_counters SET spent = 11").ok());
  EXPECT_FALSE(TryInStore("UPDATE account_counters SET held = 4").ok());
  EXPECT_FALSE(TryInStore("UPDATE account_counters SET spent = -1").ok());
  EXPECT_TRUE(TryInStore("UPDATE account_counters SET held = 3").ok());
}

TEST_P(TamperConformance, TheStoreItselfRefusesRowsThatReferToNothing) {
  const auto insert_charge = [](const std::string& dataset_id) {
    return absl::StrCat(
        "INSERT INTO charges (id, dataset_id, dataset_version, principal, request_id, fingerprint, kind, "
        "event, label, created_at_us, postings) SELECT 'c', ",
        dataset_id, ", 1, 'ana', 'r', fingerprint, kind, event, '', 0, '[]' FROM charges LIMIT 1");
  };
  EXPECT_FALSE(TryInStore(insert_charge("'nothing'")).ok());
  EXPECT_FALSE(TryInStore("DELETE FROM datasets").ok());
  EXPECT_FALSE(TryInStore("DELETE FROM charges").ok());
  EXPECT_FALSE(TryInStore("UPDATE charges SET id = 'other' WHERE request_id = 'stored'").ok());
  EXPECT_FALSE(TryInStore("UPDATE charges SET label = 'other' WHERE request_id = 'stored'").ok());
  EXPECT_FALSE(TryInStore("DELETE FROM account_counters").ok());
  EXPECT_FALSE(TryInStore("UPDATE account_counters SET account_id = 99").ok());
  EXPECT_FALSE(TryInStore("DELETE FROM charges WHERE request_id = 'started'").ok());
  EXPECT_TRUE(TryInStore(insert_charge("dataset_id")).ok());
}

TEST_P(TamperConformance, AnEditedEntryIsFound) {
  EXPECT_THAT(FindingsAfter("UPDATE entries SET actor = 'mallory' WHERE seq = 3"),
              Contains(HasSubstr("entry 3 was edited")));
}

// Under another key the charge is not found again, and the same request would be charged twice.
TEST_P(TamperConformance, AChargeUnderAnotherRequestIdIsFound) {
  EXPECT_THAT(FindingsAfter("UPDATE charges SET request_id = 'other' WHERE request_id = 'stored'"),
              Contains(HasSubstr("the entries say otherwise about its request id")));
}

TEST_P(TamperConformance, AChargeThatDoesNotNameItsEntryIsFoundAndTakesNoRelease) {
  auto ledger = Open();
  EXPECT_THAT(FindingsAfter("UPDATE charges SET entry_seq = NULL WHERE request_id = 'started'"),
              Contains(HasSubstr("the entries say otherwise about its entry")));
  const Attempt attempt = Must(ledger->Begin(Request("started", 3)));
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->Store(attempt, "answer").status());
}

TEST_P(TamperConformance, AnEditedLastEntryIsNotTheOneThatTheAnchorKnows) {
  EXPECT_THAT(FindingsAfter("UPDATE entries SET actor = 'mallory' WHERE seq = 5"),
              Contains(HasSubstr("entry 5 is not the one that the anchor knows")));
}

TEST_P(TamperConformance, AReplacedHeadIsFoundAndTheLedgerTurnsReadOnly) {
  EXPECT_THAT(FindingsAfter("UPDATE chain_heads SET hash = (SELECT prev_hash FROM entries WHERE seq = 5)"),
              Contains(HasSubstr("the stored head is not the last entry")));
  auto ledger = Open();
  ExpectReadOnly(*ledger);
}

TEST_P(TamperConformance, AHeadReplacedUnderARunningServerIsNoticedByTheNextCharge) {
  auto ledger = Open();
  Must(ledger->Begin(Request("before", 1)));
  Tamper("UPDATE chain_heads SET hash = (SELECT prev_hash FROM entries WHERE seq = 6)");
  ExpectReadOnly(*ledger);
}

TEST_P(TamperConformance, AnEntryTakenFromTheMiddleIsFound) {
  EXPECT_THAT(FindingsAfter("DELETE FROM entries WHERE seq = 3"), Contains(HasSubstr("entry 3 is missing")));
}

TEST_P(TamperConformance, ReorderedEntriesAreFound) {
  EXPECT_THAT(
      FindingsAfter("UPDATE entries SET seq = 100 WHERE seq = 3; UPDATE entries SET seq = 3 WHERE seq = 4; "
                    "UPDATE entries SET seq = 4 WHERE seq = 100"),
      Not(ElementsAre()));
}

TEST_P(TamperConformance, ALoweredBalanceIsFoundAndTheLedgerTurnsReadOnly) {
  EXPECT_THAT(FindingsAfter("UPDATE account_counters SET spent = 0"),
              Contains(HasSubstr("the entries say spent 7")));
  auto ledger = Open();
  ExpectReadOnly(*ledger);
}

TEST_P(TamperConformance, ABalanceLoweredUnderARunningServerIsNoticedByTheNextCharge) {
  auto ledger = Open();
  Must(ledger->Begin(Request("before", 1)));
  Tamper("UPDATE account_counters SET spent = 0");
  ExpectReadOnly(*ledger);
}

TEST_P(TamperConformance, ARaisedLimitIsFound) {
  EXPECT_THAT(FindingsAfter("UPDATE account_counters SET limit_value = 1000"),
              Contains(HasSubstr("limit 10")));
}

TEST_P(TamperConformance, APublicationThatNoEntryRecordsIsFound) {
  auto ledger = Open();
  DatasetSpec spec = SpecOf("open-data", 0);
  spec.is_public = true;
  spec.accounts.clear();
  const Dataset open = Must(ledger->CreateDataset(spec));
  EXPECT_TRUE(Must(ledger->Verify(open.id)).ok);
  Tamper("UPDATE datasets SET awaits_publication = 0");
  EXPECT_THAT(Must(Open()->Verify(open.id)).findings, Contains(HasSubstr("whether it is published")));
}

TEST_P(TamperConformance, ACounterThatNoEntryOpenedIsFound) {
  EXPECT_THAT(FindingsAfter("INSERT INTO account_counters (account_id, counter, position, limit_value) "
                            "SELECT account_id, 'epsilon', 1, 1000 FROM account_counters"),
              ElementsAre(HasSubstr("counter epsilon: no entry opened it")));
}

TEST_P(TamperConformance, ACounterThatIsGoneIsFound) {
  EXPECT_THAT(FindingsAfter("DELETE FROM account_counters"),
              Contains(HasSubstr("the entries opened accounts that the tables do not have")));
}

TEST_P(TamperConformance, AnEditedPostingIsFound) {
  EXPECT_THAT(FindingsAfter("UPDATE charges SET postings = replace(postings, ',4]', ',1]')"),
              Contains(HasSubstr("its postings")));
}

TEST_P(TamperConformance, AChargeSetBackToStartedIsFound) {
  EXPECT_THAT(
      FindingsAfter(
          "DELETE FROM endings; "
          "INSERT INTO open_charges (charge_id, state, attempt_token, sealed_key, deadline_us, postings) "
          "SELECT id, 'STARTED', '', fingerprint, 0, '' FROM charges WHERE request_id = 'stored'"),
      Contains(HasSubstr("its state")));
}

TEST_P(TamperConformance, AChargeWhoseReleaseIsGoneIsNeverDrawnAgain) {
  EXPECT_THAT(FindingsAfter("DELETE FROM releases"), Contains(HasSubstr("its release")));
  auto ledger = Open();
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->Begin(Request("stored", 4)).status());
  EXPECT_EQ(BalanceOf(*ledger, dataset_).spent, 7);
}

TEST_P(TamperConformance, AChargeSetBackToReservedIsNeverDrawnAgain) {
  EXPECT_THAT(FindingsAfter("UPDATE open_charges SET state = 'RESERVED'"), Contains(HasSubstr("its state")));
  auto ledger = Open();
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->Begin(Request("started", 3)).status());
  EXPECT_EQ(BalanceOf(*ledger, dataset_).spent, 7);
}

TEST_P(TamperConformance, AnEditedReleaseIsNeverServed) {
  EXPECT_THAT(FindingsAfter("UPDATE releases SET payload = payload_hash"), Contains(HasSubstr("release")));
  auto ledger = Open();
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->GetRelease(release_id_).status());
}

TEST_P(TamperConformance, ATruncatedHistoryTurnsTheLedgerReadOnly) {
  TakeLastChargeOutOfHistory();
  auto ledger = Open();
  ExpectReadOnly(*ledger);
  EXPECT_THAT(Must(ledger->Verify(dataset_.id)).findings,
              Contains(HasSubstr("ends with entry 4, and the anchor knows entry 5")));
}

// One server has charged and knows the history's end by heart; the other has only its anchor.
TEST_P(TamperConformance, AHistoryTruncatedUnderRunningServersIsNoticedByTheNextChargeOfEach) {
  auto charging = Open();
  auto idle = Open();
  Must(charging->Begin(Request("free", 0)));
  Tamper("DELETE FROM entries WHERE seq = 6; DELETE FROM charges WHERE request_id = 'free'");
  TakeLastChargeOutOfHistory();
  for (Ledger* const server : {charging.get(), idle.get()}) ExpectReadOnly(*server);
}

TEST_P(TamperConformance, ARestoredBackupTurnsTheLedgerReadOnly) {
  const std::string backup = CopyDatabase();
  Must(Open()->Begin(Request("after the backup", 3)));
  auto restored = Must(TryOpenCopy(backup));
  ExpectReadOnly(*restored);
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss,
                   restored->SetGrant(dataset_.id, {.grantee = "ana"}, TestPrincipal("olga")));
}

// What the backup has is whole. A new dataset or account could take the place of what is lost.
TEST_P(TamperConformance, ABackupFromBeforeADatasetCreatesNothing) {
  const std::string backup = CopyDatabase();
  MakeDataset(*Open(), "younger", 5);
  auto restored = Must(TryOpenCopy(backup));
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, restored->CreateDataset(SpecOf("younger", 5)).status());
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss,
                   restored
                       ->CreateAccount({.request_id = "a",
                                        .dataset_id = dataset_.id,
                                        .account = {.scope_type = ScopeType::kAnalyst,
                                                    .scope_key = "ana",
                                                    .rule = "rule",
                                                    .rule_name = "ZCDP",
                                                    .limits = {{"rho", 5}}},
                                        .actor = TestPrincipal("olga")})
                       .status());
  EXPECT_TRUE(Must(restored->Begin(Request("next", 1))).newly_charged);
}

TEST_P(TamperConformance, ADivergedCopyTurnsTheLedgerReadOnly) {
  const std::string backup = CopyDatabase();
  const fs::path kept = absl::StrCat(anchor_dir(), ".kept");
  fs::copy(anchor_dir(), kept);
  Must(Open()->Begin(Request("one history", 1)));
  const fs::path newer = absl::StrCat(anchor_dir(), ".newer");
  fs::rename(anchor_dir(), newer);
  fs::rename(kept, anchor_dir());
  Must(Must(TryOpenCopy(backup))->Begin(Request("another history", 1)));
  fs::remove_all(anchor_dir());
  fs::rename(newer, anchor_dir());
  ExpectReadOnly(*Must(TryOpenCopy(backup)));
}

TEST_P(TamperConformance, TheAnchorRollsForwardOverACrashBetweenCommitAndAnchor) {
  const fs::path kept = absl::StrCat(anchor_dir(), ".kept");
  fs::copy(anchor_dir(), kept);
  Must(Open()->Begin(Request("crashed before its anchor", 2)));
  fs::remove_all(anchor_dir());
  fs::rename(kept, anchor_dir());
  auto ledger = Open();
  EXPECT_EQ(Must(ledger->Verify(dataset_.id)).anchored_seq, 6);
  EXPECT_TRUE(Must(ledger->Begin(Request("next", 1))).newly_charged);
}

TEST_P(TamperConformance, TheAnchorDoesNotRollForwardOverAForgedEntry) {
  const fs::path kept = absl::StrCat(anchor_dir(), ".kept");
  fs::copy(anchor_dir(), kept);
  Must(Open()->Begin(Request("crashed before its anchor", 2)));
  fs::remove_all(anchor_dir());
  fs::rename(kept, anchor_dir());
  Tamper("UPDATE entries SET actor = 'mallory' WHERE seq = 6");
  ExpectReadOnly(*Open());
}

TEST_P(TamperConformance, ADamagedAnchorIsNotIgnored) {
  for (const auto& file : fs::directory_iterator(anchor_dir())) {
    if (file.path().extension() == ".anchor") std::ofstream(file.path(), std::ios::app) << "spent 1 rho 0\n";
  }
  const absl::Status status = TryOpen().status();
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, status);
  EXPECT_THAT(std::string(status.message()), HasSubstr(anchor_dir()));
  const Inspection inspection = Must(InspectLedger(url(), anchor_dir()));
  EXPECT_FALSE(inspection.ok());
  EXPECT_THAT(inspection.findings, ElementsAre(HasSubstr(anchor_dir())));
}

TEST_P(TamperConformance, TheCanaryWithoutAnAnchorDoesNotNoticeARestoredBackup) {
  const std::string backup = CopyDatabase();
  Must(Open()->Begin(Request("after the backup", 3)));
  fs::remove_all(anchor_dir());
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, TryOpenCopy(backup).status());
  AcceptMissingAnchor();
  auto restored = Must(TryOpenCopy(backup));
  EXPECT_TRUE(Must(restored->Begin(Request("spent again", 3))).newly_charged);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, TamperConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
