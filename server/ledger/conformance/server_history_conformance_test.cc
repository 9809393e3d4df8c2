// The server's own history, on every backend: a chain without counters, which one change at a time continues,
// and which the anchor covers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/testing/names.h"
#include "ledger/conformance/faulty_database.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/history/entry_payload.h"
#include "ledger/inspect_ledger.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ServerHistoryConformance : public LedgerConformance {
 protected:
  static NewServerEntry Change(int64_t after_seq, const std::string& payload) {
    return {.after_seq = after_seq, .kind = "PRINCIPAL_CREATED", .payload = payload, .actor = "ada"};
  }

  void EditTheFirstEntry() {
    Tamper(GetParam() == "postgres" ? "ALTER TABLE server_entries DISABLE TRIGGER ALL; UPDATE server_entries "
                                      "SET actor = 'eve' WHERE seq = 1"
                                    : "DROP TRIGGER server_entries_are_never_updated; UPDATE server_entries "
                                      "SET actor = 'eve' WHERE seq = 1");
  }

  static std::vector<std::string> Payloads(Ledger& ledger) {
    std::vector<std::string> payloads;
    for (const Entry& entry : Must(ledger.ListServerEntries({}))) payloads.push_back(entry.payload);
    return payloads;
  }
};

TEST_P(ServerHistoryConformance, BeginsEmpty) {
  const std::unique_ptr<Ledger> ledger = Open();
  EXPECT_EQ(Must(ledger->ServerHead()).seq, 0);
  EXPECT_THAT(Payloads(*ledger), IsEmpty());
  EXPECT_TRUE(Must(ledger->VerifyServerHistory()).ok);
}

TEST_P(ServerHistoryConformance, GrowsByOneEntryAfterTheOtherAlsoAfterARestart) {
  std::unique_ptr<Ledger> ledger = Open();
  const Entry first = Must(ledger->AppendServerEntry(Change(0, "bob")));
  EXPECT_EQ(first.seq, 1);
  ledger.reset();
  ledger = Open();
  const Entry second = Must(ledger->AppendServerEntry(Change(1, "eve")));
  EXPECT_EQ(second.prev_hash, first.hash);
  EXPECT_THAT(Payloads(*ledger), ElementsAre("bob", "eve"));
  EXPECT_EQ(Must(ledger->ServerHead()).hash, second.hash);
}

TEST_P(ServerHistoryConformance, RefusesAChangeThatWasDecidedBeforeAnother) {
  const std::unique_ptr<Ledger> ledger = Open();
  const std::unique_ptr<Ledger> other = Open();
  Must(other->AppendServerEntry(Change(0, "bob")));
  EXPECT_STATUS_IS(absl::StatusCode::kAborted, ledger->AppendServerEntry(Change(0, "eve")).status());
  EXPECT_THAT(Payloads(*ledger), ElementsAre("bob"));
}

// Each of the two callers would believe that it was his.
TEST_P(ServerHistoryConformance, RefusesTheSameChangeOfAnother) {
  const std::unique_ptr<Ledger> ledger = Open();
  Must(ledger->AppendServerEntry(Change(0, "a wrong code")));
  EXPECT_STATUS_IS(absl::StatusCode::kAborted, ledger->AppendServerEntry(Change(0, "a wrong code")).status());
  EXPECT_THAT(Payloads(*ledger), SizeIs(1));
}

// Nobody knows whether the first attempt was committed.
TEST_P(ServerHistoryConformance, FindsWhatAnAttemptWroteWhoseConnectionBroke) {
  Open();  // makes the schema
  auto store = std::make_unique<FaultyDatabase>(OpenStore());
  FaultyDatabase& faulty = *store;
  const auto ledger = Must(sql::SqlLedger::Open(std::move(store), anchor_dir(), SeededEntropy(NextSeed())));
  for (int step = 0; step < 12; ++step) {
    const int64_t before = Must(ledger->ServerHead()).seq;
    faulty.Arm(Fault::kLost, step);
    EXPECT_STATUS_IS(absl::StatusCode::kOk, ledger->AppendServerEntry(Change(before, "bob")).status());
    faulty.Disarm();
    EXPECT_EQ(Must(ledger->ServerHead()).seq, before + 1) << "at step " << step;
  }
}

TEST_P(ServerHistoryConformance, IsRefusedWhenABackupOfItIsRestored) {
  std::unique_ptr<Ledger> ledger = Open();
  Must(ledger->AppendServerEntry(Change(0, "bob is enabled")));
  ledger.reset();
  const std::string backup = CopyDatabase();
  ledger = Open();
  Must(ledger->AppendServerEntry(Change(1, "bob is disabled")));
  ledger.reset();
  const std::unique_ptr<Ledger> restored = Must(TryOpenCopy(backup));
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, restored->ServerHead().status());
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, restored->AppendServerEntry(Change(1, "eve")).status());
}

TEST_P(ServerHistoryConformance, ARepairContinuesARestoredBackupAndLeavesAGap) {
  std::unique_ptr<Ledger> ledger = Open();
  const Entry kept = Must(ledger->AppendServerEntry(Change(0, "bob")));
  ledger.reset();
  const std::string backup = CopyDatabase();
  ledger = Open();
  Must(ledger->AppendServerEntry(Change(1, "eve")));
  const Entry lost = Must(ledger->AppendServerEntry(Change(2, "bob is disabled")));
  ledger.reset();
  std::unique_ptr<Ledger> restored = Must(TryOpenCopy(backup));
  const std::optional<Entry> repair = Must(restored->RepairServerHistory("@host", "the disk was lost"));
  ASSERT_TRUE(repair.has_value());
  EXPECT_EQ(repair->seq, 4);
  EXPECT_EQ(repair->prev_hash, kept.hash);
  const Repair payload = Must(ParseRepair(repair->payload));
  EXPECT_EQ(payload.last_kept_seq, 1);
  EXPECT_EQ(payload.anchored_hash, lost.hash);
  Must(restored->AppendServerEntry(Change(4, "ada")));
  restored.reset();
  restored = Must(TryOpenCopy(backup));
  EXPECT_EQ(Must(restored->ServerHead()).seq, 5);
  EXPECT_TRUE(Must(restored->VerifyServerHistory()).ok);
}

// Its anchor is a file of its own, which knows what was lost and not yet that it is.
TEST_P(ServerHistoryConformance, ARepairIsFoundByAnotherServerThatKnowsWhatWasLost) {
  std::unique_ptr<Ledger> ledger = Open();
  Must(ledger->AppendServerEntry(Change(0, "bob")));
  ledger.reset();
  const std::string backup = CopyDatabase();
  ledger = Open();
  Must(ledger->AppendServerEntry(Change(1, "bob is disabled")));
  ledger.reset();
  const std::string other_anchor = anchor_dir() + "-of-another";
  std::filesystem::copy(anchor_dir(), other_anchor, std::filesystem::copy_options::recursive);
  Must(Must(TryOpenCopy(backup))->RepairServerHistory("@host", "lost"));
  const Inspection inspection = Must(InspectLedger(backup, other_anchor));
  EXPECT_THAT(inspection.server_history.findings, IsEmpty());
}

// As a writer of the database could append it: one that fits no history.
TEST_P(ServerHistoryConformance, ARepairOfAnotherHistoryIsFound) {
  std::unique_ptr<Ledger> ledger = Open();
  Must(ledger->AppendServerEntry(Change(0, "bob")));
  Must(ledger->AppendServerEntry(
      {.after_seq = 1,
       .kind = kRepaired,
       .payload = EncodePayload(Repair{.reason = "none", .last_kept_seq = 0, .anchored_seq = 1'000'000}),
       .actor = "@host"}));
  EXPECT_THAT(Must(ledger->VerifyServerHistory()).findings,
              ElementsAre(HasSubstr("entry 2 repairs another history")));
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->ServerHead().status());
}

TEST_P(ServerHistoryConformance, ARepairIsMadeOnceThoughItsConnectionBreaks) {
  for (int step = 0; step < 8; ++step) {
    RenewLedger();
    std::unique_ptr<Ledger> ledger = Open();
    Must(ledger->AppendServerEntry(Change(0, "bob")));
    ledger.reset();
    const std::string backup = CopyDatabase();
    ledger = Open();
    Must(ledger->AppendServerEntry(Change(1, "lost")));
    ledger.reset();
    auto store = std::make_unique<FaultyDatabase>(OpenStoreOf(backup));
    FaultyDatabase& faulty = *store;
    ledger = Must(sql::SqlLedger::Open(std::move(store), anchor_dir(), SeededEntropy(NextSeed())));
    faulty.Arm(Fault::kLost, step);
    const std::optional<Entry> repair = Must(ledger->RepairServerHistory("@host", "the disk"));
    faulty.Disarm();
    ASSERT_TRUE(repair.has_value()) << "at step " << step;
    EXPECT_EQ(repair->seq, 3) << "at step " << step;
    EXPECT_EQ(Must(ledger->ServerHead()).hash, repair->hash) << "at step " << step;
    EXPECT_THAT(Payloads(*ledger), SizeIs(2)) << "at step " << step;
  }
}

// The store fails at every step; what it says is no loss.
TEST_P(ServerHistoryConformance, NothingIsRepairedBecauseTheStoreFails) {
  Open();  // makes the schema
  auto store = std::make_unique<FaultyDatabase>(OpenStore());
  FaultyDatabase& faulty = *store;
  const auto ledger = Must(sql::SqlLedger::Open(std::move(store), anchor_dir(), SeededEntropy(NextSeed())));
  Must(ledger->AppendServerEntry(Change(0, "bob")));
  for (int step = 0; step < 12; ++step) {
    faulty.Arm(Fault::kLost, step);
    const auto repaired = ledger->RepairServerHistory("@host", "why not");
    faulty.Disarm();
    EXPECT_EQ(repaired.value_or(std::nullopt), std::nullopt) << "at step " << step;
    EXPECT_EQ(Must(ledger->ServerHead()).seq, 1) << "at step " << step;
  }
}

TEST_P(ServerHistoryConformance, NothingIsRepairedWhereNothingIsLostOrWhatIsThereWasEdited) {
  std::unique_ptr<Ledger> ledger = Open();
  Must(ledger->AppendServerEntry(Change(0, "bob")));
  EXPECT_EQ(Must(ledger->RepairServerHistory("@host", "why not")), std::nullopt);
  EXPECT_EQ(Must(ledger->ServerHead()).seq, 1);
  ledger.reset();
  EditTheFirstEntry();
  ledger = Open();
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->RepairServerHistory("@host", "why not").status());
}

TEST_P(ServerHistoryConformance, IsRefusedWhenAnEntryOfItWasEdited) {
  std::unique_ptr<Ledger> ledger = Open();
  Must(ledger->AppendServerEntry(Change(0, "bob")));
  Must(ledger->AppendServerEntry(Change(1, "eve")));
  ledger.reset();
  EditTheFirstEntry();
  ledger = Open();
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->ServerHead().status());
  const Inspection inspection = Must(InspectLedger(url(), anchor_dir()));
  EXPECT_FALSE(inspection.ok());
  EXPECT_THAT(inspection.server_history.findings, ElementsAre(HasSubstr("entry 1 was edited")));
}

TEST_P(ServerHistoryConformance, IsNeverChangedByTheStore) {
  const std::unique_ptr<Ledger> ledger = Open();
  Must(ledger->AppendServerEntry(Change(0, "bob")));
  EXPECT_FALSE(TryInStore("UPDATE server_entries SET actor = 'eve'").ok());
  EXPECT_FALSE(TryInStore("DELETE FROM server_entries").ok());
}

TEST_P(ServerHistoryConformance, NamesThatTheLedgerKnowsAreThoseOfOwnersGranteesAndPayers) {
  const std::unique_ptr<Ledger> ledger = Open();
  const Dataset census = MakeDataset(*ledger, "census", 10);
  EXPECT_TRUE(Must(ledger->KnowsPrincipal("olga")));
  EXPECT_FALSE(Must(ledger->KnowsPrincipal("bob")));
  ASSERT_TRUE(ledger->SetGrant(census.id, {.grantee = "bob"}, TestPrincipal("olga")).ok());
  EXPECT_TRUE(Must(ledger->KnowsPrincipal("bob")));
  EXPECT_FALSE(Must(ledger->KnowsPrincipal("ana")));
  Must(ledger->Begin(RequestOf(census, "r1", FirstAccount(*ledger, census), 1)));
  EXPECT_TRUE(Must(ledger->KnowsPrincipal("ana")));
}

TEST_P(ServerHistoryConformance, IsNotADatasetThatIsLost) {
  std::unique_ptr<Ledger> ledger = Open();
  Must(ledger->AppendServerEntry(Change(0, "bob")));
  ledger.reset();
  ledger = Open();
  MakeDataset(*ledger, "census", 10);
  EXPECT_TRUE(Must(InspectLedger(url(), anchor_dir())).ok());
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, ServerHistoryConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
