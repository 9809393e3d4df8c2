// What a seal fixes for ever, what an owner has seen and undone, and deleted datasets: in the history, found
// by verification, and on both stores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/history/entry_payload.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

constexpr DatasetFacts kFromRecords{.domain_from_records = true};
constexpr DatasetFacts kFromQuery{.rows_from_query = true};

class DataFactsConformance : public LedgerConformance {
 protected:
  static Principal Olga() { return TestPrincipal("olga"); }

  Dataset Create(Ledger& ledger, const std::string& name, const std::string& request_id = "") {
    DatasetSpec spec = SpecOf(name, 10);
    if (!request_id.empty()) spec.request_id = request_id;
    return Must(ledger.CreateDataset(spec));
  }

  static absl::StatusOr<std::string> Delete(Ledger& ledger, const Dataset& dataset,
                                            const std::string& request_id = "delete",
                                            bool only_checked = false) {
    return ledger.DeleteDataset({.request_id = request_id,
                                 .name = dataset.name,
                                 .dataset_id = dataset.id,
                                 .actor = Olga(),
                                 .only_checked = only_checked});
  }

  static std::vector<std::string> Kinds(Ledger& ledger, const std::string& dataset_id) {
    std::vector<std::string> kinds;
    for (const Entry& entry : Must(ledger.ListEntries(dataset_id, {}))) kinds.push_back(entry.kind);
    return kinds;
  }

  std::vector<std::string> FindingsAfter(const std::string& tampering, const std::string& dataset_id) {
    Tamper(tampering);
    return Must(Open()->Verify(dataset_id)).findings;
  }
};

TEST_P(DataFactsConformance, ASealFixesFactsForEver) {
  auto ledger = Open();
  const Dataset census = Create(*ledger, "census");
  EXPECT_EQ(census.facts, DatasetFacts());
  const Dataset sealed = Must(ledger->SealDataset(census.id, "content", Olga(), kFromRecords | kFromQuery));
  EXPECT_EQ(sealed.facts, (kFromRecords | kFromQuery));
  EXPECT_EQ(Must(Open()->GetDataset("census")).facts, (kFromRecords | kFromQuery));
  EXPECT_THAT(Must(ledger->Verify(census.id)).findings, IsEmpty());
  const Entry entry = Must(ledger->ListEntries(census.id, {})).back();
  EXPECT_EQ(Must(ParseDatasetSealed(entry.payload)).facts, (kFromRecords | kFromQuery));
  // A repetition changes nothing, whatever facts it names.
  EXPECT_EQ(Must(ledger->SealDataset(census.id, "content", Olga())).facts, (kFromRecords | kFromQuery));
}

TEST_P(DataFactsConformance, ASchemaAndASuccessorHaveThemFromTheStart) {
  auto ledger = Open();
  DatasetSpec spec = SpecOf("census", 10);
  spec.facts = kFromRecords;
  const Dataset census = Must(ledger->CreateDataset(spec));
  EXPECT_EQ(census.facts, kFromRecords);
  Must(ledger->SealDataset(census.id, "content", Olga(), kFromQuery));
  DatasetSpec next = SpecOf("census-2", 10);
  next.accounts.clear();
  next.successor_of = census.id;
  EXPECT_EQ(Must(ledger->CreateDataset(next)).facts, kFromRecords) << "rows are those of its own imports";
  EXPECT_THAT(Must(ledger->Verify(census.id)).findings, IsEmpty());
}

TEST_P(DataFactsConformance, AnEditedFactIsFound) {
  auto ledger = Open();
  const Dataset census = Create(*ledger, "census");
  Must(ledger->SealDataset(census.id, "content", Olga(), kFromRecords));
  ledger.reset();
  for (const char* tampering : {"UPDATE datasets SET domain_from_records = 0",
                                "UPDATE datasets SET domain_from_records = 1, rows_from_query = 1"}) {
    EXPECT_THAT(FindingsAfter(tampering, census.id),
                Contains(HasSubstr("how its domain and its rows came about")))
        << tampering;
    EXPECT_EQ(Must(Open()->GetDataset("census")).facts, kFromRecords) << "the history decides";
  }
  EXPECT_THAT(FindingsAfter("UPDATE datasets SET domain_from_records = 1, rows_from_query = 0", census.id),
              IsEmpty());
}

TEST_P(DataFactsConformance, LooksAreInTheHistoryAndAnErasedOneIsFound) {
  auto ledger = Open();
  DatasetSpec spec = SpecOf("census", 10);
  spec.looks = {{.file_hash = "file", .time_us = 7, .accepted_domain = false}};
  const Dataset census = Must(ledger->CreateDataset(spec));
  EXPECT_THAT(Kinds(*ledger, census.id), ElementsAre(kDatasetCreated, kOwnerLooked));
  EXPECT_EQ(Must(ParseOwnerLook(Must(ledger->ListEntries(census.id, {})).back().payload)), spec.looks[0]);
  EXPECT_TRUE(Must(ledger->HasSeen(Olga(), {"file"}, "values")));
  EXPECT_FALSE(Must(ledger->HasSeen(Olga(), {"other file"}, "values")));
  EXPECT_FALSE(Must(ledger->HasSeen(TestPrincipal("bob"), {"file"}, "values")));
  EXPECT_THAT(Must(ledger->Verify(census.id)).findings, IsEmpty());
  ledger.reset();
  EXPECT_THAT(FindingsAfter("DELETE FROM seen_files", census.id), Contains(HasSubstr("a look of its owner")));
}

TEST_P(DataFactsConformance, ReportsAreRememberedForTheirOwnerAlone) {
  auto ledger = Open();
  ASSERT_TRUE(ledger->RememberSeen(Olga(), {{"file", "coarse"}}).ok());
  ASSERT_TRUE(ledger->RememberSeen(Olga(), {{"file", "coarse"}}).ok());
  EXPECT_FALSE(Must(ledger->HasSeen(Olga(), {"file"}, "coarse")));
  EXPECT_TRUE(Must(ledger->HasSeen(Olga(), {"new", "file"}, "fine")));
  EXPECT_FALSE(Must(ledger->HasSeen(Olga(), {"new"}, "fine")));
  EXPECT_FALSE(Must(ledger->HasSeen(TestPrincipal("bob"), {"file"}, "fine")));
  EXPECT_FALSE(Must(ledger->HasSeen(Olga(), {}, "fine")));
}

TEST_P(DataFactsConformance, WhatFindsNoPlaceIsRememberedByItsSchemaAndBeyondThatAsAnything) {
  auto ledger = Open();
  ASSERT_TRUE(ledger->RememberSeen(Olga(), {{"first", "coarse"}}).ok());
  const std::string owner = Must(ledger->PseudonymOf("olga"));
  const auto fill = [&](int64_t from, int64_t to, const std::string& kind) {
    std::string rows;
    for (int64_t i = from; i < to; ++i) {
      const std::string bytes = url().starts_with("sqlite:")
                                    ? absl::StrCat("X'", absl::Hex(i, absl::kZeroPad8), "'")
                                    : absl::StrCat("'\\x", absl::Hex(i, absl::kZeroPad8), "'");
      const std::string empty = url().starts_with("sqlite:") ? "X''" : "''";
      absl::StrAppend(
          &rows, rows.empty() ? "" : ", ", "('", owner, "', ", kind == "file" ? bytes : empty, ", ",
          kind == "file" ? (url().starts_with("sqlite:") ? "X'636f61727365'" : "'\\x636f61727365'") : bytes,
          ")");
    }
    Tamper(absl::StrCat("INSERT INTO seen_files (owner, file_hash, values_hash) VALUES ", rows));
  };
  fill(1, kMostSeenFiles, "file");  // with the first one as many as have a place
  ASSERT_TRUE(ledger->RememberSeen(Olga(), {{"late", "coarse"}}).ok());
  EXPECT_FALSE(Must(ledger->HasSeen(Olga(), {"another"}, "coarse"))) << "under one schema nothing is asked";
  EXPECT_TRUE(Must(ledger->HasSeen(Olga(), {"another"}, "fine")));
  fill(1, kMostSeenSchemas, "schema");
  ASSERT_TRUE(ledger->RememberSeen(Olga(), {{"later", "newest"}}).ok());
  EXPECT_TRUE(Must(ledger->HasSeen(Olga(), {"another"}, "coarse")));
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM seen_files"), kMostSeenFiles + kMostSeenSchemas + 1);
}

TEST_P(DataFactsConformance, AnUndoneImportIsRecordedOnceAndOnlyBeforeTheSeal) {
  auto ledger = Open();
  const Dataset census = Create(*ledger, "census");
  UndoneImport undone{.request_id = "undo",
                      .dataset_id = census.id,
                      .part = {},
                      .import_request_id = "import",
                      .file_hash = "file",
                      .actor = Olga()};
  ASSERT_TRUE(ledger->RecordImportUndone(undone).ok());
  ASSERT_TRUE(ledger->RecordImportUndone(undone).ok());
  undone.request_id = "undo again";
  ASSERT_TRUE(ledger->RecordImportUndone(undone).ok());
  EXPECT_THAT(Must(ledger->UndoneImports(census.id)), ElementsAre("import"));
  EXPECT_THAT(Must(ledger->UndoneImports(census.id, "north")), IsEmpty());
  EXPECT_THAT(Kinds(*ledger, census.id), ElementsAre(kDatasetCreated, kImportUndone));
  Must(ledger->SealDataset(census.id, "content", Olga()));
  undone.request_id = "undo late";
  undone.import_request_id = "another";
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, ledger->RecordImportUndone(undone));
  EXPECT_THAT(Must(ledger->Verify(census.id)).findings, IsEmpty());
}

TEST_P(DataFactsConformance, ADeletedDatasetIsFoundByItsIdAloneAndVerifies) {
  auto ledger = Open();
  const Dataset census = Create(*ledger, "census");
  ASSERT_TRUE(ledger->SetGrant(census.id, {.grantee = "ana"}, Olga()).ok());
  Must(ledger->SealDataset(census.id, "content", Olga()));
  EXPECT_EQ(Must(Delete(*ledger, census, "checked", true)), census.id);
  EXPECT_EQ(Must(ledger->GetDataset("census")).id, census.id) << "it was only checked";
  EXPECT_EQ(Must(Delete(*ledger, census)), census.id);
  EXPECT_EQ(Must(Delete(*ledger, census)), census.id) << "a repetition";
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger->GetDataset("census").status());
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger->GetDataset(absl::StrCat("~", census.id)).status());
  EXPECT_THAT(Must(ledger->ListDatasets()), IsEmpty());
  for (const char* who : {"olga", "ana"})
    EXPECT_THAT(Must(ledger->ListVisibleDatasets(TestPrincipal(who))).datasets, IsEmpty()) << who;
  EXPECT_THAT(Must(ledger->ListVisibleDatasets(TestPrincipal("uma"), {}, {.all = true})).datasets, IsEmpty());
  EXPECT_FALSE(Must(ledger->OwnsOpenDataset("olga")));
  EXPECT_THAT(Must(ledger->ListDeletedDatasets()), ElementsAre(census.id));
  EXPECT_THAT(Must(ledger->DatasetNames({census.id})), ElementsAre("census (deleted)"));
  const Dataset deleted = Must(ledger->GetDatasetById(census.id));
  EXPECT_EQ(deleted.state, DatasetState::kDeleted);
  EXPECT_EQ(deleted.name, "census");
  EXPECT_THAT(Must(ledger->FindContent(Olga(), {"content"})), SizeIs(1)) << "the warning at a seal sees it";
  EXPECT_THAT(Must(ledger->FindContent(TestPrincipal("bob"), {"content"})), IsEmpty());
  EXPECT_THAT(Must(Open()->Verify(census.id)).findings, IsEmpty());
  EXPECT_EQ(Kinds(*ledger, census.id).back(), kDatasetDeleted);
}

TEST_P(DataFactsConformance, ADeletedDatasetTakesNoChange) {
  auto ledger = Open();
  const Dataset census = MakeDataset(*ledger, "census", 10);
  const int64_t account = FirstAccount(*ledger, census);
  const LimitProposal proposal = Must(ledger->ProposeLimit({.request_id = "limit",
                                                            .account_id = account,
                                                            .counter = "rho",
                                                            .new_limit = 20,
                                                            .reason = "more",
                                                            .proposed_by = Olga()}));
  Must(Delete(*ledger, census));
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound,
                   ledger->Begin(RequestOf(census, "charge", account, 1)).status());
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound,
                   ledger->Reserve({RequestOf(census, "reserve", account, 1)}, 1'000'000).status());
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound,
                   ledger->ApproveLimit(proposal.id, TestPrincipal("paul")).status());
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger->SetGrant(census.id, {.grantee = "ana"}, Olga()));
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger->RecordOwnerAction(census.id, "looks", Olga()));
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger->ArchiveDataset(census.id, Olga()));
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, SetRules(*ledger, census, "rules", "rules").status());
  DatasetSpec next = SpecOf("census-2", 10);
  next.accounts.clear();
  next.successor_of = census.id;
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger->CreateDataset(next).status());
  // The request that created it creates nothing again.
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger->CreateDataset(SpecOf("census", 10)).status());
  EXPECT_THAT(Must(ledger->Verify(census.id)).findings, IsEmpty());
}

TEST_P(DataFactsConformance, WhatWasChargedLookedAtOrSucceededIsNotDeleted) {
  auto ledger = Open();
  const auto refused = [&](const Dataset& dataset) {
    EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                     Delete(*ledger, dataset, absl::StrCat("delete ", dataset.name)).status());
  };
  const Dataset charged = MakeDataset(*ledger, "charged", 10);
  Must(ledger->Begin(RequestOf(charged, "charge", FirstAccount(*ledger, charged), 1)));
  refused(charged);
  const Dataset cancelled = MakeDataset(*ledger, "cancelled", 10);
  const auto held = Must(
      ledger->Reserve({RequestOf(cancelled, "reserve", FirstAccount(*ledger, cancelled), 1)}, 1'000'000));
  refused(cancelled);
  Must(ledger->CancelReserved(held.front().id, "not needed", TestPrincipal("ana")));
  refused(cancelled);
  const Dataset looked_at = MakeDataset(*ledger, "looked-at", 10);
  ASSERT_TRUE(ledger->RecordOwnerAction(looked_at.id, "row counts", Olga()).ok());
  refused(looked_at);
  const Dataset first = MakeDataset(*ledger, "first", 10);
  DatasetSpec spec = SpecOf("second", 10);
  spec.accounts.clear();
  spec.successor_of = first.id;
  const Dataset second = Must(ledger->CreateDataset(spec));
  refused(first);
  refused(second);
}

// A law: whatever the old dataset had, the new one of its name is as if there had been no other.
TEST_P(DataFactsConformance, ANewDatasetOfADeletedNameHasNothingOfTheOldOne) {
  auto ledger = Open();
  const Dataset old = Create(*ledger, "census");
  ASSERT_TRUE(ledger->SetGrant(old.id, {.grantee = "ana", .roles = kAllGrantedRoles}, Olga()).ok());
  Must(SetRules(*ledger, old, "rules", "rules"));
  const int64_t account = FirstAccount(*ledger, old);
  Must(ledger->ProposeLimit({.request_id = "limit",
                             .account_id = account,
                             .counter = "rho",
                             .new_limit = 20,
                             .reason = "more",
                             .proposed_by = Olga()}));
  Must(ledger->SealDataset(old.id, "content", Olga(), kFromRecords | kFromQuery));
  Must(Delete(*ledger, old));
  const Dataset fresh = Create(*ledger, "census", "create again");
  EXPECT_NE(fresh.id, old.id);
  EXPECT_EQ(fresh.state, DatasetState::kCreated);
  EXPECT_THAT(fresh.grants, IsEmpty());
  EXPECT_EQ(fresh.refusal_rules, "");
  EXPECT_EQ(fresh.facts, DatasetFacts());
  EXPECT_EQ(fresh.version, 0);
  EXPECT_THAT(Must(ledger->ListOpenProposals(fresh.id)), IsEmpty());
  EXPECT_NE(FirstAccount(*ledger, fresh), account);
  EXPECT_THAT(Must(ledger->ListVisibleDatasets(TestPrincipal("ana"))).datasets, IsEmpty());
  EXPECT_FALSE(Must(ledger->HasGrantInLineage(fresh.id, "ana", kAllGrantedRoles)));
  EXPECT_THAT(Kinds(*ledger, fresh.id), ElementsAre(kDatasetCreated));
  // The request that deleted the old one deletes nothing else.
  EXPECT_EQ(Must(ledger->DeleteDataset(
                {.request_id = "delete", .name = "census", .dataset_id = fresh.id, .actor = Olga()})),
            old.id);
  EXPECT_EQ(Must(ledger->GetDataset("census")).id, fresh.id);
  // And the new one can be deleted, too.
  EXPECT_EQ(Must(Delete(*ledger, fresh, "delete the new one")), fresh.id);
  EXPECT_THAT(Must(ledger->ListDeletedDatasets()), SizeIs(2));
  for (const std::string& id : {old.id, fresh.id}) EXPECT_THAT(Must(Open()->Verify(id)).findings, IsEmpty());
}

TEST_P(DataFactsConformance, ATombstoneThatIsEditedIsFound) {
  auto ledger = Open();
  const Dataset census = MakeDataset(*ledger, "census", 10);
  Must(Delete(*ledger, census));
  ledger.reset();
  EXPECT_THAT(FindingsAfter("UPDATE datasets SET name = 'census', deleted_name = ''", census.id),
              IsSupersetOf({HasSubstr("its state"), HasSubstr("whether it can be found by its name")}));
  EXPECT_THAT(FindingsAfter("UPDATE datasets SET name = 'other', deleted_name = 'census'", census.id),
              Contains(HasSubstr("whether it can be found by its name")));
  EXPECT_THAT(
      FindingsAfter(absl::StrCat("UPDATE datasets SET name = '~", census.id, "', deleted_name = 'mine'"),
                    census.id),
      Contains(HasSubstr("its name")));
}

TEST_P(DataFactsConformance, APartsFactsAreThoseOfTheWholeFromItsVersionOn) {
  auto ledger = Open();
  DatasetSpec spec = SpecOf("visits", 10);
  const AccountSpec account = spec.accounts.front();
  spec.accounts.clear();
  spec.partition_attribute = "region";
  for (const int64_t bin : {0, 1}) {
    AccountSpec own = account;
    own.scope_type = ScopeType::kPart;
    own.scope_key = absl::StrCat("part", bin);
    spec.parts.push_back({.bins = {bin}, .account = own});
  }
  const Dataset visits = Must(ledger->CreateDataset(spec));
  Must(ledger->SealPart(visits.id, "part0", "content 0", Olga()));
  const Dataset sealed = Must(ledger->SealPart(visits.id, "part1", "content 1", Olga(), kFromQuery));
  EXPECT_EQ(sealed.facts, kFromQuery);
  EXPECT_EQ(FactsAt(sealed, 1), DatasetFacts());
  EXPECT_EQ(FactsAt(sealed, 2), kFromQuery);
  EXPECT_THAT(Must(ledger->Verify(visits.id)).findings, IsEmpty());
  ledger.reset();
  EXPECT_THAT(FindingsAfter("UPDATE dataset_parts SET facts = 2", visits.id),
              Contains(HasSubstr("the entries say otherwise about it")));
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, DataFactsConformance, ::testing::ValuesIn(LedgerBackendNames()));

}  // namespace
}  // namespace curator::ledger
