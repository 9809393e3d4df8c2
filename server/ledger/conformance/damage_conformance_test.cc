// Damage in one dataset makes that dataset read-only and no other, from the start of the server on.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int64_t kOneHour = 3'600'000'000;

class DamageConformance : public LedgerConformance {
 protected:
  // Two datasets of olga, granted to ana: census, with a stored release (entries 4 and 5), a started charge
  // (6) and a reservation (7), and survey, with a stored release.
  void SetUp() override {
    LedgerConformance::SetUp();
    auto ledger = Open();
    census_ = MakeDataset(*ledger, "census", 20);
    survey_ = MakeDataset(*ledger, "survey", 20);
    for (const Dataset* const dataset : {&census_, &survey_}) {
      EXPECT_STATUS_IS(absl::StatusCode::kOk, ledger->Grant(dataset->id, "ana", TestPrincipal("olga")));
    }
    census_account_ = FirstAccount(*ledger, census_);
    survey_account_ = FirstAccount(*ledger, survey_);
    const Attempt stored = Must(ledger->Begin(OnCensus("stored", 4)));
    census_release_ = Must(ledger->Store(stored, "an answer")).id;
    Must(ledger->Begin(OnCensus("started", 3)));
    Must(ledger->Reserve({OnCensus("reserved", 2)}, kOneHour));
    survey_release_ = Must(ledger->Store(Must(ledger->Begin(OnSurvey("other", 4))), "another answer")).id;
  }
  ChargeRequest OnCensus(const std::string& request_id, int64_t cost) const {
    return RequestOf(census_, request_id, census_account_, cost);
  }
  ChargeRequest OnSurvey(const std::string& request_id, int64_t cost) const {
    return RequestOf(survey_, request_id, survey_account_, cost);
  }
  std::string OfCensus() const { return absl::StrCat("dataset_id = '", census_.id, "'"); }

  // Flips one bit of the only value that `column` has where `condition` holds.
  void FlipABit(const std::string& table, const std::string& column, const std::string& condition) {
    Tamper("SELECT 1");
    const sql::Outcome flipped = OpenStore()->Write([&](sql::Transaction& transaction) -> absl::Status {
      const auto rows =
          transaction.Execute(absl::StrCat("SELECT ", column, " FROM ", table, " WHERE ", condition), {});
      if (!rows.ok()) return rows.status();
      std::string bytes = rows->at(0).Blob(0);
      bytes.back() = static_cast<char>(bytes.back() ^ 1);
      return transaction
          .Execute(absl::StrCat("UPDATE ", table, " SET ", column, " = $1 WHERE ", condition),
                   {sql::Bytes{bytes}})
          .status();
    });
    ASSERT_TRUE(flipped.status.ok()) << flipped.status;
  }

  // No change of census is accepted, and the reason names it and nothing that is only ours.
  void ExpectCensusIsReadOnly(Ledger& ledger) {
    const absl::Status refused = ledger.Begin(OnCensus("next", 1)).status();
    EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, refused);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("\"census\""));
    EXPECT_THAT(std::string(refused.message()), Not(HasSubstr(census_.id)));
    EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("survey")));
    EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger.Reserve({OnCensus("held", 1)}, kOneHour).status());
    EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger.Grant(census_.id, "mallory", TestPrincipal("olga")));
    DatasetSpec successor = SpecOf("census-2", 0);
    successor.accounts.clear();
    successor.successor_of = census_.id;
    EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger.CreateDataset(successor).status());
    EXPECT_FALSE(Must(ledger.Verify(census_.id)).ok);
  }
  // Every other dataset, old and new, is charged and served as if there were no damage.
  void ExpectOthersAreServed(Ledger& ledger) {
    EXPECT_TRUE(Must(ledger.Begin(OnSurvey("next on survey", 1))).newly_charged);
    EXPECT_EQ(Must(ledger.GetRelease(survey_release_)).payload, "another answer");
    const Dataset fresh = MakeDataset(ledger, "fresh", 5);
    EXPECT_TRUE(Must(ledger.Begin(RequestOf(fresh, "first", FirstAccount(ledger, fresh), 1))).newly_charged);
    EXPECT_TRUE(Must(ledger.Verify(survey_.id)).ok);
  }
  // By its id and by the request that paid for it.
  void ExpectCensusAnswersAreServed(Ledger& ledger) {
    EXPECT_EQ(Must(ledger.GetRelease(census_release_)).payload, "an answer");
    const Attempt replay = Must(ledger.Begin(OnCensus("stored", 4)));
    EXPECT_FALSE(replay.newly_charged);
    ASSERT_TRUE(replay.release.has_value());
    EXPECT_EQ(replay.release->payload, "an answer");
  }
  void ExpectOnlyCensusIsReadOnly(bool are_its_answers_whole = true) {
    auto ledger = Open();
    ExpectCensusIsReadOnly(*ledger);
    ExpectOthersAreServed(*ledger);
    if (are_its_answers_whole) ExpectCensusAnswersAreServed(*ledger);
  }

  Dataset census_;
  Dataset survey_;
  int64_t census_account_ = 0;
  int64_t survey_account_ = 0;
  std::string census_release_;
  std::string survey_release_;
};

TEST_P(DamageConformance, AFlippedBitInAnEntryIsFoundBeforeTheFirstCharge) {
  FlipABit("entries", "payload", absl::StrCat(OfCensus(), " AND seq = 6"));
  ExpectOnlyCensusIsReadOnly();
}

TEST_P(DamageConformance, AnEditedActorIsFoundBeforeTheFirstCharge) {
  Tamper(absl::StrCat("UPDATE entries SET actor = 'mallory' WHERE seq = 2 AND ", OfCensus()));
  ExpectOnlyCensusIsReadOnly();
}

TEST_P(DamageConformance, ADoubledLimitIsFoundBeforeTheFirstCharge) {
  Tamper(absl::StrCat("UPDATE account_counters SET limit_value = 2 * limit_value WHERE account_id = ",
                      census_account_));
  ExpectOnlyCensusIsReadOnly();
}

TEST_P(DamageConformance, AStateSetToCancelledIsFoundBeforeTheFirstCharge) {
  Tamper("UPDATE charges SET state = 'CANCELLED', sealed_key = NULL WHERE request_id = 'started'");
  ExpectOnlyCensusIsReadOnly();
}

TEST_P(DamageConformance, AnEndedChargeThatWasOpenedAgainIsFoundBeforeTheFirstCharge) {
  Tamper("UPDATE charges SET state = 'STARTED' WHERE request_id = 'stored'");
  ExpectOnlyCensusIsReadOnly(false);
}

TEST_P(DamageConformance, AChargeThatNoEntryMadeIsFoundBeforeTheFirstCharge) {
  Tamper(
      "INSERT INTO charges (id, dataset_id, dataset_version, principal, request_id, fingerprint, kind, "
      "event, "
      "label, state, attempt_token, created_at_us) SELECT 'c', dataset_id, 1, 'ana', 'forged', fingerprint, "
      "kind, event, '', 'STARTED', '', 0 FROM charges WHERE request_id = 'stored'");
  ExpectOnlyCensusIsReadOnly();
}

TEST_P(DamageConformance, AnEditedOwnerIsFoundAndNotBelieved) {
  Tamper(absl::StrCat("UPDATE datasets SET owner = 'eve' WHERE id = '", census_.id, "'"));
  ExpectOnlyCensusIsReadOnly();
  EXPECT_EQ(Must(Open()->GetDataset("census")).owner, "olga");
}

TEST_P(DamageConformance, AnAddedGrantIsFoundAndNotBelieved) {
  Tamper(absl::StrCat("INSERT INTO grants (dataset_id, grantee, granted_by, granted_at_us) VALUES ('",
                      census_.id, "', 'eve', 'olga', 0)"));
  ExpectOnlyCensusIsReadOnly();
  EXPECT_THAT(Must(Open()->GetDataset("census")).grantees, ElementsAre("ana"));
}

TEST_P(DamageConformance, ARemovedGrantIsFoundAndStillHonoured) {
  Tamper(absl::StrCat("DELETE FROM grants WHERE ", OfCensus()));
  ExpectOnlyCensusIsReadOnly();
  EXPECT_THAT(Must(Open()->GetDataset("census")).grantees, ElementsAre("ana"));
}

TEST_P(DamageConformance, AnAddedShareOfAReleaseIsFoundAndNotBelieved) {
  Tamper(absl::StrCat("INSERT INTO release_shares (release_id, grantee, shared_by, shared_at_us) VALUES ('",
                      census_release_, "', 'eve', 'ana', 0)"));
  ExpectOnlyCensusIsReadOnly();
  EXPECT_THAT(Must(Open()->GetRelease(census_release_)).shared_with, IsEmpty());
}

TEST_P(DamageConformance, AnAnswerThatWasGivenToAnotherPrincipalIsServedToNeither) {
  Tamper("UPDATE charges SET principal = 'eve' WHERE request_id = 'stored'");
  ExpectOnlyCensusIsReadOnly(false);
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, Open()->GetRelease(census_release_).status());
}

TEST_P(DamageConformance, AFlippedBitInAnAnswerIsFoundAndTheAnswerIsNotServed) {
  FlipABit("releases", "payload", absl::StrCat("id = '", census_release_, "'"));
  ExpectOnlyCensusIsReadOnly(false);
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, Open()->GetRelease(census_release_).status());
}

TEST_P(DamageConformance, AnEditedStateOfTheDatasetIsFound) {
  Tamper(absl::StrCat("UPDATE datasets SET state = 'CREATED' WHERE id = '", census_.id, "'"));
  ExpectOnlyCensusIsReadOnly();
}

TEST_P(DamageConformance, AnEditedContentHashIsFound) {
  FlipABit("dataset_versions", "content_hash", OfCensus());
  ExpectOnlyCensusIsReadOnly();
}

TEST_P(DamageConformance, AnEditedPrivacyUnitIsFound) {
  Tamper(
      absl::StrCat("UPDATE datasets SET neighbour_relation = 'REPLACE_ONE' WHERE id = '", census_.id, "'"));
  ExpectOnlyCensusIsReadOnly();
}

TEST_P(DamageConformance, ARowThatCannotBeReadConcernsItsDatasetOnly) {
  Tamper("UPDATE charges SET postings = '[x]' WHERE request_id = 'started'");
  ExpectOnlyCensusIsReadOnly();
}

TEST_P(DamageConformance, ARowThatTurnsUnreadableUnderARunningServerConcernsItsDatasetOnly) {
  auto ledger = Open();
  Tamper("UPDATE charges SET postings = '[x]' WHERE request_id = 'started'");
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->Begin(OnCensus("started", 3)).status());
  ExpectCensusIsReadOnly(*ledger);
  ExpectOthersAreServed(*ledger);
}

TEST_P(DamageConformance, ABalanceLoweredUnderARunningServerConcernsItsDatasetOnly) {
  auto ledger = Open();
  Tamper(absl::StrCat("UPDATE account_counters SET spent = 0 WHERE account_id = ", census_account_));
  ExpectCensusIsReadOnly(*ledger);
  ExpectOthersAreServed(*ledger);
  ExpectCensusAnswersAreServed(*ledger);
}

TEST_P(DamageConformance, AChargeThatWaitsBesideOneOnADamagedDatasetIsDecidedByItself) {
  auto ledger = Open();
  Tamper(absl::StrCat("UPDATE account_counters SET spent = 0 WHERE account_id = ", census_account_));
  std::vector<std::function<void()>> calls;
  for (int i = 0; i < 8; ++i) {
    calls.emplace_back([&, i] {
      EXPECT_STATUS_IS(absl::StatusCode::kDataLoss,
                       ledger->Begin(OnCensus(absl::StrCat("census ", i), 1)).status());
    });
    calls.emplace_back(
        [&, i] { EXPECT_TRUE(Must(ledger->Begin(OnSurvey(absl::StrCat("survey ", i), 1))).newly_charged); });
  }
  std::vector<std::thread> threads;
  for (const auto& call : calls) threads.emplace_back(call);
  for (std::thread& thread : threads) thread.join();
}

// A statement that damages a row of census, one that undoes it, and words of the finding.
struct EditedRow {
  std::string damage;
  std::string undo;
  std::string finding;
};

TEST_P(DamageConformance, AnEditOfAnyColumnThatCouldAdmitLetInOrMisleadIsFound) {
  const std::string proposal =
      Must(Open()->ProposeLimit({"raise", census_account_, "rho", 25, "more", TestPrincipal("ana")})).id;
  const std::string is_census = absl::StrCat(" WHERE id = '", census_.id, "'");
  const std::string is_account = absl::StrCat(" WHERE id = ", census_account_);
  const std::string is_proposal = absl::StrCat(" WHERE id = '", proposal, "'");
  const std::string is_stored = " WHERE request_id = 'stored'";
  const std::string is_release = absl::StrCat(" WHERE id = '", census_release_, "'");
  const auto edit = [](const std::string& table, const std::string& column, const std::string& to,
                       const std::string& back, const std::string& where, const std::string& finding) {
    const std::string set = absl::StrCat("UPDATE ", table, " SET ", column, " = ");
    return EditedRow{set + to + where, set + back + where, finding};
  };
  const auto quoted = [](const std::string& text) { return "'" + text + "'"; };
  const std::vector<EditedRow> edits = {
      edit("datasets", "successor_of", "'another'", "''", is_census, "its predecessor"),
      edit("accounts", "rule_name", "rule_name || '!'", "rtrim(rule_name, '!')", is_account, "or its rule"),
      edit("accounts", "dataset_id", quoted(survey_.id), quoted(census_.id), is_account, "its dataset"),
      edit("charges", "reason", "'a full disk'", "''", is_stored, "its reason"),
      edit("charges", "entry_seq", "entry_seq - 1", "entry_seq + 1", is_stored, "its entry"),
      edit("releases", "payload_size", "payload_size + 1", "payload_size - 1", is_release, "release"),
      edit("releases", "number", "number + 100", "number - 100", is_release, "release"),
      edit("releases", "dataset_id", quoted(survey_.id), quoted(census_.id), is_release, "release"),
      edit("grants", "dataset_name", "'survey'", "'census'", " WHERE " + OfCensus(), "its grants"),
      edit("limit_proposals", "new_limit", "2500", "25", is_proposal, "proposal"),
      edit("limit_proposals", "old_limit", "19", "20", is_proposal, "proposal"),
      edit("limit_proposals", "reason", "'less'", "'more'", is_proposal, "proposal"),
      edit("limit_proposals", "proposed_by", "'eve'", "'ana'", is_proposal, "proposal"),
      edit("limit_proposals", "approved_by", "'olga'", "''", is_proposal, "proposal"),
      edit("limit_proposals", "dataset_id", quoted(survey_.id), quoted(census_.id), is_proposal, "proposal"),
      {absl::StrCat(
           "INSERT INTO limit_proposals (id, dataset_id, account_id, counter, old_limit, new_limit, "
           "reason, proposed_by, proposed_at_us, request_id) SELECT 'forged', dataset_id, account_id, "
           "counter, old_limit, 2500, reason, proposed_by, proposed_at_us, 'forged' FROM "
           "limit_proposals",
           is_proposal),
       "DELETE FROM limit_proposals WHERE id = 'forged'", "proposals"}};
  for (const EditedRow& edited : edits) {
    Tamper(edited.damage);
    const Verification verified = Must(Open()->Verify(census_.id));
    EXPECT_FALSE(verified.ok) << edited.damage;
    EXPECT_THAT(verified.findings, Contains(HasSubstr(edited.finding))) << edited.damage;
    Tamper(edited.undo);
  }
  FlipABit("datasets", "schema_bytes", absl::StrCat("id = '", census_.id, "'"));
  EXPECT_THAT(Must(Open()->Verify(census_.id)).findings, Contains(HasSubstr("its schema")));
  FlipABit("datasets", "schema_bytes", absl::StrCat("id = '", census_.id, "'"));
  EXPECT_THAT(Must(Open()->Verify(census_.id)).findings, IsEmpty());
  EXPECT_THAT(Must(Open()->Verify(survey_.id)).findings, IsEmpty());
}

TEST_P(DamageConformance, AnApprovedProposalWhoseApproverWasEditedIsFound) {
  auto ledger = Open();
  const std::string proposal =
      Must(ledger->ProposeLimit({"raise", census_account_, "rho", 25, "more", TestPrincipal("ana")})).id;
  Must(ledger->ApproveLimit(proposal, TestPrincipal("olga")));
  EXPECT_TRUE(Must(ledger->Verify(census_.id)).ok);
  Tamper("UPDATE limit_proposals SET approved_by = 'eve'");
  EXPECT_THAT(Must(ledger->Verify(census_.id)).findings, Contains(HasSubstr("proposal")));
}

TEST_P(DamageConformance, AnAnswerThatWasMovedToAnotherDatasetIsServedToNeither) {
  auto ledger = Open();
  Tamper(
      absl::StrCat("UPDATE releases SET dataset_id = '", survey_.id, "' WHERE id = '", census_release_, "'"));
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->GetRelease(census_release_).status());
  EXPECT_THAT(Must(ledger->ListReleases(census_.id, "", {})), IsEmpty());
  EXPECT_EQ(Must(ledger->ListReleases(survey_.id, "", {})).size(), 1u);
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, Open()->GetRelease(census_release_).status());
}

TEST_P(DamageConformance, ADatasetWhoseRowCannotBeReadIsNamedAndTheOthersAreListed) {
  auto ledger = Open();
  if (GetParam() != "sqlite") Tamper("ALTER TABLE datasets DROP CONSTRAINT datasets_state_check");
  Tamper(absl::StrCat("UPDATE datasets SET state = 'LOST' WHERE id = '", census_.id, "'"));
  const auto names = [](const std::vector<Dataset>& datasets) {
    std::vector<std::string> listed;
    for (const Dataset& dataset : datasets) listed.push_back(dataset.name);
    return listed;
  };
  for (const char* viewer : {"olga", "ana"}) {
    const DatasetList list = Must(ledger->ListVisibleDatasets(TestPrincipal(viewer)));
    EXPECT_THAT(names(list.datasets), ElementsAre("survey")) << viewer;
    EXPECT_THAT(list.unreadable, ElementsAre("census")) << viewer;
    const DatasetList first = Must(ledger->ListVisibleDatasets(TestPrincipal(viewer), {.limit = 1}));
    EXPECT_TRUE(first.has_more) << viewer;
    EXPECT_THAT(
        names(Must(ledger->ListVisibleDatasets(TestPrincipal(viewer), {.after = first.last})).datasets),
        ElementsAre("survey"))
        << viewer << ": a page of which nothing can be read is followed by the next";
  }
  EXPECT_THAT(Must(ledger->ListVisibleDatasets(TestPrincipal("mallory"))).unreadable, IsEmpty());
  EXPECT_THAT(names(Must(ledger->ListDatasets())), ElementsAre("survey"));
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->GetDataset("census").status());
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->GetDatasetById(census_.id).status());
  EXPECT_EQ(Must(ledger->GetDataset("survey")).name, "survey");
  ExpectOthersAreServed(*ledger);
  ExpectCensusIsReadOnly(*ledger);
  ExpectCensusIsReadOnly(*Open());
}

TEST_P(DamageConformance, ARequestThatIsEditedToNameAnotherDatasetGetsNothingOfIt) {
  auto ledger = Open();
  const DatasetSpec spec = SpecOf("census", 20);
  ASSERT_EQ(Must(ledger->CreateDataset(spec)).id, census_.id) << "it is a repetition";
  Tamper(absl::StrCat("UPDATE dataset_requests SET dataset_id = '", survey_.id, "' WHERE ", OfCensus()));
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->CreateDataset(spec).status());
  ExpectOthersAreServed(*ledger);
}

TEST_P(DamageConformance, AChargeWhoseRowCannotBeReadIsLeftOutOfTheListingOfItsPrincipal) {
  auto ledger = Open();
  const auto listed = [&](const NewestPage& page) {
    std::vector<std::string> requests;
    for (const Charge& charge : Must(ledger->ListOperations(TestPrincipal("ana"), page))) {
      requests.push_back(charge.request_id);
    }
    return requests;
  };
  ASSERT_THAT(listed({.limit = 3}), ElementsAre("other", "reserved", "started"));
  Tamper("UPDATE charges SET postings = '[x]' WHERE request_id = 'started'");
  EXPECT_THAT(listed({.limit = 3}), ElementsAre("other", "reserved", "stored"));
  EXPECT_THAT(listed({.limit = 2}), ElementsAre("other", "reserved"));
  EXPECT_THAT(listed({}), ElementsAre("other", "reserved", "stored"));
}

TEST_P(DamageConformance, ASuccessorIsReadOnlyWithTheLineageWhoseAccountsItShares) {
  DatasetSpec spec = SpecOf("census-2", 0);
  spec.accounts.clear();
  spec.successor_of = census_.id;
  Dataset successor = Must(Open()->CreateDataset(spec));
  successor = Must(Open()->SealDataset(successor.id, "content of census-2", TestPrincipal("olga")));
  Tamper(absl::StrCat("UPDATE entries SET actor = 'mallory' WHERE seq = 2 AND ", OfCensus()));
  auto ledger = Open();
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss,
                   ledger->Begin(RequestOf(successor, "next", census_account_, 1)).status());
  ExpectOthersAreServed(*ledger);
}

TEST_P(DamageConformance, ARunningServerFindsAFlippedBitByItsNextPassOverAllHistories) {
  std::promise<void> found;
  std::atomic<bool> is_found = false;
  auto ledger = Must(sql::SqlLedger::Open(OpenStore(), anchor_dir(), SeededEntropy(NextSeed()),
                                          {.report =
                                               [&](std::string_view event, std::string_view) {
                                                 if (event == "dataset_damaged" && !is_found.exchange(true))
                                                   found.set_value();
                                               },
                                           .pass_interval = std::chrono::milliseconds(1)}));
  FlipABit("releases", "payload", absl::StrCat("id = '", census_release_, "'"));
  found.get_future().wait();
  ExpectCensusIsReadOnly(*ledger);
  EXPECT_TRUE(Must(ledger->Begin(OnSurvey("beside the passes", 1))).newly_charged);
}

TEST_P(DamageConformance, TheLastResultIsReusedUntilItIsTooOld) {
  constexpr int64_t kMinuteUs = 60'000'000;
  int64_t now_us = 1;
  auto ledger = Must(sql::SqlLedger::Open(OpenStore(), anchor_dir(), SeededEntropy(NextSeed()),
                                          {.steady_us = [&] { return now_us; }}));
  Tamper(absl::StrCat("UPDATE entries SET actor = 'mallory' WHERE seq = 2 AND ", OfCensus()));
  now_us += kMinuteUs;
  const Verification last = Must(ledger->LastVerification(census_.id, kMinuteUs));
  EXPECT_TRUE(last.ok) << "what the start found";
  EXPECT_GT(last.made_at_us, 0);
  Must(ledger->Begin(OnSurvey("after the pass", 1)));
  EXPECT_EQ(Must(ledger->LastVerification(survey_.id, kMinuteUs)).head_hash,
            Must(ledger->ListEntries(survey_.id, {})).back().hash)
      << "the head as it is now, which receipts are compared with";
  now_us += 1;
  EXPECT_FALSE(Must(ledger->LastVerification(census_.id, kMinuteUs)).ok);
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->Begin(OnCensus("next", 1)).status());
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger->LastVerification("nothing", kMinuteUs).status());
}

TEST_P(DamageConformance, WithoutAnAgeNoPassIsMadeOverAHistoryThatHasAResult) {
  int64_t now_us = 1;
  auto ledger = Must(sql::SqlLedger::Open(OpenStore(), anchor_dir(), SeededEntropy(NextSeed()),
                                          {.steady_us = [&] { return now_us; }}));
  Tamper(absl::StrCat("UPDATE entries SET actor = 'mallory' WHERE seq = 2 AND ", OfCensus()));
  now_us = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE(Must(ledger->LastVerification(census_.id, std::nullopt)).ok) << "what the start found";
  EXPECT_FALSE(Must(ledger->LastVerification(census_.id, 1)).ok);
}

TEST_P(DamageConformance, WithoutAnAgeAFirstPassIsMadeOverAShortHistoryOnly) {
  auto ledger =
      Must(sql::SqlLedger::Open(OpenStore(), anchor_dir(), SeededEntropy(NextSeed()), {.short_history = 2}));
  const Dataset made = Must(ledger->CreateDataset(SpecOf("made since", 10)));
  EXPECT_EQ(Must(ledger->LastVerification(made.id, std::nullopt)).entries_checked, 1);
  const Dataset grown = Must(ledger->CreateDataset(SpecOf("grown since", 10)));
  for (const char* grantee : {"ana", "ben"})
    ASSERT_TRUE(ledger->Grant(grown.id, grantee, TestPrincipal("olga")).ok());
  EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, ledger->LastVerification(grown.id, std::nullopt).status());
  EXPECT_EQ(Must(ledger->LastVerification(grown.id, 0)).entries_checked, 3);
  EXPECT_EQ(Must(ledger->LastVerification(grown.id, std::nullopt)).entries_checked, 3) << "there is a result";
}

TEST_P(DamageConformance, ACallerDoesNotWaitLongForAPassOverAnotherHistory) {
  std::promise<void> is_verifying;
  std::promise<void> go_on;
  std::atomic<bool> is_reported = false;
  auto ledger = Must(sql::SqlLedger::Open(OpenStore(), anchor_dir(), SeededEntropy(NextSeed()),
                                          {.report =
                                               [&](std::string_view event, std::string_view) {
                                                 if (event != "dataset_damaged" || is_reported.exchange(true))
                                                   return;
                                                 is_verifying.set_value();
                                                 go_on.get_future().wait();
                                               },
                                           .longest_wait = std::chrono::milliseconds(1)}));
  Tamper(absl::StrCat("UPDATE entries SET actor = 'mallory' WHERE seq = 2 AND ", OfCensus()));
  std::thread pass([&] { EXPECT_FALSE(Must(ledger->Verify(census_.id)).ok); });
  is_verifying.get_future().wait();
  EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, ledger->LastVerification(survey_.id, -1).status());
  EXPECT_TRUE(Must(ledger->LastVerification(survey_.id, std::nullopt)).ok) << "the last result is there";
  go_on.set_value();
  pass.join();
  EXPECT_TRUE(Must(ledger->LastVerification(survey_.id, -1)).ok);
}

// Histories that count as long: a start goes on from the checkpoints of the last whole pass, and makes a
// whole pass once it serves.
class CheckpointConformance : public DamageConformance {
 protected:
  void SetUp() override {
    DamageConformance::SetUp();
    OpenLong("histories_verified");  // leaves checkpoints
  }

  // Opens the ledger, keeps what was reported until it had opened, and then waits until `event` was reported.
  std::unique_ptr<sql::SqlLedger> OpenLong(const std::string& event) {
    auto awaited = std::make_shared<std::promise<void>>();
    auto events = std::make_shared<std::vector<std::string>>();
    auto mutex = std::make_shared<std::mutex>();
    const auto report = [=](std::string_view reported, std::string_view) {
      const std::scoped_lock lock(*mutex);
      events->emplace_back(reported);
      if (reported == event && std::ranges::count(*events, event) == 1) awaited->set_value();
    };
    auto ledger = Must(sql::SqlLedger::Open(OpenStore(), anchor_dir(), SeededEntropy(NextSeed()),
                                            {.report = report, .long_history = 1}));
    awaited->get_future().wait();
    const std::scoped_lock lock(*mutex);
    reported_ = *events;
    return ledger;
  }

  void ExpectFoundAtStart() {
    auto ledger = OpenLong("new_entries_verified");
    EXPECT_EQ(reported_.front(), "dataset_damaged");
    ExpectCensusIsReadOnly(*ledger);
    ExpectOthersAreServed(*ledger);
  }

  std::vector<std::string> reported_;
};

TEST_P(CheckpointConformance, AStartReadsTheNewEntriesAndThenAll) {
  {
    auto ledger = Open();
    Must(ledger->Store(Must(ledger->Begin(OnCensus("after the checkpoint", 1))), "a third answer"));
  }
  auto ledger = OpenLong("histories_verified");
  EXPECT_THAT(reported_, ElementsAre("new_entries_verified", "histories_verified"));
  EXPECT_TRUE(Must(ledger->Begin(OnCensus("next", 1))).newly_charged);
  EXPECT_TRUE(Must(ledger->Verify(census_.id)).ok);
}

TEST_P(CheckpointConformance, AWholePassReportsHowFarItHasCome) {
  {
    auto ledger = Open();
    for (int i = 0; i < 300; ++i) {
      Must(ledger->Begin(OnSurvey(absl::StrCat("one of many ", i), 0)));
    }
  }
  OpenLong("histories_verified");
  EXPECT_THAT(reported_, ElementsAre("verifying_histories", "new_entries_verified", "verifying_histories",
                                     "histories_verified"))
      << "the new entries have a page of their own";
}

TEST_P(CheckpointConformance, ALoweredBalanceIsFoundBeforeTheFirstCharge) {
  Tamper(absl::StrCat("UPDATE account_counters SET spent = spent - 1 WHERE account_id = ", census_account_));
  ExpectFoundAtStart();
}

TEST_P(CheckpointConformance, ADoubledLimitIsFoundBeforeTheFirstCharge) {
  Tamper(absl::StrCat("UPDATE account_counters SET limit_value = 2 * limit_value WHERE account_id = ",
                      census_account_));
  ExpectFoundAtStart();
}

TEST_P(CheckpointConformance, AnEditedOwnerIsFoundBeforeTheFirstCharge) {
  Tamper(absl::StrCat("UPDATE datasets SET owner = 'eve' WHERE id = '", census_.id, "'"));
  ExpectFoundAtStart();
}

TEST_P(CheckpointConformance, AnOpenChargeThatWasClosedIsFoundBeforeTheFirstCharge) {
  Tamper("UPDATE charges SET state = 'CANCELLED', sealed_key = NULL WHERE request_id = 'started'");
  ExpectFoundAtStart();
}

TEST_P(CheckpointConformance, AFlippedBitInAnOldAnswerIsFoundByTheWholePassAndByEveryLaterStart) {
  FlipABit("releases", "payload", absl::StrCat("id = '", census_release_, "'"));
  ExpectCensusIsReadOnly(*OpenLong("dataset_damaged"));
  auto ledger = OpenLong("dataset_damaged");
  EXPECT_EQ(reported_.front(), "dataset_damaged") << "nothing was charged before";
  ExpectCensusIsReadOnly(*ledger);
}

TEST_P(CheckpointConformance, ADamagedCheckpointCountsAsNone) {
  for (const auto& file : std::filesystem::directory_iterator(anchor_dir())) {
    if (file.path().extension() == ".checkpoint") std::ofstream(file.path()) << "not a checkpoint";
  }
  auto ledger = OpenLong("histories_verified");
  EXPECT_THAT(reported_, ElementsAre("histories_verified"));
  EXPECT_TRUE(Must(ledger->Begin(OnCensus("next", 1))).newly_charged);
}

TEST_P(DamageConformance, AnUntouchedLedgerIsWhollyCharged) {
  auto ledger = Open();
  EXPECT_TRUE(Must(ledger->Begin(OnCensus("next", 1))).newly_charged);
  ExpectOthersAreServed(*ledger);
  ExpectCensusAnswersAreServed(*ledger);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, CheckpointConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });
INSTANTIATE_TEST_SUITE_P(EveryBackend, DamageConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
