#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/errors.h"
#include "records/import.h"
#include "records/testing/stored_datasets.h"

namespace curator::records {
namespace {

using testing::CodeRows;
using ::testing::Contains;
using testing::ContentOf;
using ::testing::ElementsAre;
using testing::FilesBelow;
using testing::Gzipped;
using ::testing::HasSubstr;
using testing::Import;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::OpenStore;
using testing::Push;
using testing::RowsOf;
using testing::ScratchFolder;
using testing::SexAge;

constexpr char kCsv[] = "sex,age\r\n\"M\",35\r\nF,\"7\"\r\nx,200\r\nM,99\r\n";
const CodeRows kRows = {{1, 3}, {0, 0}, {1, 9}};

CodeRows SealedRows(DatasetStore& store, const dp::Schema& schema) {
  const SealedContent sealed = store.Seal("people", schema, "olga").value();
  return RowsOf(*store.Load({"people", sealed.content_hash}).value().table);
}

TEST(RecordImport, TakesARealFileInAnyPieces) {
  for (size_t cut = 0; cut <= std::string_view(kCsv).size(); ++cut) {
    const ScratchFolder folder;
    const auto store = OpenStore(folder);
    const auto import = store->BeginImport("people", SexAge(), "r1", {}).value();
    ASSERT_TRUE(import->Append(std::string_view(kCsv).substr(0, cut)).ok());
    ASSERT_TRUE(import->Append(std::string_view(kCsv).substr(cut)).ok());
    const ImportReport report = import->Finish().value();
    EXPECT_EQ(report.rows_accepted, 3);
    EXPECT_EQ(report.rows_rejected, 1);
    ASSERT_EQ(SealedRows(*store, SexAge()), kRows) << cut;
  }
}

TEST(RecordImport, TakesGzipInAnyPieces) {
  const std::string compressed = Gzipped(kCsv);
  for (size_t cut = 0; cut <= compressed.size(); ++cut) {
    const auto import = CheckRecords(SexAge(), {.compression = Compression::kGzip});
    ASSERT_TRUE(import->Append(compressed.substr(0, cut)).ok());
    ASSERT_TRUE(import->Append(compressed.substr(cut)).ok());
    ASSERT_EQ(import->Finish().value().rows_accepted, 3);
  }
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  ASSERT_TRUE(Import(*store, SexAge(), "r1", compressed, {.compression = Compression::kGzip}).ok());
  EXPECT_EQ(SealedRows(*store, SexAge()), kRows);
}

TEST(RecordImport, ABadFileLeavesNothing) {
  const std::string good_gzip = Gzipped(kCsv);
  const std::vector<std::pair<std::string, Compression>> bad = {
      {"", Compression::kNone},
      {"sex\nM\n", Compression::kNone},
      {"sex,age\nM,1\nM\n", Compression::kNone},
      {"sex,age\nM,\"1\n", Compression::kNone},
      {good_gzip, Compression::kNone},
      {kCsv, Compression::kGzip},
      {"", Compression::kGzip},
      {good_gzip.substr(0, good_gzip.size() - 1), Compression::kGzip}};
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  for (const auto& [bytes, compression] : bad) {
    const auto report = Import(*store, SexAge(), "r1", bytes, {.compression = compression});
    EXPECT_EQ(report.status().code(), absl::StatusCode::kInvalidArgument) << report.status();
    EXPECT_EQ(FieldViolationOf(report.status()).value_or(FieldViolation{}).field, "csv");
    EXPECT_THAT(FilesBelow(folder.path()), IsEmpty());
  }
  ASSERT_TRUE(Import(*store, SexAge(), "r1", kCsv).ok()) << "the request id is still free";
}

TEST(RecordImport, AnImportThatIsGivenUpLeavesNothing) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  {
    const auto import = store->BeginImport("people", SexAge(), "r1", {}).value();
    ASSERT_TRUE(import->Append(kCsv).ok());
    EXPECT_THAT(FilesBelow(folder.path()), ElementsAre(HasSubstr(".making")));
  }
  EXPECT_THAT(FilesBelow(folder.path()), IsEmpty());
  EXPECT_EQ(store->Seal("people", SexAge(), "olga").value().records, 0);
}

// While it lives, files cannot grow beyond a few bytes, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    before_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small = {bytes, limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }

 private:
  void (*before_)(int);
  rlimit limit_;
};

TEST(RecordImport, AFullDiskLeavesNothingAndTheSameRequestSucceedsLater) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  for (const rlim_t bytes : {0, 10, 100, 140, 250}) {  // full at the segment's start, in it, at the manifest
    const FullDisk full(bytes);
    const absl::Status status = Import(*store, SexAge(), "r1", kCsv).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    EXPECT_THAT(FilesBelow(folder.path()), Not(Contains("people/manifest"))) << bytes;
    EXPECT_THAT(FilesBelow(folder.path()), Not(Contains(HasSubstr("making")))) << bytes;
  }
  EXPECT_EQ(Import(*store, SexAge(), "r1", kCsv).value().rows_accepted, 3);
  {
    const FullDisk full(50);
    EXPECT_EQ(store->Seal("people", SexAge(), "olga").status().code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_THAT(FilesBelow(folder.path()), ElementsAre("people/manifest", "people/segments/r1"));
  EXPECT_EQ(SealedRows(*store, SexAge()), kRows);
}

TEST(RecordImport, AfterAnErrorEveryCallReturnsIt) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  const auto import = store->BeginImport("people", SexAge(), "r1", {}).value();
  const absl::Status first = import->Append("sex,age\nM\n");
  EXPECT_THAT(first.message(), HasSubstr("line 2"));
  EXPECT_EQ(import->Append("M,1\n"), first);
  EXPECT_EQ(import->Finish().status(), first);
}

TEST(RecordImport, TheSameRequestWithTheSameBytesGetsTheSameReport) {
  const ScratchFolder folder;
  const ImportReport report = Import(*OpenStore(folder), SexAge(), "r1", kCsv).value();
  const auto store = OpenStore(folder);
  EXPECT_EQ(Import(*store, SexAge(), "r1", kCsv).value(), report);
  EXPECT_EQ(SealedRows(*store, SexAge()), kRows) << "taken once";
  EXPECT_EQ(Import(*store, SexAge(), "r1", kCsv).value(), report) << "also after sealing";
}

TEST(RecordImport, TheSameRequestWithOtherBytesIsRefused) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  ASSERT_TRUE(Import(*store, SexAge(), "r1", kCsv).ok());
  const auto other = Import(*store, SexAge(), "r1", "sex,age\nM,1\n");
  EXPECT_EQ(other.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(other.status().message(), HasSubstr("r1"));
  EXPECT_EQ(SealedRows(*store, SexAge()), kRows);
}

TEST(RecordImport, OneOfTwoSimultaneousTwinsCounts) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  const auto first = store->BeginImport("people", SexAge(), "r1", {}).value();
  const auto same = store->BeginImport("people", SexAge(), "r1", {}).value();
  const auto other = store->BeginImport("people", SexAge(), "r1", {}).value();
  const ImportReport report = Push(*first, kCsv).value();
  EXPECT_EQ(Push(*same, kCsv).value(), report);
  EXPECT_EQ(Push(*other, "sex,age\nM,1\n").status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(FilesBelow(folder.path()), ElementsAre("people/manifest", "people/segments/r1"));
  EXPECT_EQ(SealedRows(*store, SexAge()), kRows);
}

TEST(RecordImport, ASealedDatasetTakesNoMore) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  const auto late = store->BeginImport("people", SexAge(), "late", {}).value();
  ASSERT_TRUE(Import(*store, SexAge(), "r1", kCsv).ok());
  ASSERT_TRUE(store->Seal("people", SexAge(), "olga").ok());
  EXPECT_EQ(Push(*late, kCsv).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Import(*store, SexAge(), "r2", kCsv).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(FilesBelow(folder.path()), ElementsAre("people/manifest", "people/snapshot"));
}

TEST(RecordImport, TheSameFileUnderAnotherRequestIdNamesTheFirstImport) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  EXPECT_EQ(Import(*store, SexAge(), "r1", kCsv)->same_file_as, "");
  EXPECT_EQ(Import(*store, SexAge(), "r2", "sex,age\nM,15\n")->same_file_as, "");
  const ImportOptions again{.accept_same_file = true};
  EXPECT_EQ(Import(*store, SexAge(), "r3", kCsv, again)->same_file_as, "r1");
  EXPECT_EQ(Import(*store, SexAge(), "r4", kCsv, again)->same_file_as, "r1");
  EXPECT_EQ(Import(*store, SexAge(), "r1", kCsv)->same_file_as, "") << "a retry, not another import";
  EXPECT_EQ(Import(*store, SexAge(), "r3", kCsv)->same_file_as, "r1") << "a retry has the same report";
  const auto elsewhere = store->BeginImport("others", SexAge(), "r5", {}).value();
  EXPECT_EQ(Push(*elsewhere, kCsv)->same_file_as, "") << "another dataset";
}

TEST(RecordImport, TheSameFileIsImportedAgainOnlyWhenThatIsAccepted) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  ASSERT_TRUE(Import(*store, SexAge(), "r1", kCsv).ok());
  const absl::Status refused = Import(*store, SexAge(), "r2", kCsv).status();
  EXPECT_EQ(AcceptanceNeededBy(refused), "SAME_FILE") << refused;
  EXPECT_THAT(refused.message(), HasSubstr("r1"));
  EXPECT_THAT(FilesBelow(folder.path()), ElementsAre("people/manifest", "people/segments/r1"));
  EXPECT_TRUE(Import(*store, SexAge(), "r1", kCsv).ok()) << "a retry, not another import";
  EXPECT_TRUE(Import(*store, SexAge(), "r2", kCsv, {.accept_same_file = true}).ok());
  EXPECT_EQ(SealedRows(*store, SexAge()).size(), 6);
}

TEST(RecordImport, ARequestThatIsRepeatedFromAnotherSourceIsRefused) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  ASSERT_TRUE(Import(*store, SexAge(), "r1", kCsv, {.source = RecordSource::kTable}).ok());
  EXPECT_TRUE(Import(*store, SexAge(), "r1", kCsv, {.source = RecordSource::kTable}).ok());
  EXPECT_EQ(Import(*store, SexAge(), "r1", kCsv).status().code(), absl::StatusCode::kAlreadyExists);
}

TEST(RecordImport, ParallelImportsAllCount) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&store, i] {
      const ImportOptions options{.accept_same_file = true};
      EXPECT_TRUE(Import(*store, SexAge(), "r" + std::to_string(i), kCsv, options).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store->Seal("people", SexAge(), "olga").value().records, 24);
}

TEST(RecordImport, IdsThatAreNoFileNamesAreRefused) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  for (const std::string& id : {std::string(), std::string(".."), std::string("a/b"), std::string("a.making"),
                                std::string("a\0b", 3), std::string(129, 'a')}) {
    EXPECT_EQ(FieldViolationOf(store->BeginImport(id, SexAge(), "r1", {}).status())->field, "dataset");
    EXPECT_EQ(FieldViolationOf(store->BeginImport("people", SexAge(), id, {}).status())->field, "request_id");
    EXPECT_EQ(FieldViolationOf(store->Seal(id, SexAge(), "olga").status())->field, "dataset");
    EXPECT_EQ(FieldViolationOf(store->Load({id, ""}).status())->field, "dataset");
  }
  EXPECT_THAT(FilesBelow(folder.path()), IsEmpty());
}

TEST(RecordImport, IdsOfPersonsAreNowhereOnDisk) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  const dp::Schema schema = SexAge(dp::PersonUnit{"pid", 2});
  ASSERT_TRUE(Import(*store, schema, "r1", "pid,sex,age\nNancy-Pelham-77,M,35\n").ok());
  for (const std::string& name : FilesBelow(folder.path())) {
    EXPECT_THAT(ContentOf(folder / name), Not(HasSubstr("Nancy"))) << name;
  }
  const std::string key = testing::HashUnderTestKey("curator unit id:people:Nancy-Pelham-77").substr(0, 16);
  EXPECT_THAT(ContentOf(folder / "people/segments/r1"), HasSubstr(key)) << "the twin that must be found";
  ASSERT_TRUE(store->Seal("people", schema, "olga").ok());
  for (const std::string& name : FilesBelow(folder.path())) {
    EXPECT_THAT(ContentOf(folder / name), Not(HasSubstr(key))) << "sealed, not even its keyed hash: " << name;
  }
}

TEST(CheckRecords, ReportsAsAnImportWouldAndWritesNothing) {
  const ScratchFolder folder;
  const ImportReport checked = Push(*CheckRecords(SexAge(), {}), kCsv).value();
  EXPECT_EQ(checked, Import(*OpenStore(folder), SexAge(), "r1", kCsv).value());
  EXPECT_EQ(Push(*CheckRecords(SexAge(), {}), "age\n1\n").status().message(),
            "csv: the header lacks the column \"sex\"");
  EXPECT_EQ(
      Push(*CheckRecords(SexAge(), {.outside_domain = OutsideDomain::kFailImport}), kCsv).status().code(),
      absl::StatusCode::kInvalidArgument);
}

// No input may do more than be refused.
TEST(CheckRecords, SurvivesRandomBytes) {
  std::mt19937_64 random(9);
  constexpr std::string_view kAlphabet = "sexage,\"\r\n FM19\xC3\xA9";
  for (int round = 0; round < 3000; ++round) {
    std::string text = random() % 2 == 0 ? "sex,age\n" : "";
    for (size_t left = random() % 60; left > 0; --left) text += kAlphabet[random() % kAlphabet.size()];
    if (random() % 4 == 0) text = Gzipped(text);
    if (random() % 4 == 0 && !text.empty()) text[random() % text.size()] = static_cast<char>(random());
    const auto import =
        CheckRecords(SexAge(), {.compression = random() % 2 == 0 ? Compression::kGzip : Compression::kNone});
    const absl::StatusOr<ImportReport> report = Push(*import, text);
    if (report.ok()) {
      EXPECT_EQ(report->rows_read, report->rows_accepted + report->rows_rejected);
    } else {
      EXPECT_EQ(report.status().code(), absl::StatusCode::kInvalidArgument);
    }
  }
}

}  // namespace
}  // namespace curator::records
