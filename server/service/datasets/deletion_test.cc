// Datasets that were never charged, deleted by their owners, and what their names find afterwards.
#include "service/datasets/deletion.h"

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "ledger/history/entry_payload.h"
#include "service/accounts/budgets.h"
#include "service/datasets/grants.h"
#include "service/datasets/imports.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class DeletionTest : public ServiceTest {
 protected:
  absl::StatusOr<std::string> Delete(const std::string& dataset, const RequestId& request_id = NewRequestId(),
                                     const std::string& principal = "owner", Intent intent = Intent::kDo) {
    return DeleteDataset(
        services_,
        {.request_id = request_id, .principal = TestPrincipal(principal), .dataset = DatasetName(dataset)},
        intent);
  }

  absl::Status Find(const std::string& dataset, const std::string& principal = "owner") const {
    return FindDataset({*ledger_}, Method::kGetDataset, TestPrincipal(principal), DatasetName(dataset))
        .status();
  }

  absl::Status FindHistoryOf(const std::string& dataset, const std::string& principal) const {
    return FindHistory({*ledger_}, Method::kListLedgerEntries, TestPrincipal(principal), DatasetName(dataset))
        .status();
  }

  absl::Status Grant(const std::string& dataset, const std::string& grantee, int64_t roles) const {
    return GrantAccess({*ledger_},
                       {.principal = TestPrincipal("owner"),
                        .dataset = DatasetName(dataset),
                        .grantee = grantee,
                        .roles = roles},
                       Intent::kDo);
  }

  DatasetView MakeFilled(const std::string& name) {
    const DatasetView made = Make(People(name));
    Fill(name, PeopleCsv());
    return made;
  }
};

TEST_F(DeletionTest, RemovesTheRecordsAndKeepsTheHistoryForOwnersAndAuditors) {
  const std::string id = MakeFilled("census").record.id;
  ASSERT_TRUE(Grant("census", "uma", ledger::kGrantedAuditor).ok());
  ASSERT_TRUE(Grant("census", "ana", ledger::kGrantedAnalyst).ok());
  ASSERT_TRUE(Seal("census").ok());
  EXPECT_TRUE(store_->SealedRecords(id).ok());
  EXPECT_EQ(*Delete("census", NewRequestId(), "owner", Intent::kValidateOnly), id);
  EXPECT_TRUE(store_->SealedRecords(id).ok()) << "it was only checked";
  EXPECT_EQ(*Delete("census"), id);
  EXPECT_TRUE(absl::IsNotFound(store_->SealedRecords(id).status()));
  EXPECT_TRUE(absl::IsNotFound(Find("census")));
  EXPECT_TRUE(absl::IsNotFound(Find(id)));
  for (const char* who : {"owner", "uma"}) EXPECT_TRUE(FindHistoryOf(id, who).ok()) << who;
  for (const char* who : {"ana", "eve"}) EXPECT_TRUE(absl::IsNotFound(FindHistoryOf(id, who))) << who;
  EXPECT_TRUE(ledger_->Verify(id)->ok);
  // Nothing is imported or sealed there any more.
  EXPECT_FALSE(store_->BeginImport(id, PeopleSchema(), NewRequestId().text(), {}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->Seal(id, PeopleSchema(), "owner").status()));
}

TEST_F(DeletionTest, IsTheOwnersAndARepetitionDeletesNothingElse) {
  const std::string id = MakeFilled("census").record.id;
  ASSERT_TRUE(Grant("census", "ana", ledger::kGrantedAnalyst).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(Delete("census", NewRequestId(), "ana").status()));
  EXPECT_TRUE(absl::IsNotFound(Delete("census", NewRequestId(), "eve").status()));
  const RequestId request = NewRequestId();
  EXPECT_EQ(*Delete("census", request), id);
  const std::string fresh = MakeFilled("census").record.id;
  EXPECT_EQ(*Delete("census", request), id);
  EXPECT_TRUE(Find("census").ok());
  EXPECT_TRUE(absl::IsNotFound(Find("census", "ana"))) << "a grant of the old one is none of the new one";
  EXPECT_NE(fresh, id);
}

TEST_F(DeletionTest, AnInterruptedOneIsCompletedOnTheNextOccasion) {
  const DatasetView dataset = MakeFilled("census");
  const std::string id = dataset.record.id;
  ASSERT_TRUE(Seal("census").ok());
  // As if the server had ended after the entry.
  ASSERT_TRUE(ledger_
                  ->DeleteDataset({.request_id = NewRequestId().text(),
                                   .name = "census",
                                   .dataset_id = id,
                                   .actor = TestPrincipal("owner")})
                  .ok());
  EXPECT_TRUE(store_->SealedRecords(id).ok());
  std::set<std::string> done;
  ASSERT_TRUE(RemoveDeleted(*ledger_, *store_, done).ok());
  EXPECT_TRUE(done.contains(id));
  EXPECT_TRUE(absl::IsNotFound(store_->SealedRecords(id).status()));
}

TEST_F(DeletionTest, AnImportThatHadBegunBringsNothingBack) {
  const std::string id = MakeFilled("census").record.id;
  const auto import = BeginImport({*ledger_}, *store_,
                                  {.request_id = NewRequestId(),
                                   .principal = TestPrincipal("owner"),
                                   .dataset = DatasetName("census"),
                                   .part = "",
                                   .options = {.accept_same_file = true}},
                                  Intent::kDo)
                          .value();
  ASSERT_TRUE(import->Append(PeopleCsv()).ok());
  ASSERT_TRUE(Delete("census").ok());
  EXPECT_FALSE(import->Finish().ok());
  EXPECT_THAT(*store_->ListImports(id), IsEmpty());
}

TEST_F(DeletionTest, TheContentOfADeletedDatasetIsStillWarnedAbout) {
  MakeFilled("census");
  ASSERT_TRUE(Seal("census").ok());
  ASSERT_TRUE(Delete("census").ok());
  MakeFilled("census");
  const absl::Status refused =
      SealDataset({*ledger_}, *store_,
                  {.principal = TestPrincipal("owner"), .dataset = DatasetName("census")}, Intent::kDo)
          .status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("that you deleted before anything was asked"));
  EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("budget of its own")));
}

// The position of a reader is bound to a dataset by its id.
TEST_F(DeletionTest, AHistoryIsFoundByTheIdOfItsDatasetAlsoBeforeTheDeletion) {
  const std::string id = MakeFilled("census").record.id;
  ASSERT_TRUE(Grant("census", "ana", ledger::kGrantedAnalyst).ok());
  for (const char* who : {"owner", "ana"}) EXPECT_TRUE(FindHistoryOf(id, who).ok()) << who;
  EXPECT_TRUE(absl::IsNotFound(FindHistoryOf(id, "eve")));
  EXPECT_TRUE(absl::IsNotFound(Find(id))) << "elsewhere an id is no name";
  ASSERT_TRUE(Delete("census").ok());
  MakeFilled("census");
  EXPECT_EQ(ledger_->GetDatasetById(id)->state, ledger::DatasetState::kDeleted);
  EXPECT_TRUE(FindHistoryOf(id, "owner").ok());
  EXPECT_TRUE(absl::IsNotFound(FindHistoryOf(id, "ana")));
}

TEST_F(DeletionTest, AnotherDatasetsIdAsANameHidesNeitherOfThem) {
  std::string id = MakeFilled("census").record.id;
  // Names begin with a letter, and not all ids do.
  for (int i = 0; id.front() <= '9'; ++i) id = MakeFilled(absl::StrCat("census", i)).record.id;
  NewDataset named = People(id);
  named.principal = TestPrincipal("mallory");
  ASSERT_TRUE(CreateDataset({*ledger_}, named, Intent::kDo).ok());
  for (const char* who : {"owner", "mallory"}) EXPECT_TRUE(FindHistoryOf(id, who).ok()) << who;
  EXPECT_TRUE(absl::IsNotFound(FindHistoryOf(id, "eve")));
  ASSERT_TRUE(Delete(ledger_->GetDatasetById(id)->name).ok());
  for (const char* who : {"owner", "mallory"}) EXPECT_TRUE(FindHistoryOf(id, who).ok()) << who;
}

TEST_F(DeletionTest, LooksAreRememberedAndASchemaThatCameFromOneSaysSo) {
  NewDataset dataset = People("census");
  dataset.looks = {{.file_hash = "hash", .time_us = 7, .accepted_domain = true}};
  EXPECT_EQ(FieldOf(CreateDataset({*ledger_}, dataset, Intent::kDo).status()), "looks[0].accepted_domain");
  dataset.schema.domain_from_records = true;
  const DatasetView made = CreateDataset({*ledger_}, dataset, Intent::kDo).value();
  EXPECT_TRUE(made.record.facts.domain_from_records);
  EXPECT_TRUE(*ledger_->HasSeen(TestPrincipal("owner"), {"hash"}, "values"));
  EXPECT_EQ(ledger_->ListEntries(made.record.id, {})->back().kind, ledger::kOwnerLooked);
}

}  // namespace
}  // namespace curator::service
