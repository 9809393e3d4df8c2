// A restored backup is a budget reset: it is refused, and repaired without minting any budget.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <limits>
#include <set>

#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/faulty_database.h"
#include "ledger/conformance/invariants.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kHour = 3'600'000'000;
constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

class RepairConformance : public LedgerConformance {
 protected:
  // A ledger with a charge of 4 of 10.
  void SetUp() override {
    LedgerConformance::SetUp();
    ledger_ = Open();
    dataset_ = MakeDataset(*ledger_, "census", 10);
    account_ = FirstAccount(*ledger_, dataset_);
    Must(ledger_->Begin(Request("kept", 4)));
  }

  ChargeRequest Request(const std::string& request_id, int64_t cost) const {
    return RequestOf(dataset_, request_id, account_, cost);
  }
  // What the ledger holds now, as a backup.
  std::string Backup() {
    ledger_.reset();
    const std::string url = CopyDatabase();
    ledger_ = Open();
    return url;
  }
  // Goes on with the backup, under the anchor as it is.
  void Restore(const std::string& url) {
    ledger_.reset();
    ledger_ = Must(TryOpenCopy(url));
  }
  // The backup is used for a while where the anchor is not seen, and then under it.
  void GoOnWithoutAnchor(const std::string& backup, const std::function<void()>& meanwhile) {
    ledger_.reset();
    const std::filesystem::path anchor = anchor_dir();
    const std::filesystem::path away = anchor_dir() + ".away";
    std::filesystem::rename(anchor, away);
    std::filesystem::create_directory(anchor);
    AcceptMissingAnchor();
    Restore(backup);
    meanwhile();
    ledger_.reset();
    std::filesystem::remove_all(anchor);
    std::filesystem::rename(away, anchor);
    Restore(backup);
  }
  void RaiseLimit(int64_t limit) {
    const LimitProposal proposal = Must(ledger_->ProposeLimit({.request_id = "p",
                                                               .account_id = account_,
                                                               .counter = "rho",
                                                               .new_limit = limit,
                                                               .reason = "more",
                                                               .proposed_by = TestPrincipal("olga")}));
    Must(ledger_->ApproveLimit(proposal.id, TestPrincipal("otto")));
  }
  RepairOrder Order(const std::vector<LostCharge>& receipts = {}) const {
    return {.dataset_id = dataset_.id,
            .reason = "the disk failed",
            .actor = TestPrincipal("petra"),
            .proposed_by = "olga",
            .receipts = receipts};
  }
  absl::StatusOr<RepairReport> Repair(const std::vector<LostCharge>& receipts = {}) {
    return ledger_->RaiseToAnchor(Order(receipts));
  }
  std::vector<std::string> Findings() { return Must(ledger_->Verify(dataset_.id)).findings; }
  int64_t Spent() { return BalanceOf(*ledger_, dataset_).spent; }
  std::vector<Entry> Entries() { return Must(ledger_->ListEntries(dataset_.id, {})); }
  Entry LastOf(const std::string& kind) {
    const std::vector<Entry> entries = Entries();
    const auto found = std::ranges::find(entries.rbegin(), entries.rend(), kind, &Entry::kind);
    EXPECT_NE(found, entries.rend()) << "no entry " << kind;
    return found == entries.rend() ? Entry() : *found;
  }
  LostCharge ReceiptOf(const Charge& charge) {
    const Entry entry = Must(ledger_->ChargeEntry(charge.id));
    return {.dataset_id = charge.dataset_id,
            .charge_id = charge.id,
            .seq = entry.seq,
            .postings = charge.postings};
  }

  std::unique_ptr<Ledger> ledger_;
  Dataset dataset_;
  int64_t account_ = 0;
};

TEST_P(RepairConformance, ARestoredBackupIsRefusedUntilSpentIsRaisedToTheAnchor) {
  const std::string backup = Backup();
  Must(ledger_->Begin(Request("lost", 3)));
  const int64_t last_lost = Entries().back().seq;
  Restore(backup);
  const absl::Status refused = ledger_->Begin(Request("next", 1)).status();
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, refused);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("curator ledger repair"));

  const RepairReport report = Must(Repair());
  EXPECT_TRUE(report.still_read_only.ok()) << report.still_read_only;
  ASSERT_EQ(report.raised.size(), 1u);
  EXPECT_EQ(report.raised[0].old_spent, 4);
  EXPECT_EQ(report.raised[0].new_spent, 7);
  EXPECT_EQ(report.last_lost_seq, last_lost);
  EXPECT_EQ(LastOf("REPAIRED").seq, last_lost + 1) << "the numbers of lost entries are not used again";
  EXPECT_EQ(Spent(), 7);
  EXPECT_THAT(Findings(), IsEmpty());
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted, ledger_->Begin(Request("too much", 4)).status());
  EXPECT_TRUE(Must(ledger_->Begin(Request("fits", 3))).newly_charged);
  Restore(backup);
  EXPECT_TRUE(ledger_->DatasetHealth(dataset_.id).ok()) << "also after a restart";
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_P(RepairConformance, AnotherServerThatMeetsARepairVerifiesItBesideTheRequestsAndAcceptsChargesAgain) {
  const std::string backup = Backup();
  Must(ledger_->Begin(Request("lost", 3)));
  Restore(backup);
  std::promise<void> is_sound;
  auto other = Must(sql::SqlLedger::Open(OpenStoreOf(backup), anchor_dir(), SeededEntropy(NextSeed()),
                                         {.report = [&](std::string_view event, std::string_view) {
                                           if (event == "dataset_sound_again") is_sound.set_value();
                                         }}));
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, other->Begin(Request("next", 1)).status());
  Must(Repair());
  // No request waits for the pass.
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, other->Begin(Request("next", 1)).status());
  is_sound.get_future().wait();
  EXPECT_TRUE(Must(other->Begin(Request("next", 1))).newly_charged);
  EXPECT_EQ(Spent(), 8);
  EXPECT_TRUE(Must(ledger_->Begin(Request("after it", 2))).newly_charged);
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted, other->Begin(Request("too much", 1)).status());
  EXPECT_THAT(Findings(), IsEmpty());
  EXPECT_THAT(ViolationsIn(*other, *OpenStoreOf(backup)), Contains(HasSubstr("its postings add up to")))
      << "what was raised has no charge, and nothing else is wrong";
  EXPECT_EQ(ViolationsIn(*other, *OpenStoreOf(backup)).size(), 1u);
}

TEST_P(RepairConformance, ALineageThatIsRepairedDuringAPassIsComparedWithTheAnchorOfItsRepair) {
  const Dataset survey = MakeDataset(*ledger_, "survey", 10);
  const int64_t account = FirstAccount(*ledger_, survey);
  const std::string backup = Backup();
  Must(ledger_->Begin(Request("lost", 3)));
  Must(ledger_->Begin(RequestOf(survey, "lost on survey", account, 3)));
  Restore(backup);
  // The pass over the first of the two lineages has ended when it is reported; the anchor was read before it.
  std::string repaired;
  auto other = Must(sql::SqlLedger::Open(OpenStoreOf(backup), anchor_dir(), SeededEntropy(NextSeed()),
                                         {.report = [&](std::string_view event, std::string_view text) {
                                           if (event != "dataset_damaged" || !repaired.empty()) return;
                                           repaired = text.find("\"census\"") == std::string_view::npos
                                                          ? dataset_.id
                                                          : survey.id;
                                           Must(ledger_->RaiseToAnchor({.dataset_id = repaired,
                                                                        .reason = "the disk failed",
                                                                        .actor = TestPrincipal("petra"),
                                                                        .proposed_by = "olga"}));
                                         }}));
  const bool is_census = repaired == dataset_.id;
  EXPECT_TRUE(other->DatasetHealth(repaired).ok()) << other->DatasetHealth(repaired);
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, other->DatasetHealth(is_census ? survey.id : dataset_.id));
  EXPECT_TRUE(Must(other->Begin(is_census ? Request("next", 1) : RequestOf(survey, "next", account, 1)))
                  .newly_charged);
}

TEST_P(RepairConformance, AChargeOnADatasetBehindItsAnchorDelaysNoOther) {
  const Dataset survey = MakeDataset(*ledger_, "survey", 10);
  const int64_t account = FirstAccount(*ledger_, survey);
  const std::string backup = Backup();
  Must(ledger_->Begin(Request("lost", 3)));
  Restore(backup);
  auto store = std::make_unique<FaultyDatabase>(OpenStoreOf(backup));
  FaultyDatabase& faulty = *store;
  auto other = Must(sql::SqlLedger::Open(std::move(store), anchor_dir(), SeededEntropy(NextSeed()),
                                         sql::SqlLedger::Options()));
  constexpr std::chrono::seconds kLongest(20);
  std::future<absl::Status> beside;
  std::future_status waited = std::future_status::deferred;
  faulty.ArmPause(0, [&](FaultyDatabase::Moment) {
    beside = std::async(std::launch::async,
                        [&] { return other->Begin(RequestOf(survey, "beside it", account, 1)).status(); });
    waited = beside.wait_for(kLongest);
  });
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, other->Begin(Request("next", 1)).status());
  EXPECT_EQ(waited, std::future_status::ready);
  EXPECT_STATUS_IS(absl::StatusCode::kOk, beside.get());
}

TEST_P(RepairConformance, WhatIsOnlyCheckedChangesNothing) {
  const std::string backup = Backup();
  Must(ledger_->Begin(Request("lost", 3)));
  Restore(backup);
  const size_t entries = Entries().size();
  const RepairReport report = Must(ledger_->RaiseToAnchor({.dataset_id = dataset_.id,
                                                           .reason = "to look",
                                                           .actor = TestPrincipal("petra"),
                                                           .proposed_by = "olga",
                                                           .only_checked = true}));
  EXPECT_EQ(report.raised.at(0).new_spent, 7);
  EXPECT_EQ(Entries().size(), entries);
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger_->Begin(Request("next", 1)).status());
}

TEST_P(RepairConformance, WhereNothingIsBehindNothingIsWritten) {
  const size_t entries = Entries().size();
  EXPECT_THAT(Must(Repair()).raised, IsEmpty());
  EXPECT_EQ(Entries().size(), entries);
  const std::string backup = Backup();
  Must(ledger_->Begin(Request("lost", 3)));
  Restore(backup);
  Must(Repair());
  EXPECT_THAT(Must(Repair()).raised, IsEmpty()) << "the second one has nothing left to do";
  EXPECT_EQ(Spent(), 7);
}

TEST_P(RepairConformance, ASoundLineageIsNotVerifiedForARepair) {
  auto store = std::make_unique<FaultyDatabase>(OpenStore());
  FaultyDatabase& faulty = *store;
  ledger_ = Must(sql::SqlLedger::Open(std::move(store), anchor_dir(), SeededEntropy(NextSeed()),
                                      sql::SqlLedger::Options()));
  constexpr int kOnlyTheLineage = 1;
  faulty.Arm(Fault::kFail, kOnlyTheLineage);
  EXPECT_THAT(Must(Repair()).raised, IsEmpty());
  faulty.Disarm();
  EXPECT_FALSE(faulty.has_struck());
}

TEST_P(RepairConformance, RestoredReservationsCountAsSpentOnce) {
  const Charge held = Must(ledger_->Reserve({Request("held", 3)}, kHour)).at(0);
  const std::string backup = Backup();
  Must(ledger_->StartReserved(held.id, held.postings, TestPrincipal("ana")));
  Restore(backup);
  const RepairReport report = Must(Repair());
  EXPECT_EQ(report.reservations_spent, 1);
  EXPECT_EQ(Spent(), 7) << "the anchor's 7 hold the reservation's 3 already";
  EXPECT_EQ(BalanceOf(*ledger_, dataset_).held, 0);
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->StartReserved(held.id, held.postings, TestPrincipal("ana")).status());
  EXPECT_THAT(Findings(), IsEmpty());
}

// The lost history may hold its release: the same key must not be drawn from again.
TEST_P(RepairConformance, AStartedChargeIsForfeitedAndItsKeyErased) {
  const std::string backup = Backup();
  Must(ledger_->Store(Must(ledger_->Begin(Request("kept", 4))), "delivered"));
  Restore(backup);
  Must(Repair());
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, ledger_->Begin(Request("kept", 4)).status());
  EXPECT_EQ(Must(ledger_->FindCharge(TestPrincipal("ana"), "kept")).state, ChargeState::kForfeited);
  EXPECT_EQ(Entries().back().kind, "FORFEITED");
  EXPECT_EQ(Spent(), 4);
  EXPECT_THAT(Findings(), IsEmpty());
}

// It may have been started and answered in the lost history.
TEST_P(RepairConformance, AQueuedDrawIsSpentAndForfeited) {
  ASSERT_TRUE(ledger_->SetGrant(dataset_.id, {.grantee = "ana"}, TestPrincipal("olga")).ok());
  ChargeRequest request = Request("queued", 3);
  request.draw_identity = "what is drawn";
  request.sealed_key.clear();
  const Charge queued = Must(ledger_->Queue(request, kHour));
  const std::string backup = Backup();
  Must(ledger_->Store(Must(ledger_->StartQueued(queued.id, "sealed", "attempt")), "delivered"));
  Restore(backup);
  EXPECT_EQ(Must(Repair()).charges_forfeited, 2) << "this one, and the started one";
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->StartQueued(queued.id, "another key", "attempt 2").status());
  EXPECT_EQ(Must(ledger_->GetCharge(queued.id)).state, ChargeState::kForfeited);
  EXPECT_EQ(Spent(), 7);
  EXPECT_EQ(BalanceOf(*ledger_, dataset_).held, 0);
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_P(RepairConformance, ALimitThatWasRaisedInTheLostHistoryIsRaisedToWhatWasSpent) {
  const std::string backup = Backup();
  RaiseLimit(20);
  Must(ledger_->Begin(Request("lost", 11)));
  Restore(backup);
  const RepairReport report = Must(Repair());
  EXPECT_EQ(report.raised.at(0).new_limit, 15);
  const CounterBalance balance = BalanceOf(*ledger_, dataset_);
  EXPECT_EQ(balance.spent, 15);
  EXPECT_EQ(balance.limit, 15) << "no more than what is spent already: the proposal is lost";
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_P(RepairConformance, AReceiptCountsWhatTheAnchorHasLostToo) {
  ledger_.reset();
  const std::string backup = CopyDatabase();
  const std::string anchor_backup = anchor_dir() + ".backup";
  std::filesystem::copy(anchor_dir(), anchor_backup, std::filesystem::copy_options::recursive);
  ledger_ = Open();
  const LostCharge receipt = ReceiptOf(Must(ledger_->Begin(Request("lost", 3))).charge);
  const LostCharge kept = ReceiptOf(Must(ledger_->FindCharge(TestPrincipal("ana"), "kept")));
  ledger_.reset();
  std::filesystem::remove_all(anchor_dir());
  std::filesystem::rename(anchor_backup, anchor_dir());
  Restore(backup);
  EXPECT_TRUE(ledger_->DatasetHealth(dataset_.id).ok()) << "only the holder of the receipt can know";

  const RepairReport report = Must(Repair({receipt, kept, receipt}));
  EXPECT_EQ(report.receipts_counted, 1) << "the kept charge is there, and the lost one counts once";
  EXPECT_EQ(Spent(), 7);
  EXPECT_GT(Entries().back().seq, receipt.seq);
  EXPECT_THAT(Findings(), IsEmpty());
  EXPECT_EQ(Must(Repair({receipt})).receipts_counted, 0) << "nor does it count again later";
  EXPECT_EQ(Spent(), 7);
}

TEST_P(RepairConformance, AReceiptOfAChargeThatTheAnchorKnowsAddsNothing) {
  const std::string backup = Backup();
  const LostCharge receipt = ReceiptOf(Must(ledger_->Begin(Request("lost", 3))).charge);
  Restore(backup);
  EXPECT_EQ(Must(Repair({receipt})).receipts_counted, 0);
  EXPECT_EQ(Spent(), 7);
  EXPECT_EQ(Must(Repair({receipt})).receipts_counted, 0);
  EXPECT_EQ(Spent(), 7);
}

TEST_P(RepairConformance, WhatALostAccountHadSpentIsNotCountedAgainstAnother) {
  const auto account_for = [&](const std::string& analyst, const std::string& request_id) {
    return NewAccount{.request_id = request_id,
                      .dataset_id = dataset_.id,
                      .account = {.scope_type = ScopeType::kAnalyst,
                                  .scope_key = analyst,
                                  .rule = "rule",
                                  .rule_name = "ZCDP",
                                  .limits = {{"rho", 5}}},
                      .actor = TestPrincipal("olga")};
  };
  const std::string backup = Backup();
  const Account lost = Must(ledger_->CreateAccount(account_for("ana", "a1")));
  ChargeRequest request = Request("lost", 3);
  request.postings.push_back({lost.id, "rho", 3});
  Must(ledger_->Begin(request));
  Restore(backup);
  Must(Repair());
  const Account fresh = Must(ledger_->CreateAccount(account_for("ana", "a2")));
  request = Request("next", 1);
  request.postings.push_back({fresh.id, "rho", 5});
  EXPECT_TRUE(Must(ledger_->Begin(request)).newly_charged) << "its whole limit";
  EXPECT_EQ(Must(ledger_->GetAccounts({fresh.id})).at(0).counters.at(0).spent, 5);
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_P(RepairConformance, EachDatasetIsRepairedByItsOwner) {
  const Dataset other = MakeDataset(*ledger_, "survey", 10);
  const int64_t other_account = FirstAccount(*ledger_, other);
  const std::string backup = Backup();
  Must(ledger_->Begin(Request("lost", 3)));
  Must(ledger_->Begin(RequestOf(other, "lost too", other_account, 2)));
  Restore(backup);
  EXPECT_TRUE(Must(Repair()).still_read_only.ok());
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss,
                   ledger_->Begin(RequestOf(other, "next on survey", other_account, 1)).status());
  const RepairReport second = Must(ledger_->RaiseToAnchor({.dataset_id = other.id,
                                                           .reason = "the same",
                                                           .actor = TestPrincipal("petra"),
                                                           .proposed_by = "olga"}));
  EXPECT_TRUE(second.still_read_only.ok()) << second.still_read_only;
  EXPECT_TRUE(Must(ledger_->Begin(Request("next", 1))).newly_charged);
}

TEST_P(RepairConformance, ADatasetOfTheLineageThatHasLostNothingIsLeftAlone) {
  DatasetSpec spec = SpecOf("census-2", 0);
  spec.accounts.clear();
  spec.successor_of = dataset_.id;
  const Dataset successor = Must(ledger_->CreateDataset(spec));
  const std::string backup = Backup();
  Must(ledger_->Begin(Request("lost", 3)));
  Restore(backup);
  const size_t entries = Must(ledger_->ListEntries(successor.id, {})).size();
  Must(Repair());
  EXPECT_EQ(Spent(), 7);
  EXPECT_EQ(Must(ledger_->ListEntries(successor.id, {})).size(), entries);
  EXPECT_EQ(LastOf("REPAIRED").dataset_id, dataset_.id);
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_P(RepairConformance, ALossInAnotherDatasetOfTheLineageIsReportedAndRepaired) {
  DatasetSpec spec = SpecOf("census-2", 0);
  spec.accounts.clear();
  spec.successor_of = dataset_.id;
  const Dataset successor = Must(ledger_->CreateDataset(spec));
  const auto last_of_successor = [&] { return Must(ledger_->ListEntries(successor.id, {})).back(); };
  const int64_t last_kept = last_of_successor().seq;
  const std::string backup = Backup();
  ASSERT_TRUE(ledger_->SetGrant(successor.id, {.grantee = "ana"}, TestPrincipal("olga")).ok());
  Restore(backup);
  RepairOrder order = Order();
  order.only_checked = true;
  const RepairReport checked = Must(ledger_->RaiseToAnchor(order));
  EXPECT_TRUE(checked.is_needed);
  EXPECT_THAT(checked.raised, IsEmpty());
  EXPECT_EQ(checked.last_lost_seq, 0) << "nothing of the dataset that the order names";
  ASSERT_EQ(checked.lost.size(), 1u);
  EXPECT_EQ(checked.lost[0].dataset_id, successor.id);
  EXPECT_EQ(checked.lost[0].first_seq, last_kept + 1);
  EXPECT_EQ(checked.lost[0].last_seq, last_kept + 1);
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, checked.still_read_only);

  order = Order();
  order.expected_effect = HashOfEffect(checked);
  EXPECT_TRUE(Must(ledger_->RaiseToAnchor(order)).still_read_only.ok());
  EXPECT_EQ(last_of_successor().kind, "REPAIRED");
  EXPECT_EQ(last_of_successor().seq, last_kept + 2);
  EXPECT_TRUE(ledger_->DatasetHealth(successor.id).ok()) << ledger_->DatasetHealth(successor.id);
  EXPECT_FALSE(Must(ledger_->RaiseToAnchor(order)).is_needed) << "so the same order again is accepted";
}

TEST_P(RepairConformance, NothingIsWrittenThatIsNotWhatWasExpected) {
  const std::string backup = Backup();
  RaiseLimit(20);
  Must(ledger_->Begin(Request("lost", 8)));
  std::unique_ptr<Ledger> lost_history = std::move(ledger_);
  ledger_ = Must(TryOpenCopy(backup));
  RepairOrder check = Order();
  check.only_checked = true;
  const RepairReport approved = Must(ledger_->RaiseToAnchor(check));
  RepairOrder order = Order();
  order.expected_effect = HashOfEffect(approved);
  Must(lost_history->Begin(Request("lost later", 1)));
  const size_t entries = Entries().size();
  for (const bool only_checked : {true, false}) {
    order.only_checked = only_checked;
    const absl::Status refused = ledger_->RaiseToAnchor(order).status();
    EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, refused);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("would do something else now"));
  }
  EXPECT_EQ(Entries().size(), entries);
  EXPECT_EQ(Spent(), 4);
  EXPECT_EQ(BalanceOf(*ledger_, dataset_).limit, 10);
  EXPECT_EQ(Must(ledger_->FindCharge(TestPrincipal("ana"), "kept")).state, ChargeState::kStarted);
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger_->DatasetHealth(dataset_.id));

  order.expected_effect = HashOfEffect(Must(ledger_->RaiseToAnchor(check)));
  const RepairReport repaired = Must(ledger_->RaiseToAnchor(order));
  EXPECT_EQ(HashOfEffect(repaired), *order.expected_effect);
  EXPECT_EQ(Spent(), 13);
  EXPECT_EQ(BalanceOf(*ledger_, dataset_).limit, 13);
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_P(RepairConformance, WhoeverMayHaveNoPassMadeRepairsNothing) {
  const std::string backup = Backup();
  Must(ledger_->Begin(Request("lost", 3)));
  Restore(backup);
  int asked = 0;
  absl::Status answer = absl::ResourceExhaustedError("no more passes");
  RepairOrder order = Order();
  order.before_pass = [&] {
    ++asked;
    return answer;
  };
  const size_t entries = Entries().size();
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted, ledger_->RaiseToAnchor(order).status());
  EXPECT_EQ(Entries().size(), entries);
  answer = absl::OkStatus();
  EXPECT_TRUE(Must(ledger_->RaiseToAnchor(order)).is_needed);
  EXPECT_EQ(asked, 2) << "once for the passes of one order";
  EXPECT_FALSE(Must(ledger_->RaiseToAnchor(order)).is_needed);
  EXPECT_EQ(asked, 2) << "no pass is made over a sound history";
  order.receipts = {ReceiptOf(Must(ledger_->Begin(Request("next", 1))).charge)};
  EXPECT_FALSE(Must(ledger_->RaiseToAnchor(order)).is_needed);
  EXPECT_EQ(asked, 3) << "unless there are receipts";
}

TEST(EffectOfARepair, HasAnotherHashWhereAnyPartOfItDiffers) {
  using Change = std::function<void(RepairReport&)>;
  const RepairReport report{.lost = {{"census", 3, 4}}, .raised = {{1, "rho", 2, 3, 4, 5}}};
  const std::vector<Change> changes = {
      [](RepairReport& other) {
        other.lost.push_back({"census-2", 7, 7});
      },
      [](RepairReport& other) { other.lost[0].dataset_id = "census-2"; },
      [](RepairReport& other) { ++other.lost[0].first_seq; },
      [](RepairReport& other) { ++other.lost[0].last_seq; },
      [](RepairReport& other) { other.raised.push_back(other.raised[0]); },
      [](RepairReport& other) { ++other.raised[0].account_id; },
      [](RepairReport& other) { other.raised[0].counter = "epsilon"; },
      [](RepairReport& other) { ++other.raised[0].old_spent; },
      [](RepairReport& other) { ++other.raised[0].new_spent; },
      [](RepairReport& other) { ++other.raised[0].old_limit; },
      [](RepairReport& other) { ++other.raised[0].new_limit; },
      [](RepairReport& other) { ++other.reservations_spent; },
      [](RepairReport& other) { ++other.charges_forfeited; },
      [](RepairReport& other) { ++other.receipts_counted; },
  };
  std::set<std::string> hashes = {HashOfEffect(report)};
  for (const Change& change : changes) {
    RepairReport other = report;
    change(other);
    hashes.insert(HashOfEffect(other));
  }
  EXPECT_EQ(hashes.size(), changes.size() + 1);
  RepairReport read_only = report;
  read_only.still_read_only = absl::DataLossError("it is behind its anchor");
  EXPECT_EQ(HashOfEffect(read_only), HashOfEffect(report)) << "that is no effect";
}

TEST_P(RepairConformance, ReceiptsThatDoNotFitTheCountersRaiseNothing) {
  const auto receipt = [&](const std::string& charge_id, int64_t cost) {
    return LostCharge{
        .dataset_id = dataset_.id, .charge_id = charge_id, .seq = 100, .postings = {{account_, "rho", cost}}};
  };
  const size_t entries = Entries().size();
  const absl::Status sum = Repair({receipt("one", kLargest), receipt("other", 1)}).status();
  EXPECT_STATUS_IS(absl::StatusCode::kOutOfRange, sum);
  EXPECT_THAT(std::string(sum.message()), HasSubstr("the costs of the receipts"));
  EXPECT_STATUS_IS(absl::StatusCode::kOutOfRange, Repair({receipt("negative", -1)}).status());
  const absl::Status beside_spent = Repair({receipt("one", kLargest)}).status();
  EXPECT_STATUS_IS(absl::StatusCode::kOutOfRange, beside_spent);
  EXPECT_THAT(std::string(beside_spent.message()), HasSubstr("what was spent"));
  EXPECT_EQ(Entries().size(), entries);
  EXPECT_EQ(Spent(), 4);
  EXPECT_TRUE(Must(ledger_->Begin(Request("next", 1))).newly_charged);
}

TEST_P(RepairConformance, AHistoryThatWentOnWithoutItsAnchorIsCountedBesideTheAnchoredOne) {
  const std::string backup = Backup();
  Must(ledger_->Begin(Request("lost", 3)));  // the anchor knows 7
  GoOnWithoutAnchor(backup, [&] {
    Must(ledger_->Begin(Request("after one", 1)));
    Must(ledger_->Begin(Request("after two", 1)));  // the store knows 6, of which the anchor does not know 2
  });
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger_->Begin(Request("next", 1)).status());
  Must(Repair());
  EXPECT_EQ(Spent(), 13) << "9 was spent; what the two histories share is not known";
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_P(RepairConformance, TwoHistoriesThatDoNotFitTheCountersTogetherAreNotCounted) {
  const Dataset vast = MakeDataset(*ledger_, "vast", kLargest);
  const int64_t account = FirstAccount(*ledger_, vast);
  const std::string backup = Backup();
  Must(ledger_->Begin(RequestOf(vast, "lost", account, kLargest - 5)));
  GoOnWithoutAnchor(backup, [&] {
    Must(ledger_->Begin(RequestOf(vast, "after one", account, 3)));
    Must(ledger_->Begin(RequestOf(vast, "after two", account, 3)));
  });
  const absl::Status refused = ledger_
                                   ->RaiseToAnchor({.dataset_id = vast.id,
                                                    .reason = "the disk failed",
                                                    .actor = TestPrincipal("petra"),
                                                    .proposed_by = "olga"})
                                   .status();
  EXPECT_STATUS_IS(absl::StatusCode::kOutOfRange, refused);
  EXPECT_EQ(BalanceOf(*ledger_, vast).spent, 6);
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger_->Begin(RequestOf(vast, "next", account, 1)).status());
}

TEST_P(RepairConformance, AHistoryThatContradictsItselfIsNotMended) {
  ledger_.reset();
  Tamper("UPDATE entries SET actor = 'mallory' WHERE seq = 2");
  ledger_ = Open();
  const absl::Status refused = Repair().status();
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, refused);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("was edited"));
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, RepairConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
