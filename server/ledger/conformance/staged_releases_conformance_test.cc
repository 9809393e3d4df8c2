// Payloads that are written in pieces before the transaction that ends their charge.
#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/testing/names.h"
#include "ledger/conformance/fault_conformance.h"
#include "ledger/conformance/invariants.h"
#include "ledger/sql/staged_releases.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;

class StagedReleases : public FaultConformance {
 protected:
  // Of three pieces, which differ.
  static std::string Payload(const std::string& name = "one") {
    std::string payload;
    while (payload.size() < 2 * sql::kMostPieceBytes + 1000) {
      absl::StrAppend(&payload, name, " at ", payload.size(), ";");
    }
    return payload;
  }
  Attempt Begin(Ledger& ledger, const std::string& name = "large") {
    return Must(ledger.Begin(Request(0, name, 1)));
  }
  int64_t Pieces() { return AskStore("SELECT COUNT(*) FROM release_pieces"); }
  int64_t Places() { return AskStore("SELECT COUNT(*) FROM staged_releases"); }
  int64_t PayloadsInRows() { return AskStore("SELECT COUNT(*) FROM releases WHERE length(payload) > 0"); }
  void ExpectNoViolations() { EXPECT_THAT(ViolationsIn(*OpenStore()), ElementsAre()); }

  // A ledger that takes every staged payload for abandoned.
  std::unique_ptr<Ledger> OpenImpatient() {
    return Must(sql::SqlLedger::Open(OpenStore(), anchor_dir(), SeededEntropy(NextSeed()),
                                     {.staged_for = std::chrono::seconds(-1)}));
  }

  // A server that is gone when it has staged all of the payload and stored nothing.
  void StageAndBeGone(const Attempt& attempt, const std::string& payload) {
    const int64_t before = Pieces();
    for (int step = 0; Pieces() < before + 3; ++step) {
      const FragileLedger fragile = OpenFragile();
      fragile.store->Arm(Fault::kGone, step);
      ASSERT_FALSE(fragile.ledger->Store(attempt, payload, {}).ok()) << "step " << step;
    }
  }
};

TEST_P(StagedReleases, ALargeReleaseIsStoredInPiecesAndReadBackWhole) {
  auto ledger = Open();
  const Attempt attempt = Begin(*ledger);
  const Release stored = Must(ledger->Store(attempt, Payload()));
  EXPECT_EQ(stored.payload, Payload());
  EXPECT_EQ(Must(ledger->GetRelease(stored.id)).payload, Payload());
  EXPECT_EQ(Must(ledger->Begin(Request(0, "large", 1))).release->payload, Payload());
  EXPECT_EQ(Must(ledger->Store(attempt, Payload("another"))).payload, Payload()) << "the first one counts";
  EXPECT_EQ(Pieces(), 3);
  EXPECT_EQ(Places(), 0);
  EXPECT_EQ(PayloadsInRows(), 0);
  EXPECT_THAT(Must(ledger->Verify(dataset().id)).findings, ElementsAre());
  ExpectNoViolations();
}

TEST_P(StagedReleases, OnlyWhatIsLargerThanOnePieceIsStaged) {
  auto ledger = Open();
  const std::string whole_piece(sql::kMostPieceBytes, 'x');
  Must(ledger->Store(Begin(*ledger, "one piece"), whole_piece));
  EXPECT_EQ(Pieces(), 0);
  Must(ledger->Store(Begin(*ledger, "one byte more"), whole_piece + "x"));
  EXPECT_EQ(Pieces(), 2);
}

TEST_P(StagedReleases, APieceThatWasTamperedWithOrIsMissingIsFound) {
  auto ledger = Open();
  const Release stored = Must(ledger->Store(Begin(*ledger), Payload()));
  Tamper(GetParam() == "sqlite" ? "DROP TRIGGER pieces_are_never_changed"
                                : "DROP TRIGGER pieces_are_never_changed ON release_pieces");
  for (const char* change : {"UPDATE release_pieces SET piece = CAST('y' AS BLOB) WHERE position = 1",
                             "UPDATE release_pieces SET position = 7 WHERE position = 2"}) {
    Tamper(GetParam() == "sqlite" ? std::string(change)
                                  : absl::StrReplaceAll(change, {{"CAST('y' AS BLOB)", "'y'::bytea"}}));
    EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->GetRelease(stored.id).status());
    EXPECT_FALSE(Must(ledger->Verify(dataset().id)).ok);
  }
}

TEST_P(StagedReleases, TheStoreRefusesToLoseAPieceOfARelease) {
  auto ledger = Open();
  Must(ledger->Store(Begin(*ledger), Payload()));
  EXPECT_FALSE(TryInStore("DELETE FROM release_pieces WHERE position = 1").ok());
  EXPECT_FALSE(TryInStore("UPDATE release_pieces SET position = 9 WHERE position = 1").ok());
}

TEST_P(StagedReleases, AFaultAtAnyStepStoresOnce) {
  for (const Fault fault : {Fault::kConflict, Fault::kLost, Fault::kFail}) {
    const FragileLedger fragile = OpenFragile();
    int step = 0;
    for (bool has_struck = true; has_struck; ++step) {
      const std::string name = absl::StrCat("step ", step, " of ", static_cast<int>(fault));
      const Attempt attempt = Begin(*fragile.ledger, name);
      fragile.store->Arm(fault, step);
      absl::StatusOr<Release> stored = fragile.ledger->Store(attempt, Payload(name), {});
      has_struck = fragile.store->has_struck();
      if (fault == Fault::kFail && !stored.ok()) {
        EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, stored.status());
        stored = fragile.ledger->Store(attempt, Payload(name), {});
      }
      EXPECT_EQ(Must(stored).payload, Payload(name)) << name;
    }
    fragile.store->Disarm();
    EXPECT_GT(step, 10) << "a place, three pieces and the end have more steps than that";
    EXPECT_EQ(Places(), 0);
    ExpectNoViolations();
  }
  EXPECT_EQ(PayloadsInRows(), 0);
}

TEST_P(StagedReleases, AProcessKilledAtAnyStepLeavesWhatTheNextAttemptStoresOrDeletes) {
  int run = 0;
  for (bool was_killed = true; was_killed; ++run) {
    const std::string name = absl::StrCat("killed ", run);
    was_killed = RunInProcess([&](const FragileLedger& fragile, const Report&) -> absl::Status {
                   const Attempt attempt = Begin(*fragile.ledger, name);
                   fragile.store->Arm(Fault::kKill, StepOf(run));
                   return fragile.ledger->Store(attempt, Payload(name), {}).status();
                 }).was_killed;
    auto survivor = Open();
    ExpectNoViolations();
    const Attempt next = Begin(*survivor, name);
    EXPECT_FALSE(next.newly_charged);
    const Release stored = next.release ? *next.release : Must(survivor->Store(next, Payload(name)));
    EXPECT_EQ(stored.payload, Payload(name));
    EXPECT_EQ(Places(), 0);
    EXPECT_EQ(Pieces(), 3 * (run + 1)) << "killed at step " << StepOf(run);
    ExpectNoViolations();
  }
  EXPECT_GT(run, 3);
}

TEST_P(StagedReleases, AnAttemptThatTakesOverDeletesWhatTheOneBeforeStaged) {
  auto ledger = Open();
  const Attempt first = Begin(*ledger);
  StageAndBeGone(first, Payload("first"));
  const Attempt second = Begin(*ledger);
  EXPECT_EQ(Places(), 0);
  EXPECT_EQ(Pieces(), 0);
  EXPECT_STATUS_IS(absl::StatusCode::kAborted, ledger->Store(first, Payload("first")).status());
  EXPECT_EQ(Pieces(), 0) << "a stale attempt stages nothing";
  StageAndBeGone(second, Payload("second"));
  const Attempt third = Must(ledger->TakeOver(first.charge.id));
  EXPECT_EQ(Pieces(), 0);
  EXPECT_EQ(Must(ledger->Store(third, Payload("third"))).payload, Payload("third"));
  EXPECT_EQ(Must(ledger->Store(second, Payload("second"))).payload, Payload("third"));
  ExpectNoViolations();
}

TEST_P(StagedReleases, AForfeitedChargeLeavesNothingStaged) {
  auto ledger = Open();
  const Attempt attempt = Begin(*ledger);
  StageAndBeGone(attempt, Payload());
  ASSERT_TRUE(ledger->Forfeit(attempt, "no longer wanted").ok());
  EXPECT_EQ(Places(), 0);
  EXPECT_EQ(Pieces(), 0);
  ExpectNoViolations();
}

TEST_P(StagedReleases, AnAttemptThatStagesAnotherPayloadStoresThatOne) {
  auto ledger = Open();
  const Attempt attempt = Begin(*ledger);
  StageAndBeGone(attempt, Payload("one"));
  EXPECT_EQ(Must(ledger->Store(attempt, Payload("two"))).payload, Payload("two"));
  EXPECT_EQ(Pieces(), 3);
  ExpectNoViolations();
}

TEST_P(StagedReleases, WhatWasAbandonedIsSweptAndWhatMayStillBeStoredIsNot) {
  auto ledger = Open();
  const Attempt abandoned = Begin(*ledger, "abandoned");
  StageAndBeGone(abandoned, Payload());
  const Release stored = Must(ledger->Store(Begin(*ledger, "stored"), Payload()));
  EXPECT_EQ(Must(ledger->SweepStaged()), 0) << "its attempt may still come";
  EXPECT_EQ(Must(OpenImpatient()->SweepStaged()), 1);
  EXPECT_EQ(Places(), 0);
  EXPECT_EQ(Pieces(), 3) << "those of the stored release";
  EXPECT_EQ(Must(ledger->GetRelease(stored.id)).payload, Payload());
  EXPECT_EQ(Must(ledger->Store(abandoned, Payload())).payload, Payload()) << "staged again";
  ExpectNoViolations();
}

TEST_P(StagedReleases, AReleaseThatIsSweptAtAnyMomentBeforeItsEndIsStoredWhole) {
  const FragileLedger fragile = OpenFragile();
  auto impatient = OpenImpatient();
  int sweeps = 0;
  int step = 0;
  for (bool has_struck = true; has_struck; ++step) {
    const std::string name = absl::StrCat("step ", step);
    const Attempt attempt = Begin(*fragile.ledger, name);
    fragile.store->ArmPause(step, [&](FaultyDatabase::Moment moment) {
      if (moment == FaultyDatabase::Moment::kAfterCommit) {
        sweeps += static_cast<int>(Must(impatient->SweepStaged()));
      }
    });
    EXPECT_EQ(Must(fragile.ledger->Store(attempt, Payload(name), {})).payload, Payload(name)) << name;
    has_struck = fragile.store->has_struck();
  }
  fragile.store->Disarm();
  EXPECT_EQ(sweeps, 4) << "after its place was taken, and after each of three pieces";
  EXPECT_EQ(Places(), 0);
  ExpectNoViolations();
}

TEST_P(StagedReleases, APrincipalWithoutAFreePlaceStoresInTheRowAndOthersArePlaced) {
  auto ledger = Open();
  for (int64_t place = 0; place < sql::kStagingPlaces; ++place) {
    StageAndBeGone(Begin(*ledger, absl::StrCat("place ", place)), Payload());
  }
  EXPECT_EQ(Places(), sql::kStagingPlaces);
  const Release in_row = Must(ledger->Store(Begin(*ledger, "no place"), Payload()));
  EXPECT_EQ(Must(ledger->GetRelease(in_row.id)).payload, Payload());
  EXPECT_EQ(PayloadsInRows(), 1);
  ChargeRequest of_another = Request(0, "of another", 1);
  of_another.principal = TestPrincipal("zoe");
  Must(ledger->Store(Must(ledger->Begin(of_another)), Payload()));
  EXPECT_EQ(PayloadsInRows(), 1) << "another principal has places of its own";
  EXPECT_EQ(Must(OpenImpatient()->SweepStaged()), sql::kStagingPlaces);
  Must(ledger->Store(Begin(*ledger, "a place again"), Payload()));
  EXPECT_EQ(PayloadsInRows(), 1);
  ExpectNoViolations();
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, StagedReleases, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
