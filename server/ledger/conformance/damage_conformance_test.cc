// Damage in one dataset makes that dataset read-only and no other, from the start of the server on.
#include "ledger/conformance/damage_conformance.h"

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
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/faulty_database.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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
  Tamper(
      "DELETE FROM open_charges WHERE charge_id = (SELECT id FROM charges WHERE request_id = 'started'); "
      "INSERT INTO endings (charge_id, state, reason, postings, ended_at_us) "
      "SELECT id, 'CANCELLED', '', '', 0 FROM charges WHERE request_id = 'started'");
  ExpectOnlyCensusIsReadOnly();
}

TEST_P(DamageConformance, AnEndedChargeThatWasOpenedAgainIsFoundBeforeTheFirstCharge) {
  Tamper(
      "DELETE FROM endings WHERE charge_id = (SELECT id FROM charges WHERE request_id = 'stored'); "
      "INSERT INTO open_charges (charge_id, state, attempt_token, sealed_key, deadline_us, postings) "
      "SELECT id, 'STARTED', '', fingerprint, 0, '' FROM charges WHERE request_id = 'stored'");
  ExpectOnlyCensusIsReadOnly(false);
}

TEST_P(DamageConformance, AChargeThatNoEntryMadeIsFoundBeforeTheFirstCharge) {
  Tamper(
      "INSERT INTO charges (id, dataset_id, dataset_version, principal, request_id, fingerprint, kind, "
      "event, label, created_at_us, postings) SELECT 'c', dataset_id, 1, 'ana', 'forged', fingerprint, kind, "
      "event, '', 0, postings FROM charges WHERE request_id = 'stored'");
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
  EXPECT_THAT(Must(Open()->GetDataset("census")).grants, GrantedTo("ana"));
}

TEST_P(DamageConformance, AChangedRoleIsFoundAndNotBelieved) {
  Tamper(absl::StrCat("UPDATE grants SET roles = 31 WHERE ", OfCensus()));
  ExpectOnlyCensusIsReadOnly();
  EXPECT_THAT(Must(Open()->GetDataset("census")).grants, ElementsAre(Grant{.grantee = "ana"}));
}

TEST_P(DamageConformance, AChangedEndOfAGrantIsFoundAndNotBelieved) {
  Tamper(absl::StrCat("UPDATE grants SET expires_at_us = 1 WHERE ", OfCensus()));
  ExpectOnlyCensusIsReadOnly();
  EXPECT_THAT(Must(Open()->GetDataset("census")).grants, ElementsAre(Grant{.grantee = "ana"}));
}

TEST_P(DamageConformance, ARemovedGrantIsFoundAndStillHonoured) {
  Tamper(absl::StrCat("DELETE FROM grants WHERE ", OfCensus()));
  ExpectOnlyCensusIsReadOnly();
  EXPECT_THAT(Must(Open()->GetDataset("census")).grants, GrantedTo("ana"));
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
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, FindStored("eve").status());
}

TEST_P(DamageConformance, AChargeThatWasGivenToAnotherPrincipalIsListedForNeither) {
  Tamper("UPDATE charges SET principal = 'eve' WHERE request_id = 'stored'");
  auto ledger = Open();
  EXPECT_THAT(Must(ledger->ListOperations(TestPrincipal("eve"))), IsEmpty());
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound,
                   ledger->LatestCharge(census_.id, TestPrincipal("eve")).status());
  const std::vector<Charge> listed = Must(ledger->ListOperations(TestPrincipal("ana"), {.limit = 1}));
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].request_id, "other");
}

TEST_P(DamageConformance, AnOverdueReservationOfAReadOnlyDatasetIsShownAsItIs) {
  Tamper("UPDATE open_charges SET deadline_us = 1 WHERE state = 'RESERVED'");
  Tamper(absl::StrCat("UPDATE entries SET actor = 'mallory' WHERE seq = 2 AND ", OfCensus()));
  EXPECT_EQ(Must(Open()->FindCharge(TestPrincipal("ana"), "reserved")).state, ChargeState::kReserved);
}

TEST_P(DamageConformance, OverdueReservationsOfAReadOnlyDatasetAreReportedOnceInASweep) {
  Must(Open()->Reserve({OnCensus("another", 1)}, kOneHourUs));
  Must(Open()->Reserve({OnSurvey("on survey", 1)}, kOneHourUs));
  Tamper("UPDATE open_charges SET deadline_us = 1 WHERE state = 'RESERVED'");
  Tamper(absl::StrCat("UPDATE entries SET actor = 'mallory' WHERE seq = 2 AND ", OfCensus()));
  int reports = 0;
  auto ledger = Must(sql::SqlLedger::Open(OpenStore(), anchor_dir(), SeededEntropy(NextSeed()),
                                          {.report = [&](std::string_view event, std::string_view) {
                                            reports += event == "reservation_not_expired" ? 1 : 0;
                                          }}));
  EXPECT_EQ(Must(ledger->ExpireReservations()), 1) << "that of survey";
  EXPECT_EQ(reports, 1);
}

TEST_P(DamageConformance, AFlippedBitInAnAnswerIsFoundAndTheAnswerIsNotServed) {
  FlipABit("releases", "payload", absl::StrCat("id = '", census_release_, "'"));
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, FindStored("ana").status());
  ExpectOnlyCensusIsReadOnly(false);
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, Open()->GetRelease(census_release_).status());
}

TEST_P(DamageConformance, ADatasetThatIsReadOnlyHasNoRevisionToCompare) {
  EXPECT_EQ(Must(FindStored("ana")).revision, Must(Open()->GetDataset("census")).revision);
  Tamper(absl::StrCat("UPDATE entries SET actor = 'mallory' WHERE seq = 2 AND ", OfCensus()));
  const EarlierRequest earlier = Must(FindStored("ana"));
  EXPECT_EQ(earlier.revision, std::nullopt);
  EXPECT_EQ(earlier.release->payload, "an answer");
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
  const std::string is_end_of_stored =
      " WHERE charge_id = (SELECT id FROM charges WHERE request_id = 'stored')";
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
      edit("endings", "reason", "'a full disk'", "''", is_end_of_stored, "its reason"),
      edit("endings", "state", "'FORFEITED'", "'COMMITTED'", is_end_of_stored, "its state"),
      edit("endings", "postings", "'[[1,\"rho\",1]]'", "''", is_end_of_stored, "its postings"),
      edit("charges", "entry_seq", "entry_seq - 1", "entry_seq + 1", is_stored, "its entry"),
      edit("releases", "payload_size", "payload_size + 1", "payload_size - 1", is_release, "release"),
      edit("releases", "number", "number + 100", "number - 100", is_release, "release"),
      edit("releases", "dataset_id", quoted(survey_.id), quoted(census_.id), is_release, "release"),
      edit("grants", "dataset_name", "'survey'", "'census'", " WHERE " + OfCensus(), "its grants"),
      edit("limit_proposals", "new_limit", "2500", "25", is_proposal, "proposal"),
      edit("limit_proposals", "old_limit", "19", "20", is_proposal, "proposal"),
      edit("limit_proposals", "reason", "'less'", "'more'", is_proposal, "proposal"),
      edit("limit_proposals", "proposed_by", "'eve'", "'ana'", is_proposal, "proposal"),
      edit("limit_proposals", "entry_seq", "entry_seq - 1", "entry_seq + 1", is_proposal, "proposal"),
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
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, FindStored("ana").status());
  EXPECT_THAT(Must(ledger->ListReleases(census_.id, "", {})).releases, IsEmpty());
  EXPECT_EQ(Must(ledger->ListReleases(survey_.id, "", {})).releases.size(), 1u);
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

TEST_P(DamageConformance, ThoseWhomItsHistoryNamesLearnThatARowCannotBeReadAndOthersSeeNoDataset) {
  auto ledger = Open();
  if (GetParam() != "sqlite") Tamper("ALTER TABLE datasets DROP CONSTRAINT datasets_state_check");
  Tamper(absl::StrCat("UPDATE datasets SET state = 'LOST' WHERE id = '", census_.id, "'"));
  const auto expect_said_to_those = [&](Ledger& opened) {
    for (const char* viewer : {"olga", "ana"}) {
      for (const absl::Status& found : {opened.GetDataset("census", viewer).status(),
                                        opened.GetDatasetById(census_.id, viewer).status()}) {
        EXPECT_EQ(found.code(), absl::StatusCode::kDataLoss) << viewer << ": " << found;
        EXPECT_THAT(std::string(found.message()), HasSubstr("dataset \"census\" is read-only")) << viewer;
      }
      EXPECT_THAT(Must(opened.ListVisibleDatasets(TestPrincipal(viewer))).unreadable, ElementsAre("census"))
          << viewer;
    }
    EXPECT_EQ(opened.GetDataset("census", "mallory").status(),
              absl::NotFoundError("there is no dataset named census"));
    EXPECT_EQ(opened.GetDatasetById(census_.id, "mallory").status(),
              opened.GetDatasetById("nothing", "mallory").status());
    EXPECT_THAT(Must(opened.ListVisibleDatasets(TestPrincipal("mallory"))).unreadable, IsEmpty());
  };
  expect_said_to_those(*ledger);
  expect_said_to_those(*Open());  // after a pass
}

TEST_P(DamageConformance, ALineageWithARowThatCannotBeReadIsStillOfThoseWhomItsHistoryNames) {
  if (GetParam() != "sqlite") Tamper("ALTER TABLE accounts DROP CONSTRAINT accounts_scope_type_check");
  Tamper(absl::StrCat("UPDATE accounts SET scope_type = 'LOST' WHERE id = ", census_account_));
  Tamper("UPDATE charges SET principal = 'eve' WHERE request_id = 'stored'");
  auto ledger = Open();
  const Dataset found = Must(ledger->GetDataset("census", "olga"));
  EXPECT_EQ(found.owner, "olga");
  EXPECT_THAT(Must(ledger->GetDataset("census")).grants, GrantedTo("ana"));
  const Verification verified = Must(ledger->Verify(census_.id));
  EXPECT_THAT(verified.findings, Contains(HasSubstr("a row cannot be read")));
  EXPECT_THAT(verified.findings, Contains(HasSubstr("its principal")));
  EXPECT_GT(verified.entries_checked, 0);
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->GetRelease(census_release_).status());
}

// Whatever of the last page cannot be read, the entries are.
TEST_P(DamageConformance, ALineageWhoseAnswersCannotBeReadIsStillOfThoseWhomItsHistoryNames) {
  Tamper("ALTER TABLE releases RENAME COLUMN payload TO lost");
  auto ledger = Open();
  EXPECT_EQ(Must(ledger->GetDataset("census", "olga")).owner, "olga");
  EXPECT_THAT(Must(ledger->GetDataset("census")).grants, GrantedTo("ana"));
  EXPECT_THAT(Must(ledger->Verify(census_.id)).findings, Contains(HasSubstr("a row cannot be read")));
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->Begin(OnCensus("next", 1)).status());
}

TEST_P(DamageConformance, AProposalWhoseRowWasEditedUnderARunningServerIsNotApproved) {
  auto ledger = Open();
  const std::string proposal =
      Must(ledger->ProposeLimit({"raise", census_account_, "rho", 25, "more", TestPrincipal("ana")})).id;
  const auto limit = [&] { return BalanceOf(*ledger, census_).limit; };
  Tamper("UPDATE limit_proposals SET new_limit = 2500");
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss,
                   ledger->ApproveLimit(proposal, TestPrincipal("olga")).status());
  EXPECT_EQ(limit(), 20);
  ExpectCensusIsReadOnly(*ledger);
  Tamper("UPDATE limit_proposals SET new_limit = 25, proposed_by = 'eve'");
  ledger = Open();
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss,
                   ledger->ApproveLimit(proposal, TestPrincipal("ana")).status());
  Tamper("UPDATE limit_proposals SET proposed_by = 'ana'");
  ledger = Open();
  EXPECT_EQ(Must(ledger->ApproveLimit(proposal, TestPrincipal("olga"))).new_limit, 25);
  EXPECT_EQ(limit(), 25);
  EXPECT_THAT(Must(ledger->Verify(census_.id)).findings, IsEmpty());
}

TEST_P(DamageConformance, AProposalThatAnEarlierVersionMadeIsFoundAmongTheEntries) {
  auto ledger = Open();
  const auto propose = [&](const std::string& request_id, int64_t limit) {
    return Must(ledger->ProposeLimit(
                    {request_id, census_account_, "rho", limit, "more", TestPrincipal("ana")}))
        .id;
  };
  propose("first", 24);
  const std::string proposal = propose("second", 25);
  Tamper("UPDATE limit_proposals SET entry_seq = NULL");
  EXPECT_EQ(Must(ledger->ApproveLimit(proposal, TestPrincipal("olga"))).new_limit, 25);
  EXPECT_THAT(Must(ledger->Verify(census_.id)).findings, IsEmpty());
  const std::string edited = propose("third", 30);
  Tamper("UPDATE limit_proposals SET entry_seq = NULL, new_limit = 300 WHERE new_limit = 30");
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss, ledger->ApproveLimit(edited, TestPrincipal("olga")).status());
}

TEST_P(DamageConformance, APageOfReleasesThatAreAllLeftOutIsFollowedByTheNext) {
  {
    auto ledger = Open();
    for (const char* request_id : {"second", "third"}) {
      Must(ledger->Store(Must(ledger->Begin(OnCensus(request_id, 1))), "one more answer"));
    }
  }
  Tamper(
      "UPDATE endings SET reason = 'edited' WHERE charge_id = "
      "(SELECT id FROM charges WHERE request_id = 'third')");
  Tamper(absl::StrCat("UPDATE charges SET dataset_id = '", survey_.id, "' WHERE request_id = 'second'"));
  auto ledger = Open();
  for (const char* reader : {"", "ana"}) {
    NewestPage page{.limit = 1};
    const ReleaseList without_third = Must(ledger->ListReleases(census_.id, reader, page));
    EXPECT_THAT(without_third.releases, IsEmpty());
    ASSERT_TRUE(without_third.has_more);
    page.after_id = without_third.last;
    const ReleaseList list = Must(ledger->ListReleases(census_.id, reader, page));
    ASSERT_EQ(list.releases.size(), 1U);
    EXPECT_EQ(list.releases.front().request_id, "stored");
    EXPECT_EQ(list.last, list.releases.front().id);
  }
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

TEST_P(DamageConformance, APassWithoutMemoryIsNoDamage) {
  auto store = std::make_unique<FaultyDatabase>(OpenStore());
  FaultyDatabase& faulty = *store;
  auto ledger = Must(sql::SqlLedger::Open(std::move(store), anchor_dir(), SeededEntropy(NextSeed()),
                                          sql::SqlLedger::Options()));
  absl::Status verified;
  int steps = 0;
  do {
    faulty.ArmPause(steps++, [](FaultyDatabase::Moment) { throw std::bad_alloc(); });
    verified = ledger->Verify(census_.id).status();
    if (faulty.has_struck()) EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, verified);
    EXPECT_TRUE(ledger->DatasetHealth(census_.id).ok()) << "step " << steps;
  } while (faulty.has_struck());
  EXPECT_GT(steps, 10);
  EXPECT_TRUE(verified.ok()) << verified;
}

TEST_P(DamageConformance, AServerWithoutMemoryForAPassMakesTheNextOne) {
  std::atomic<int> passes = 0;
  std::promise<void> is_reported;
  std::promise<void> is_next;
  const Report report = [&](std::string_view event, std::string_view) {
    if (event == "histories_not_verified") is_reported.set_value();
    if (event != "histories_verified") return;
    const int pass = ++passes;
    if (pass == 2) throw std::bad_alloc();
    if (pass == 3) is_next.set_value();
  };
  auto ledger = Must(sql::SqlLedger::Open(OpenStore(), anchor_dir(), SeededEntropy(NextSeed()),
                                          {.report = report, .pass_interval = std::chrono::milliseconds(1)}));
  is_reported.get_future().wait();
  is_next.get_future().wait();
}

TEST_P(DamageConformance, TheLastResultIsReusedUntilItIsTooOld) {
  constexpr int64_t kMinuteUs = 60'000'000;
  int64_t now_us = 1;
  std::unique_ptr<Ledger> ledger = Must(sql::SqlLedger::Open(
      OpenStore(), anchor_dir(), SeededEntropy(NextSeed()), {.steady_us = [&] { return now_us; }}));
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

TEST_P(DamageConformance, APassIsAskedForBeforeItIsMadeAndWhereAResultIsFoundNothingIsAsked) {
  constexpr int64_t kMinuteUs = 60'000'000;
  const auto ledger = Open();
  int asked = 0;
  const auto count = [&] {
    ++asked;
    return absl::OkStatus();
  };
  Must(ledger->LastVerification(census_.id, -1, count));
  EXPECT_EQ(asked, 1);
  Must(ledger->LastVerification(census_.id, kMinuteUs, count));
  EXPECT_EQ(asked, 1);
  const Verification before = Must(ledger->LastVerification(census_.id, kMinuteUs));
  const auto refuse = [] { return absl::ResourceExhaustedError("enough"); };
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted,
                   ledger->LastVerification(census_.id, -1, refuse).status());
  EXPECT_EQ(Must(ledger->LastVerification(census_.id, kMinuteUs)).made_at_us, before.made_at_us);
}

TEST_P(DamageConformance, WithoutAnAgeNoPassIsMadeOverAHistoryThatHasAResult) {
  int64_t now_us = 1;
  std::unique_ptr<Ledger> ledger = Must(sql::SqlLedger::Open(
      OpenStore(), anchor_dir(), SeededEntropy(NextSeed()), {.steady_us = [&] { return now_us; }}));
  Tamper(absl::StrCat("UPDATE entries SET actor = 'mallory' WHERE seq = 2 AND ", OfCensus()));
  now_us = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE(Must(ledger->LastVerification(census_.id, std::nullopt)).ok) << "what the start found";
  EXPECT_FALSE(Must(ledger->LastVerification(census_.id, 1)).ok);
}

TEST_P(DamageConformance, WithoutAnAgeAFirstPassIsMadeOverAShortHistoryOnly) {
  std::unique_ptr<Ledger> ledger =
      Must(sql::SqlLedger::Open(OpenStore(), anchor_dir(), SeededEntropy(NextSeed()), {.short_history = 2}));
  const Dataset made = Must(ledger->CreateDataset(SpecOf("made since", 10)));
  EXPECT_EQ(Must(ledger->LastVerification(made.id, std::nullopt)).entries_checked, 1);
  const Dataset grown = Must(ledger->CreateDataset(SpecOf("grown since", 10)));
  for (const char* grantee : {"ana", "ben"})
    ASSERT_TRUE(ledger->SetGrant(grown.id, {.grantee = grantee}, TestPrincipal("olga")).ok());
  EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, ledger->LastVerification(grown.id, std::nullopt).status());
  EXPECT_EQ(Must(ledger->LastVerification(grown.id, 0)).entries_checked, 3);
  EXPECT_EQ(Must(ledger->LastVerification(grown.id, std::nullopt)).entries_checked, 3) << "there is a result";
}

TEST_P(DamageConformance, WhetherAFirstPassIsMadeDoesNotDependOnOtherDatasetsOfTheLineage) {
  std::unique_ptr<Ledger> ledger =
      Must(sql::SqlLedger::Open(OpenStore(), anchor_dir(), SeededEntropy(NextSeed()), {.short_history = 2}));
  DatasetSpec spec = SpecOf("census-2", 0);
  spec.accounts.clear();
  spec.successor_of = census_.id;
  const Dataset successor = Must(ledger->CreateDataset(spec));
  EXPECT_EQ(Must(ledger->LastVerification(successor.id, std::nullopt)).entries_checked, 1);
}

TEST_P(DamageConformance, ACallerDoesNotWaitLongForAPassOverAnotherHistory) {
  std::promise<void> is_verifying;
  std::promise<void> go_on;
  std::atomic<bool> is_reported = false;
  std::unique_ptr<Ledger> ledger =
      Must(sql::SqlLedger::Open(OpenStore(), anchor_dir(), SeededEntropy(NextSeed()),
                                {.report =
                                     [&](std::string_view event, std::string_view) {
                                       if (event != "dataset_damaged" || is_reported.exchange(true)) return;
                                       is_verifying.set_value();
                                       go_on.get_future().wait();
                                     },
                                 .longest_wait = std::chrono::milliseconds(1)}));
  Tamper(absl::StrCat("UPDATE entries SET actor = 'mallory' WHERE seq = 2 AND ", OfCensus()));
  std::thread pass([&] { EXPECT_FALSE(Must(ledger->Verify(census_.id)).ok); });
  is_verifying.get_future().wait();
  EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, ledger->LastVerification(survey_.id, -1).status());
  RepairOrder repair = RepairOfNothing(*ledger, survey_, "other");
  repair.only_checked = true;
  EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, ledger->RaiseToAnchor(repair).status());
  EXPECT_TRUE(Must(ledger->LastVerification(survey_.id, std::nullopt)).ok) << "the last result is there";
  go_on.set_value();
  pass.join();
  EXPECT_TRUE(Must(ledger->LastVerification(survey_.id, -1)).ok);
  EXPECT_THAT(Must(ledger->RaiseToAnchor(repair)).raised, IsEmpty());
}

TEST_P(DamageConformance, AnUntouchedLedgerIsWhollyCharged) {
  auto ledger = Open();
  EXPECT_TRUE(Must(ledger->Begin(OnCensus("next", 1))).newly_charged);
  ExpectOthersAreServed(*ledger);
  ExpectCensusAnswersAreServed(*ledger);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, DamageConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
