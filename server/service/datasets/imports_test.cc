// Imports as their owner makes, lists and undoes them.
#include "service/datasets/imports.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/datasets/grants.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kCsv[] = "sex,age,region\nFemale,33,1\n";

class ImportsTest : public ServiceTest {
 protected:
  absl::StatusOr<records::ImportReport> Import(const std::string& csv, const std::string& dataset = "census",
                                               const std::string& part = "",
                                               const records::ImportOptions& options = {}) {
    last_ = NewRequestId();
    const auto import = BeginImport({*ledger_}, *store_,
                                    {.request_id = *last_,
                                     .principal = TestPrincipal("owner"),
                                     .dataset = DatasetName(dataset),
                                     .part = part,
                                     .options = options},
                                    Intent::kDo);
    if (!import.ok()) return import.status();
    if (const absl::Status taken = (*import)->Append(csv); !taken.ok()) return taken;
    return (*import)->Finish();
  }

  // The request id of the last import.
  const std::string& last() const { return last_->text(); }

  absl::Status Undo(const std::string& import_request_id, const std::string& dataset = "census",
                    const std::string& principal = "owner", const RequestId& request_id = NewRequestId(),
                    Intent intent = Intent::kDo) const {
    return UndoImport({*ledger_}, *store_,
                      {.request_id = request_id,
                       .principal = TestPrincipal(principal),
                       .dataset = DatasetName(dataset),
                       .import_request_id = import_request_id},
                      intent);
  }

  ImportPage List(std::string_view after = "", int64_t limit = 100,
                  const std::string& dataset = "census") const {
    return ListImports({*ledger_}, *store_, TestPrincipal("owner"), DatasetName(dataset), after, limit)
        .value();
  }

  std::vector<std::string> Listed(const std::string& dataset = "census") const {
    std::vector<std::string> ids;
    const ImportPage page = List("", 100, dataset);
    for (const ListedImport& import : page.imports) ids.push_back(import.stored.request_id);
    return ids;
  }

 private:
  std::optional<RequestId> last_;
};

TEST_F(ImportsTest, AreListedPageByPageWithTheirParts) {
  Make(DividedPeople("visits"));
  std::vector<std::string> ids;
  for (const char* part : {"north", "south", "north", "north"}) {
    const std::string csv = absl::StrCat("sex,age,region\nFemale,", ids.size(), ",1\nMale,3,2\n");
    ASSERT_EQ(Import(csv, "visits", part)->rows_accepted, 1);
    ids.push_back(last());
  }
  std::vector<std::string> listed;
  std::vector<std::string> parts;
  std::string after;
  do {
    const ImportPage page = List(after, 3, "visits");
    for (const ListedImport& import : page.imports) {
      listed.push_back(import.stored.request_id);
      parts.push_back(import.part);
      EXPECT_EQ(import.stored.rows_accepted, 1);
      EXPECT_GT(import.stored.time_us, 0);
    }
    after = page.next;
  } while (!after.empty());
  EXPECT_EQ(listed, ids);
  EXPECT_THAT(parts, ElementsAre("north", "south", "north", "north"));
}

TEST_F(ImportsTest, AreUndoneUntilTheDatasetIsSealed) {
  Make(People("census"));
  ASSERT_TRUE(Import(PeopleCsv()).ok());
  const std::string mistake = last();
  ASSERT_TRUE(Import(kCsv).ok());
  const std::string kept = last();
  EXPECT_TRUE(Undo(mistake, "census", "owner", NewRequestId(), Intent::kValidateOnly).ok());
  EXPECT_THAT(Listed(), ElementsAre(mistake, kept)) << "only checked";
  const RequestId request_id = NewRequestId();
  ASSERT_TRUE(Undo(mistake, "census", "owner", request_id).ok());
  EXPECT_THAT(Listed(), ElementsAre(kept));
  EXPECT_TRUE(Undo(mistake, "census", "owner", request_id).ok()) << "the same again";
  const absl::Status unknown = Undo(NewRequestId().text());
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(unknown.message().find("curator dataset imports census"), std::string::npos) << unknown;
  EXPECT_EQ(Seal("census")->records, 1);
  EXPECT_EQ(Undo(kept).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Listed(), ElementsAre(kept)) << "also once it is sealed";
}

TEST_F(ImportsTest, ThatAreUndoneAreInTheHistoryWithoutTheirRows) {
  const std::string id = Make(People("census")).record.id;
  ASSERT_TRUE(Import(kCsv).ok());
  const std::string mistake = last();
  ASSERT_TRUE(Undo(mistake).ok());
  ASSERT_TRUE(Undo(mistake).ok()) << "by another request";
  EXPECT_THAT(ledger_->UndoneImports(id).value(), ElementsAre(mistake));
  ASSERT_TRUE(Seal("census").ok());
  EXPECT_TRUE(Undo(mistake).ok()) << "a repetition, also once it is sealed";
}

// As when the server ends between the entry and the removal.
TEST_F(ImportsTest, WhoseUndoWasInterruptedCountNoMore) {
  const std::string id = Make(People("census")).record.id;
  const auto interrupt = [&](const std::string& import_request_id) {
    ASSERT_TRUE(ledger_
                    ->RecordImportUndone({.request_id = NewRequestId().text(),
                                          .dataset_id = id,
                                          .part = {},
                                          .import_request_id = import_request_id,
                                          .file_hash = Sha256(import_request_id),
                                          .actor = TestPrincipal("owner")})
                    .ok());
  };
  ASSERT_TRUE(Import(kCsv).ok());
  interrupt(last());
  EXPECT_TRUE(Listed().empty());
  ASSERT_TRUE(Import(kCsv).ok()) << "no earlier import has these bytes";
  interrupt(last());
  ASSERT_TRUE(Import(PeopleCsv()).ok());
  ASSERT_TRUE(Import(kCsv).ok());
  interrupt(last());
  EXPECT_EQ(Seal("census")->records, 80);
}

// As when it is undone while the seal begins, on another server.
TEST_F(ImportsTest, ThatAreUndoneMeanwhileAreNotSealed) {
  const DatasetView dataset = Make(People("census"));
  const ImportTarget target = TargetOf(dataset, "").value();
  ASSERT_TRUE(Import(kCsv).ok());
  const std::string kept = last();
  ASSERT_TRUE(Import(PeopleCsv()).ok());
  ASSERT_TRUE(Undo(last()).ok());
  EXPECT_TRUE(CheckNoneIsUndone(*ledger_, dataset, target, {kept}).ok());
  EXPECT_EQ(CheckNoneIsUndone(*ledger_, dataset, target, {kept, last()}).code(), absl::StatusCode::kAborted);
}

TEST_F(ImportsTest, OfAQueryMakeADatasetOfRowsFromAQueryForEver) {
  for (const char* name : {"census", "visits"}) Make(People(name));
  ASSERT_TRUE(Import(kCsv, "census", "", {.source = records::RecordSource::kQuery}).ok());
  ASSERT_TRUE(Import(PeopleCsv(), "visits", "", {.source = records::RecordSource::kTable}).ok());
  EXPECT_FALSE(Seal("visits")->dataset.record.facts.rows_from_query);
  EXPECT_TRUE(Seal("census")->dataset.record.facts.rows_from_query);
  EXPECT_TRUE(
      GetDataset({*ledger_}, TestPrincipal("owner"), DatasetName("census"))->record.facts.rows_from_query);
}

TEST_F(ImportsTest, OfAPartAreUndoneUntilThePartIsSealed) {
  Make(DividedPeople("visits"));
  ASSERT_TRUE(Import(PeopleCsv(2), "visits", "north").ok());
  const std::string north = last();
  ASSERT_TRUE(Import(PeopleCsv(3), "visits", "south").ok());
  const std::string south = last();
  ASSERT_TRUE(Seal("visits", "north").ok());
  EXPECT_EQ(Undo(north, "visits").code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(Undo(south, "visits").ok());
  EXPECT_THAT(Listed("visits"), ElementsAre(north));
}

TEST_F(ImportsTest, AreTheirOwnersAlone) {
  Make(People("census"));
  ASSERT_TRUE(Import(kCsv).ok());
  EXPECT_EQ(Undo(last(), "census", "bob").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(
      ListImports({*ledger_}, *store_, TestPrincipal("bob"), DatasetName("census"), "", 100).status().code(),
      absl::StatusCode::kNotFound);
  ASSERT_TRUE(
      GrantAccess({*ledger_},
                  {.principal = TestPrincipal("owner"), .dataset = DatasetName("census"), .grantee = "bob"},
                  Intent::kDo)
          .ok());
  EXPECT_EQ(Undo(last(), "census", "bob").code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(Listed(), ElementsAre(last()));
}

TEST_F(ImportsTest, OfAnArchivedDatasetAreNotUndone) {
  Make(People("census"));
  ASSERT_TRUE(Import(kCsv).ok());
  ASSERT_TRUE(
      ArchiveDataset({*ledger_}, *store_, TestPrincipal("owner"), DatasetName("census"), Intent::kDo).ok());
  EXPECT_EQ(Undo(last()).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ImportsTest, TheSameFileIsImportedAgainOnlyWhenThatIsAcceptedOrTheFirstWasUndone) {
  Make(People("census"));
  ASSERT_TRUE(Import(kCsv).ok());
  const std::string first = last();
  const absl::Status refused = Import(kCsv).status();
  EXPECT_EQ(AcceptanceNeededBy(refused), "SAME_FILE");
  EXPECT_THAT(std::string(refused.message()), HasSubstr(first));
  EXPECT_EQ(Import(kCsv, "census", "", {.accept_same_file = true})->same_file_as, first);
  for (const std::string& import : Listed()) ASSERT_TRUE(Undo(import).ok());
  EXPECT_EQ(Import(kCsv)->same_file_as, "");
}

TEST_F(ImportsTest, ADatasetWithoutRecordsIsSealedOnlyWhenThatIsAccepted) {
  Make(People("census"));
  const auto seal = [&](bool accept) {
    return SealDataset({*ledger_}, *store_,
                       {.principal = TestPrincipal("owner"),
                        .dataset = DatasetName("census"),
                        .accept_no_records = accept},
                       Intent::kDo)
        .status();
  };
  ASSERT_TRUE(Import("sex,age,region\nnone,1,1\n").ok());
  EXPECT_EQ(AcceptanceNeededBy(seal(false)), "NO_RECORDS");
  EXPECT_TRUE(Import("sex,age,region\nother,1,1\n").ok()) << "it is open still";
  EXPECT_TRUE(seal(true).ok());
  EXPECT_TRUE(seal(false).ok()) << "it is sealed already";
}

}  // namespace
}  // namespace curator::service
