#include "ledger/history/recount.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_cat.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A history of one dataset with one account (1) of limit 10, written by hand, as an intruder could who forges
// hashes, too.
class History {
 public:
  History() {
    Write(kDatasetCreated, "",
          EncodePayload(DatasetCreated{.name = "census",
                                       .owner = "olga",
                                       .lineage_id = "d",
                                       .accounts = {{1, {.limits = {{"rho", 10}}}}}}));
  }
  void Charge(const char* kind, const std::string& charge_id, int64_t cost) {
    Write(kind, charge_id, EncodePayload(ChargeMade{.postings = {{1, "rho", cost}}}));
  }
  void Queue(const std::string& charge_id, int64_t cost) {
    Write(kReserved, charge_id,
          EncodePayload(ChargeMade{
              .request_id = charge_id, .postings = {{1, "rho", cost}}, .draw_identity = "what is drawn"}));
  }
  void Change(const char* kind, const std::string& charge_id, std::vector<Posting> postings = {}) {
    Write(kind, charge_id, EncodePayload(ChargeChanged{.postings = std::move(postings)}));
  }
  void ChangeLimit(int64_t old_limit, int64_t new_limit) {
    Write(kLimitChanged, "", EncodePayload(LimitChange{"p", 1, "rho", old_limit, new_limit, "why"}));
  }
  void RepairOf(const RaisedBy& raised) {
    Write(kRepaired, "", EncodePayload(Repair{.reason = "why", .raised = {raised}}));
  }
  void Write(const std::string& kind, const std::string& charge_id, const std::string& payload,
             const std::string& actor = "ana") {
    Entry entry{.dataset_id = "d", .kind = kind, .charge_id = charge_id, .payload = payload, .actor = actor};
    head_ = Append(head_, entry);
    recount_.Add(entry);
  }
  Recount& Finish() {
    recount_.Finish();
    return recount_;
  }
  RecountedCounter Balance() { return recount_.counters().at({1, "rho"}); }

 private:
  ChainHead head_;
  Recount recount_{1};
};

std::string PartBytes(int64_t number, const std::string& name, std::vector<int64_t> bins) {
  return EncodePayload(
      PartAdded{number,
                std::move(bins),
                {10 + number, {.scope_type = ScopeType::kPart, .scope_key = name, .limits = {{"rho", 5}}}}});
}

TEST(Recount, PartsAreAddedInOrderWithBinsOfTheirOwnAndSealedOnce) {
  History history;
  history.Write(kPartAdded, "", PartBytes(1, "early", {0, 1}));
  history.Write(kPartAdded, "", PartBytes(2, "late", {2}));
  history.Write(kPartSealed, "", EncodePayload(PartSealed{2, 1, "commitment"}));
  EXPECT_THAT(history.Finish().findings().kept(), ElementsAre());
  EXPECT_EQ(history.Finish().accounts().at(12).spec.scope_key, "late");
  EXPECT_EQ(history.Finish().datasets().at("d").parts.at(1).part.sealed_version, 1);

  history.Write(kPartAdded, "", PartBytes(3, "greedy", {1, 3}));
  EXPECT_THAT(history.Finish().findings().kept(),
              Contains(HasSubstr("takes bin 1, which belongs to another part")));
  history.Write(kPartAdded, "", PartBytes(5, "late", {9}));
  EXPECT_THAT(history.Finish().findings().kept(), Contains(HasSubstr("is not the next part")));
  EXPECT_THAT(history.Finish().findings().kept(), Contains(HasSubstr("names a part that exists already")));
  history.Write(kPartSealed, "", EncodePayload(PartSealed{2, 2, "another"}));
  EXPECT_THAT(history.Finish().findings().kept(), Contains(HasSubstr("seals a part again")));
  history.Write(kPartSealed, "", EncodePayload(PartSealed{1, 7, "commitment"}));
  EXPECT_THAT(history.Finish().findings().kept(), Contains(HasSubstr("does not make the next version")));
  history.Write(kPartSealed, "", EncodePayload(PartSealed{8, 2, "commitment"}));
  EXPECT_THAT(history.Finish().findings().kept(), Contains(HasSubstr("seals a part that was never added")));
}

TEST(Recount, AnAccountOpenedLaterIsCountedFromThenOnAndOpenedOnce) {
  History history;
  const OpenedAccount account{2,
                              {.scope_type = ScopeType::kAnalystGroup,
                               .scope_key = "interns",
                               .limits = {{"epsilon", 4}},
                               .members = {"ana"}}};
  history.Write(kAccountOpened, "", EncodePayload(account));
  EXPECT_THAT(history.Finish().findings().kept(), ElementsAre());
  EXPECT_EQ(history.Finish().counters().at({2, "epsilon"}), (RecountedCounter{0, 0, 4}));
  EXPECT_THAT(history.Finish().accounts().at(2).spec.members, ElementsAre("ana"));
  history.Write(kAccountOpened, "", EncodePayload(account));
  EXPECT_THAT(history.Finish().findings().kept(), Contains(HasSubstr("opens account 2 again")));
}

TEST(Recount, AQueuedDrawIsFreedOrStartedAndNeverSpentWhileItWaits) {
  History history;
  history.Queue("freed", 4);
  EXPECT_EQ(history.Balance(), (RecountedCounter{0, 4, 10}));
  history.Change(kCancelled, "freed");
  EXPECT_EQ(history.Balance(), (RecountedCounter{0, 0, 10}));
  history.Queue("started", 3);
  history.Change(kStarted, "started", {{1, "rho", 3}});
  history.Change(kForfeited, "started");
  EXPECT_EQ(history.Balance(), (RecountedCounter{3, 0, 10}));
  EXPECT_THAT(history.Finish().findings().kept(), ElementsAre());
  for (const char* kind : {kExpired, kCommitted, kExtended}) {
    History forged;
    forged.Queue("waiting", 1);
    forged.Change(kind, "waiting");
    EXPECT_THAT(forged.Finish().findings().kept(), ElementsAre(HasSubstr("cannot follow the state RESERVED")))
        << kind;
  }
}

TEST(Recount, EveryStateMovesTheBalanceAsItShould) {
  History history;
  history.Charge(kCharged, "direct", 1);
  EXPECT_EQ(history.Balance(), (RecountedCounter{1, 0, 10}));
  history.Charge(kReserved, "reserved", 4);
  EXPECT_EQ(history.Balance(), (RecountedCounter{1, 4, 10}));
  history.Change(kExtended, "reserved");
  history.Change(kStarted, "reserved", {{1, "rho", 2}});
  EXPECT_EQ(history.Balance(), (RecountedCounter{3, 0, 10}));
  history.Change(kCommitted, "reserved");
  history.Change(kForfeited, "direct");
  history.Charge(kReserved, "cancelled", 3);
  history.Change(kCancelled, "cancelled");
  EXPECT_EQ(history.Balance(), (RecountedCounter{3, 0, 10}));
  history.Charge(kReserved, "expired", 5);
  history.Change(kExpired, "expired");
  EXPECT_EQ(history.Balance(), (RecountedCounter{8, 0, 10}));
  EXPECT_THAT(history.Finish().findings().kept(), ElementsAre());
}

TEST(Recount, WhatHasEndedIsNotHeld) {
  History history;
  for (int i = 0; i < 1000; ++i) {
    history.Charge(kCharged, std::to_string(i), 0);
    history.Change(kCommitted, std::to_string(i));
    EXPECT_EQ(history.Finish().open_charges().size(), 0u);
  }
  history.Charge(kCharged, "open", 0);
  EXPECT_EQ(history.Finish().open_charges().size(), 1u);
  EXPECT_EQ(history.Finish().datasets().at("d").charges, 1001);
}

TEST(Recount, AnOverdrawnAccountIsFoundEvenWhenEveryHashIsRight) {
  History history;
  history.Charge(kCharged, "c1", 8);
  history.Charge(kCharged, "c2", 3);
  EXPECT_THAT(history.Finish().findings().kept(),
              Contains(HasSubstr("spent 11 and held 0 do not fit its limit 10")));
}

TEST(Recount, AnOverdraftThatALaterLimitWouldCoverIsFound) {
  History history;
  history.Charge(kCharged, "c1", 11);
  history.ChangeLimit(10, 20);
  EXPECT_THAT(history.Finish().findings().kept(), ElementsAre(HasSubstr("do not fit its limit 10")));
}

TEST(Recount, AHoldThatDoesNotFitIsFound) {
  History history;
  history.Charge(kCharged, "c1", 6);
  history.Charge(kReserved, "c2", 5);
  history.Change(kCancelled, "c2");
  EXPECT_THAT(history.Finish().findings().kept(), ElementsAre(HasSubstr("held 5 do not fit")));
}

TEST(Recount, AmountsThatOverflowAreFound) {
  History history;
  history.Charge(kCharged, "c1", std::numeric_limits<int64_t>::max());
  history.Charge(kCharged, "c2", std::numeric_limits<int64_t>::max());
  EXPECT_THAT(history.Finish().findings().kept(), Contains(HasSubstr("negative or too large")));
  History negative;
  negative.Charge(kCharged, "c1", -5);
  EXPECT_THAT(negative.Finish().findings().kept(), Contains(HasSubstr("negative or too large")));
}

TEST(Recount, AChargeOfAnAccountThatWasNeverOpenedIsFoundAndCountsNowhere) {
  History history;
  history.Write(kCharged, "c1", EncodePayload(ChargeMade{.postings = {{7, "rho", 2}, {1, "rho", 3}}}));
  EXPECT_THAT(history.Finish().findings().kept(), ElementsAre(HasSubstr("posts to the unknown account 7")));
  EXPECT_EQ(history.Balance(), (RecountedCounter{3, 0, 10})) << "what it posts elsewhere counts";
  EXPECT_EQ(history.Finish().counters().size(), 1U);
}

TEST(Recount, ARepairRaisesWhatIsSpentAndTheLimitThatItNames) {
  History history;
  history.RepairOf({.account_id = 1, .counter = "rho", .amount = 12, .old_limit = 10, .new_limit = 12});
  EXPECT_THAT(history.Finish().findings().kept(), ElementsAre());
  EXPECT_EQ(history.Balance(), (RecountedCounter{12, 0, 12}));
}

TEST(Recount, ARepairOfAnUnknownAccountOrFromAnotherLimitIsFound) {
  History unknown;
  unknown.RepairOf({.account_id = 7, .counter = "rho", .amount = 1, .old_limit = 10, .new_limit = 10});
  EXPECT_THAT(unknown.Finish().findings().kept(), Contains(HasSubstr("raises the unknown account 7")));
  EXPECT_EQ(unknown.Balance(), (RecountedCounter{0, 0, 10}));
  History other_limit;
  other_limit.RepairOf({.account_id = 1, .counter = "rho", .amount = 1, .old_limit = 9, .new_limit = 20});
  EXPECT_THAT(other_limit.Finish().findings().kept(),
              ElementsAre(HasSubstr("does not start from the limit that held before")));
}

TEST(Recount, ThereIsNoWayBackFromAnEnd) {
  for (const char* end : {kForfeited, kCommitted}) {
    for (const char* next : {kStarted, kCancelled, kForfeited, kCommitted, kExpired, kExtended}) {
      History history;
      history.Charge(kCharged, "c1", 1);
      history.Change(end, "c1");
      history.Change(next, "c1");
      EXPECT_THAT(history.Finish().findings().kept(), ElementsAre(HasSubstr("has ended"))) << end << next;
    }
  }
}

TEST(Recount, AStartedChargeIsNeverCancelled) {
  History history;
  history.Charge(kCharged, "c1", 1);
  history.Change(kCancelled, "c1");
  EXPECT_THAT(history.Finish().findings().kept(), ElementsAre(HasSubstr("cannot follow the state STARTED")));
  EXPECT_EQ(history.Balance().spent, 1);
}

TEST(Recount, AStartMayNotCostMoreThanWasReserved) {
  History history;
  history.Charge(kReserved, "c1", 3);
  history.Change(kStarted, "c1", {{1, "rho", 4}});
  EXPECT_THAT(history.Finish().findings().kept(), ElementsAre(HasSubstr("more than was reserved")));
}

TEST(Recount, NotesOfEqualContentThatEarlierVersionsWroteAreSound) {
  History history;
  history.Write(kEqualContent, "", EncodeNote("clinic"));
  EXPECT_THAT(history.Finish().findings().kept(), ElementsAre());
}

TEST(Recount, UnknownThingsAreFound) {
  History history;
  history.Change(kCommitted, "never made");
  history.Write("REFUNDED", "", EncodeNote(""));
  history.Write(kGranted, "", "not a document");
  history.ChangeLimit(11, 12);
  history.Charge(kCharged, "c1", 1);
  history.Charge(kCharged, "c1", 1);
  EXPECT_THAT(history.Finish().findings().kept(),
              ElementsAre(HasSubstr("never made"), HasSubstr("unknown kind"), HasSubstr("malformed"),
                          HasSubstr("does not start from the limit"), HasSubstr("made before")));
}

// A history that says that its owner alone decided what takes two persons contradicts itself.
TEST(Recount, WhatTakesTwoPersonsIsNotDecidedByOneUnlessTheEntrySaysSo) {
  const auto findings = [](const char* kind, const std::string& payload, const std::string& actor) {
    History history;
    if (kind == std::string(kPublished)) {
      history.Write(
          kDatasetCreated, "",
          EncodePayload(DatasetCreated{
              .name = "open", .owner = "olga", .lineage_id = "d", .is_public = kAwaitsPublication}));
    }
    history.Write(kind, "", payload, actor);
    return history.Finish().findings().kept();
  };
  const std::string by_another = EncodePayload(DatasetPublished{});
  const std::string alone = EncodePayload(DatasetPublished{Approval::kSingleCustody});
  const auto says_so = HasSubstr("and does not say so");
  EXPECT_THAT(findings(kPublished, by_another, "olga"), Contains(says_so));
  EXPECT_THAT(findings(kPublished, by_another, "vera"), Not(Contains(says_so)));
  EXPECT_THAT(findings(kPublished, alone, "olga"), Not(Contains(says_so)));
  Repair repair{.reason = "why", .proposed_by = "olga"};
  EXPECT_THAT(findings(kRepaired, EncodePayload(repair), "olga"), Contains(says_so));
  EXPECT_THAT(findings(kRepaired, EncodePayload(repair), "vera"), Not(Contains(says_so)));
  repair.approval = Approval::kSingleCustody;
  EXPECT_THAT(findings(kRepaired, EncodePayload(repair), "olga"), Not(Contains(says_so)));
}

TEST(Recount, WhatDoesNotWaitForItIsNotPublished) {
  History history;
  history.Write(kPublished, "", EncodePayload(DatasetPublished{}));
  EXPECT_THAT(history.Finish().findings().kept(), Contains(HasSubstr("publishes what did not wait for it")));
}

}  // namespace
}  // namespace curator::ledger
