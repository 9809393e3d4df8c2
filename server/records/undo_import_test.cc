#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/errors.h"
#include "records/dataset_store.h"
#include "records/testing/stored_datasets.h"

namespace curator::records {
namespace {

using testing::CodeRows;
using ::testing::ElementsAre;
using testing::FilesBelow;
using ::testing::HasSubstr;
using testing::Import;
using ::testing::IsEmpty;
using testing::OpenStore;
using testing::RowsOf;
using testing::ScratchFolder;
using testing::SexAge;

constexpr char kFirst[] = "sex,age\nM,35\n";
constexpr char kSecond[] = "sex,age\nF,7\n";

absl::Status Recorded(const std::string&) {
  return absl::OkStatus();
}

std::vector<std::string> ImportsIn(const DatasetStore& store) {
  std::vector<std::string> ids;
  const std::vector<StoredImport> imports = store.ListImports("people").value();
  for (const StoredImport& import : imports) ids.push_back(import.request_id);
  return ids;
}

class UndoImportTest : public ::testing::Test {
 protected:
  UndoImportTest() {
    EXPECT_TRUE(Import(*store_, SexAge(), "r1", kFirst, {.time_us = 50}).ok());
    EXPECT_TRUE(
        Import(*store_, SexAge(), "r2", kSecond, {.source = RecordSource::kQuery, .time_us = 40}).ok());
  }

  CodeRows SealedRows() {
    const SealedContent sealed = store_->Seal("people", SexAge(), "olga").value();
    return RowsOf(*store_->Load({"people", sealed.content_hash}).value().table);
  }

  ScratchFolder folder_;
  std::unique_ptr<DatasetStore> store_ = OpenStore(folder_);
};

TEST_F(UndoImportTest, ImportsAreListedFromTheFirstToTheLast) {
  const std::vector<StoredImport> imports = store_->ListImports("people").value();
  ASSERT_EQ(imports.size(), 2);
  EXPECT_EQ(imports[0].request_id, "r1");
  EXPECT_EQ(imports[0].time_us, 50);
  EXPECT_EQ(imports[0].rows_accepted, 1);
  EXPECT_EQ(imports[0].source, RecordSource::kFile);
  EXPECT_EQ(imports[1].request_id, "r2");
  EXPECT_EQ(imports[1].time_us, 50) << "a clock that went back changes no order";
  EXPECT_EQ(imports[1].source, RecordSource::kQuery);
  EXPECT_LT(imports[0].sequence, imports[1].sequence);
  EXPECT_THAT(OpenStore(folder_)->ListImports("nobody").value(), IsEmpty());
}

TEST_F(UndoImportTest, RemovesTheRecordsOnceItIsRecorded) {
  std::string recorded;
  const auto record = [&](const std::string& file_hash) {
    recorded = file_hash;
    return absl::OkStatus();
  };
  ASSERT_TRUE(store_->UndoImport("people", "r1", record).ok());
  EXPECT_EQ(recorded, store_->FileHash(Sha256(kFirst)));
  EXPECT_THAT(FilesBelow(folder_.path()), ElementsAre("people/manifest", "people/segments/r2"));
  EXPECT_THAT(ImportsIn(*store_), ElementsAre("r2"));
  EXPECT_EQ(SealedRows(), (CodeRows{{0, 0}}));
}

TEST_F(UndoImportTest, WhatIsNotRecordedStays) {
  const auto fail = [](const std::string&) { return absl::UnavailableError("the ledger is away"); };
  EXPECT_EQ(store_->UndoImport("people", "r1", fail).code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(ImportsIn(*store_), ElementsAre("r1", "r2"));
  EXPECT_EQ(SealedRows(), (CodeRows{{1, 3}, {0, 0}}));
}

TEST_F(UndoImportTest, ARepetitionIsRecordedAgainAndChangesNothing) {
  ASSERT_TRUE(store_->UndoImport("people", "r1", Recorded).ok());
  std::string recorded;
  const auto record = [&](const std::string& file_hash) {
    recorded = file_hash;
    return absl::OkStatus();
  };
  EXPECT_TRUE(OpenStore(folder_)->UndoImport("people", "r1", record).ok());
  EXPECT_EQ(recorded, store_->FileHash(Sha256(kFirst)));
  EXPECT_THAT(ImportsIn(*store_), ElementsAre("r2"));
}

TEST_F(UndoImportTest, AnUnknownImportAndASealedDatasetAreRefusedUnrecorded) {
  const auto never = [](const std::string&) -> absl::Status {
    ADD_FAILURE() << "recorded";
    return absl::OkStatus();
  };
  EXPECT_EQ(store_->UndoImport("people", "r3", never).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FieldViolationOf(store_->UndoImport("people", "../r1", never))->field, "import_request_id");
  ASSERT_TRUE(store_->Seal("people", SexAge(), "olga").ok());
  EXPECT_EQ(store_->UndoImport("people", "r1", never).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(UndoImportTest, ALateRepetitionOfTheImportDoesNotBringItBack) {
  const auto begun = store_->BeginImport("people", SexAge(), "r9", {}).value();
  ASSERT_TRUE(Import(*store_, SexAge(), "r9", "sex,age\nM,1\n").ok());
  for (const char* import : {"r1", "r9"}) ASSERT_TRUE(store_->UndoImport("people", import, Recorded).ok());
  const absl::Status late = Import(*store_, SexAge(), "r1", kFirst).status();
  EXPECT_EQ(late.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(late.message(), HasSubstr("undone"));
  EXPECT_EQ(testing::Push(*begun, "sex,age\nM,1\n").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Import(*store_, SexAge(), "r4", kFirst).ok()) << "another request, which needs no acceptance";
  EXPECT_THAT(ImportsIn(*store_), ElementsAre("r2", "r4"));
}

TEST_F(UndoImportTest, WhatACrashLeftAfterTheRecordIsRemovedFromTheListOfUndone) {
  ASSERT_TRUE(store_->RemoveUndone("people", {"r1", "never imported here"}).ok());
  EXPECT_THAT(FilesBelow(folder_.path()), ElementsAre("people/manifest", "people/segments/r2"));
  ASSERT_TRUE(store_->RemoveUndone("people", {"r1"}).ok());
  EXPECT_THAT(ImportsIn(*store_), ElementsAre("r2"));
}

TEST_F(UndoImportTest, ASegmentThatACrashLeftIsRemovedOnOpening) {
  const std::string segment = testing::ContentOf(folder_ / "people/segments/r1");
  ASSERT_TRUE(store_->UndoImport("people", "r1", Recorded).ok());
  testing::Overwrite(folder_ / "people/segments/r1", segment);
  store_ = OpenStore(folder_);
  EXPECT_THAT(FilesBelow(folder_.path()), ElementsAre("people/manifest", "people/segments/r2"));
}

TEST_F(UndoImportTest, TheSealSaysWhichImportsThereAreAndThatOneIsAQuery) {
  SealedContent seen;
  const auto look = [&](const SealedContent& content) {
    seen = content;
    return absl::AbortedError("only a look");
  };
  EXPECT_FALSE(store_->Seal("people", SexAge(), "olga", look).ok());
  EXPECT_THAT(seen.import_request_ids, ElementsAre("r1", "r2"));
  EXPECT_THAT(seen.file_hashes,
              ElementsAre(store_->FileHash(Sha256(kFirst)), store_->FileHash(Sha256(kSecond))));
  EXPECT_TRUE(seen.rows_from_query);
  ASSERT_TRUE(store_->UndoImport("people", "r2", Recorded).ok());
  EXPECT_FALSE(store_->Seal("people", SexAge(), "olga")->rows_from_query) << "the query was undone";
}

}  // namespace
}  // namespace curator::records
