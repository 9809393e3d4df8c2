// Queued draws: held until they start, free until then, and started once.
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/invariants.h"
#include "ledger/conformance/ledger_conformance.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kLifetime = 3'600'000'000;

class QueuedDrawConformance : public LedgerConformance {
 protected:
  void SetUp() override {
    LedgerConformance::SetUp();
    ledger_ = Open();
    dataset_ = MakeDataset(*ledger_, "census", 10);
    account_ = FirstAccount(*ledger_, dataset_);
    ASSERT_TRUE(ledger_->SetGrant(dataset_.id, {.grantee = "ana"}, TestPrincipal("olga")).ok());
  }
  void TearDown() override {
    EXPECT_THAT(Must(ledger_->Verify(dataset_.id)).findings, ElementsAre());
    EXPECT_THAT(ViolationsIn(*ledger_, *OpenStore()), ElementsAre());
  }

  ChargeRequest Request(const std::string& request_id, int64_t cost) const {
    ChargeRequest request = RequestOf(dataset_, request_id, account_, cost);
    request.draw_identity = Sha256("what is drawn for " + request_id);
    request.sealed_key.clear();
    return request;
  }
  Charge Queued(const std::string& request_id, int64_t cost) {
    return Must(ledger_->Queue(Request(request_id, cost), kLifetime));
  }
  void ExpectBalance(int64_t spent, int64_t held) {
    EXPECT_EQ(BalanceOf(*ledger_, dataset_), (CounterBalance{"rho", 10, spent, held}));
  }
  void MakeOverdue(const Charge& charge) {
    ASSERT_TRUE(TryInStore(absl::StrCat("UPDATE open_charges SET deadline_us = 1 WHERE charge_id = '",
                                        charge.id, "'"))
                    .ok());
  }
  std::vector<std::string> KindsOf(const Charge& charge) {
    std::vector<std::string> kinds;
    for (const Entry& entry : Must(ledger_->ListEntries(dataset_.id, {}))) {
      if (entry.charge_id == charge.id) kinds.push_back(entry.kind);
    }
    return kinds;
  }

  std::unique_ptr<Ledger> ledger_;
  Dataset dataset_;
  int64_t account_ = 0;
};

TEST_P(QueuedDrawConformance, IsHeldThenStartedWithItsKeyThenStored) {
  const Charge queued = Queued("r1", 6);
  EXPECT_EQ(queued.state, ChargeState::kReserved);
  EXPECT_TRUE(IsQueuedDraw(queued));
  ExpectBalance(0, 6);
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted,
                   ledger_->Queue(Request("r2", 5), kLifetime).status());
  EXPECT_EQ(Queued("r1", 6).id, queued.id) << "the same request finds it";

  const Attempt attempt = Must(ledger_->StartQueued(queued.id, "sealed", "attempt"));
  EXPECT_EQ(attempt.charge.state, ChargeState::kStarted);
  EXPECT_EQ(attempt.charge.draw_identity, Request("r1", 6).draw_identity);
  ExpectBalance(6, 0);
  EXPECT_EQ(Must(ledger_->Store(attempt, "model")).payload, "model");
  EXPECT_EQ(Queued("r1", 6).state, ChargeState::kCommitted);
  EXPECT_THAT(KindsOf(queued), ElementsAre("RESERVED", "STARTED", "COMMITTED"));
}

TEST_P(QueuedDrawConformance, ACancelOrADeadlineFreesAllOfItsCost) {
  const Charge cancelled = Queued("r1", 6);
  EXPECT_EQ(Must(ledger_->CancelReserved(cancelled.id, "cancelled", TestPrincipal("ana"))).state,
            ChargeState::kCancelled);
  const Charge overdue = Queued("r2", 7);
  MakeOverdue(overdue);
  EXPECT_EQ(Must(ledger_->ExpireReservations()), 1);
  EXPECT_EQ(Must(ledger_->GetCharge(overdue.id)).state, ChargeState::kCancelled);
  ExpectBalance(0, 0);
  for (const Charge& charge : {cancelled, overdue}) {
    EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                     ledger_->StartQueued(charge.id, "sealed", "attempt").status());
  }
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->Queue(Request("r1", 6), kLifetime).status());
  ExpectBalance(0, 0);
}

TEST_P(QueuedDrawConformance, IsFoundStartedByTheAttemptThatStartedItAndBilledOnce) {
  const Charge queued = Queued("r1", 6);
  const Attempt first = Must(ledger_->StartQueued(queued.id, "sealed", "attempt"));
  const Attempt again = Must(ledger_->StartQueued(queued.id, "another key", "attempt"));
  EXPECT_EQ(again.sealed_key, "sealed") << "one key, one draw";
  EXPECT_EQ(again.token, first.token);
  ExpectBalance(6, 0);
  EXPECT_THAT(KindsOf(queued), ElementsAre("RESERVED", "STARTED"));
  Must(ledger_->TakeOver(queued.id));
  EXPECT_STATUS_IS(absl::StatusCode::kAborted, ledger_->StartQueued(queued.id, "sealed", "attempt").status());
}

TEST_P(QueuedDrawConformance, IsNotStartedForAPrincipalWhoseAccessWasTakenAwayOrHasExpired) {
  const Charge queued = Queued("r1", 6);
  const auto start_with = [&](int64_t roles, int64_t expires_at_us) {
    EXPECT_TRUE(ledger_->SetGrant(dataset_.id, {"ana", roles, expires_at_us}, TestPrincipal("olga")).ok());
    return ledger_->StartQueued(queued.id, "sealed", "attempt").status();
  };
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, start_with(kGrantedFormer, 0));
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, start_with(0, 0));
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, start_with(kGrantedService, 0));
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, start_with(kGrantedAnalyst, 1));
  ExpectBalance(0, 6);
  EXPECT_STATUS_IS(absl::StatusCode::kOk, start_with(kGrantedAnalyst, std::numeric_limits<int64_t>::max()));
  ExpectBalance(6, 0);
}

TEST_P(QueuedDrawConformance, IsStartedByOneAttemptOnly) {
  const Charge queued = Queued("r1", 6);
  const Attempt first = Must(ledger_->StartQueued(queued.id, "sealed", "attempt"));
  EXPECT_STATUS_IS(absl::StatusCode::kAborted,
                   ledger_->StartQueued(queued.id, "another", "attempt 2").status());
  const Attempt second = Must(ledger_->TakeOver(queued.id));
  EXPECT_EQ(second.sealed_key, "sealed") << "the key of the first attempt";
  EXPECT_STATUS_IS(absl::StatusCode::kAborted, ledger_->Store(first, "late").status());
  EXPECT_EQ(Must(ledger_->Store(second, "model")).payload, "model");
  EXPECT_EQ(Must(ledger_->TakeOver(queued.id)).release->payload, "model");
  ExpectBalance(6, 0);
}

TEST_P(QueuedDrawConformance, StartsOnlyWhileItsPrincipalAndItsDatasetStillAllowIt) {
  const Charge archived = Queued("r1", 2);
  ChargeRequest of_bo = Request("r2", 2);
  of_bo.principal = TestPrincipal("bo");
  const Charge stranger = Must(ledger_->Queue(of_bo, kLifetime));
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->StartQueued(stranger.id, "sealed", "attempt").status());
  ASSERT_TRUE(ledger_->ArchiveDataset(dataset_.id, TestPrincipal("olga")).ok());
  const absl::Status refused = ledger_->StartQueued(archived.id, "sealed", "attempt").status();
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, refused);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("ARCHIVED"));
  ExpectBalance(0, 4);
}

TEST_P(QueuedDrawConformance, AnAccountThatWasOpenedSinceIsNotPassedBy) {
  const Charge queued = Queued("r1", 2);
  Must(ledger_->CreateAccount({.request_id = "a1",
                               .dataset_id = dataset_.id,
                               .account = {.scope_type = ScopeType::kAnalyst,
                                           .scope_key = "ana",
                                           .rule = "rule",
                                           .rule_name = "ZCDP",
                                           .limits = {{"rho", 5}}},
                               .actor = TestPrincipal("olga")}));
  EXPECT_STATUS_IS(absl::StatusCode::kAborted, ledger_->StartQueued(queued.id, "sealed", "attempt").status());
}

TEST_P(QueuedDrawConformance, IsNoReservationOfAnOutsideMechanism) {
  const Charge queued = Queued("r1", 2);
  const Principal ana = TestPrincipal("ana");
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->StartReserved(queued.id, queued.postings, ana).status());
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, ledger_->CommitReserved(queued.id, ana).status());
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->ExtendReserved(queued.id, kLifetime, ana).status());
  ChargeRequest outside = Request("r2", 3);
  outside.draw_identity.clear();
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger_->Queue(outside, kLifetime).status());
  const Charge reserved = Must(ledger_->Reserve({outside}, kLifetime)).at(0);
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->StartQueued(reserved.id, "sealed", "attempt").status());
  Must(ledger_->StartReserved(reserved.id, reserved.postings, ana));
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, ledger_->TakeOver(reserved.id).status());
  ExpectBalance(3, 2);
}

TEST_P(QueuedDrawConformance, TakingOverNeverCharges) {
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound,
                   ledger_->TakeOver("11111111-1111-4111-8111-111111111111").status());
  const Charge queued = Queued("r1", 2);
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, ledger_->TakeOver(queued.id).status());
  ExpectBalance(0, 2);
}

TEST_P(QueuedDrawConformance, AnEarlierFingerprintMatchesOnlyAChargeWithoutAnIdentity) {
  ChargeRequest before = RequestOf(dataset_, "old", account_, 1);
  before.fingerprint = "made before";
  Must(ledger_->Begin(before));
  ChargeRequest now = Request("old", 1);
  EXPECT_STATUS_IS(absl::StatusCode::kAlreadyExists, ledger_->Queue(now, kLifetime).status());
  now.earlier_fingerprint = "made before";
  EXPECT_EQ(Must(ledger_->Queue(now, kLifetime)).state, ChargeState::kStarted);
  const Charge queued = Queued("new", 1);
  ChargeRequest guess = Request("new", 1);
  guess.earlier_fingerprint = guess.fingerprint;
  guess.fingerprint = "another";
  EXPECT_STATUS_IS(absl::StatusCode::kAlreadyExists, ledger_->Queue(guess, kLifetime).status());
  ExpectBalance(1, 1);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, QueuedDrawConformance, ::testing::ValuesIn(LedgerBackendNames()));

}  // namespace
}  // namespace curator::ledger
