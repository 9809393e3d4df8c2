#include "records/dataset_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "dp/data/sealed_table.h"
#include "records/testing/stored_datasets.h"

namespace curator::records {
namespace {

using testing::CodeRows;
using testing::ContentOf;
using ::testing::ElementsAre;
using testing::FilesBelow;
using ::testing::HasSubstr;
using testing::Import;
using ::testing::IsEmpty;
using testing::Open;
using testing::OpenStore;
using testing::Overwrite;
using testing::Push;
using testing::RowsOf;
using testing::ScratchFolder;
using testing::SexAge;

constexpr char kCsv[] = "sex,age\nM,35\nF,7\n";

TEST(DatasetStore, SealsImportsInTheirOrder) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  ASSERT_TRUE(Import(*store, SexAge(), "z", "sex,age\nM,10\n").ok());
  ASSERT_TRUE(Import(*store, SexAge(), "a", "age,sex\n20,F\n").ok());
  ASSERT_TRUE(Import(*store, SexAge(), "m", "sex,age\n").ok());
  const SealedContent sealed = store->Seal("people", SexAge(), "olga").value();
  EXPECT_EQ(sealed.records, 2);
  EXPECT_EQ(sealed.records_dropped, 0);
  EXPECT_EQ(RowsOf(*store->Load({"people", sealed.content_hash}).value().table), (CodeRows{{1, 1}, {0, 2}}));
}

TEST(DatasetStore, APublicDatasetIsReadAsAPublicTable) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  ASSERT_TRUE(Import(*store, SexAge(), "r1", kCsv).ok());
  const SealedContent sealed = store->SealPublic("people", SexAge(), "olga").value();
  EXPECT_EQ(store->SealPublic("people", SexAge(), "olga").value(), sealed);
  const auto table = store->LoadPublic("people", sealed.content_hash).value();
  ASSERT_EQ(table->rows(), 2);
  EXPECT_EQ(table->columns().columns[1][0], 3u);
  EXPECT_EQ(store->LoadPublic("people", std::string(32, 'x')).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Import(*store, SexAge(), "r2", kCsv).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(DatasetStore, TheHashesOfTwoOwnersNeverCompareEqual) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  ASSERT_TRUE(Import(*store, SexAge(), "r1", "sex,age\nM,15\n").ok());
  const SealedContent own = store->Seal("people", SexAge(), "olga").value();
  const SealedContent of_another = store->Seal("people", SexAge(), "alice").value();
  EXPECT_NE(own.content_hash, of_another.content_hash);
  EXPECT_EQ(own.content_hash, store->Seal("people", SexAge(), "olga")->content_hash);
  const SealedContent empty = store->Seal("empty", SexAge(), "olga").value();
  EXPECT_NE(empty.content_hash, store->Seal("empty", SexAge(), "alice")->content_hash);
}

TEST(DatasetStore, LoadsByHashesOfBothFormats) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  ASSERT_TRUE(Import(*store, SexAge(), "r1", "sex,age\nM,15\n").ok());
  const SealedContent sealed = store->Seal("people", SexAge(), "olga").value();
  EXPECT_EQ(sealed.first_format_hash.size(), Sha256("").size());
  EXPECT_TRUE(store->Load({"people", sealed.content_hash}).ok());
  EXPECT_TRUE(store->Load({"people", sealed.first_format_hash}).ok());
  std::string damaged = sealed.content_hash;
  damaged[damaged.find("olga")] = 'O';
  for (const std::string& other : {damaged, sealed.content_hash + '\0', std::string(), std::string(32, 'x')})
    EXPECT_EQ(store->Load({"people", other}).status().code(), absl::StatusCode::kDataLoss);
}

TEST(DatasetStore, WhatWasSealedAsPrivateIsNeverReadAsPublicNorTheOtherWayRound) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  ASSERT_TRUE(Import(*store, SexAge(), "r1", kCsv).ok());
  const SealedContent sealed = store->Seal("people", SexAge(), "olga").value();
  EXPECT_EQ(store->LoadPublic("people", sealed.content_hash).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store->SealPublic("people", SexAge(), "olga").status().code(),
            absl::StatusCode::kFailedPrecondition);
  const SealedContent open = store->SealPublic("open", SexAge(), "olga").value();
  EXPECT_EQ(store->Load({"open", open.content_hash}).status().code(), absl::StatusCode::kNotFound);
}

// Persons of at most two records, in the parts "first" (ages below 50) and "second" (the others).
class TwoParts {
 public:
  explicit TwoParts(DatasetStore& store) : store_(store) {}

  void Import(const std::string& part, std::string_view csv) {
    const PartRows rows{
        .part = part,
        .dataset = "people",
        .attribute = 1,
        .bins = part == "first" ? std::vector<int64_t>{0, 1, 2, 3, 4} : std::vector<int64_t>{5, 6, 7, 8, 9}};
    const auto import = store_.BeginImport(part, schema_, "r1", {.only = rows}).value();
    ASSERT_TRUE(Push(*import, csv).ok());
  }
  SealedContent Seal(const std::string& part) {
    return store_.SealPart(part, Whole(), schema_, "olga").value();
  }
  static PartIds Whole() {
    return {.dataset_id = "people", .list = [] { return std::vector<std::string>{"first", "second"}; }};
  }
  const dp::Schema& schema() const { return schema_; }

 private:
  DatasetStore& store_;
  const dp::Schema schema_ = SexAge(dp::PersonUnit{"pid", 2});
};

constexpr char kFirstCsv[] = "pid,sex,age\np1,M,10\np2,F,20\np1,M,30\np3,F,40\n";
constexpr char kSecondCsv[] = "pid,sex,age\np3,F,50\np1,M,60\np2,F,70\np2,F,80\np4,M,90\np3,F,90\n";

TEST(DatasetStore, APersonsBoundHoldsInAllPartsTogether) {
  const ScratchFolder folder;
  SealedContent first;
  {
    const auto store = OpenStore(folder);
    TwoParts parts(*store);
    parts.Import("first", kFirstCsv);
    parts.Import("second", kSecondCsv);
    first = parts.Seal("first");
    EXPECT_EQ(first.records, 4);
    EXPECT_EQ(first.records_dropped, 0);
  }
  const auto store = OpenStore(folder);
  TwoParts parts(*store);
  const SealedContent second = parts.Seal("second");
  EXPECT_EQ(second.records, 3) << "p1 has had two records, p2 and p3 one each";
  EXPECT_EQ(second.records_dropped, 3);
  EXPECT_EQ(RowsOf(*store->Load({"second", second.content_hash}).value().table),
            (CodeRows{{0, 5}, {0, 7}, {1, 9}}));
  EXPECT_EQ(parts.Seal("second"), second) << "sealing again changes nothing";
  EXPECT_EQ(parts.Seal("first"), first);
}

TEST(DatasetStore, ARefusedSealOfAPartLeavesNothingOfItsPersons) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  TwoParts parts(*store);
  parts.Import("first", kFirstCsv);
  const auto refuse = [](const SealedContent&) { return absl::FailedPreconditionError("equal content"); };
  const auto refused = store->SealPart("first", TwoParts::Whole(), parts.schema(), "olga", refuse);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(std::filesystem::exists(folder / "first" / "units"));
  const SealedId first{"first", parts.Seal("first").content_hash, true};
  EXPECT_TRUE(store->Load(first).ok());
}

TEST(DatasetStore, APersonIsOneUnitWhereverTheirRecordsLie) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  TwoParts parts(*store);
  parts.Import("first", kFirstCsv);
  parts.Import("second", kSecondCsv);
  const SealedId first{"first", parts.Seal("first").content_hash, true};
  const SealedId second{"second", parts.Seal("second").content_hash, true};
  const dp::SealedTableHandle joined = Open(*store, {first, second}).value();
  EXPECT_EQ(joined->units(), 4);
  const dp::ReadableScope readable(*joined);
  EXPECT_THAT(readable.unit_of_row(), ::testing::ElementsAre(0, 1, 0, 2, 2, 1, 3));
}

// What would be wrong: a bound that starts afresh in each part.
TEST(DatasetStoreCanary, PartsThatKnowNothingOfEachOtherKeepTooMany) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  TwoParts parts(*store);
  parts.Import("first", kFirstCsv);
  parts.Import("second", kSecondCsv);
  EXPECT_EQ(store->Seal("first", parts.schema(), "olga")->records, 4);
  EXPECT_EQ(store->Seal("second", parts.schema(), "olga")->records, 6);
}

TEST(DatasetStore, APartWhoseUnitsAreLostOrDamagedIsNotBuiltUpon) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  TwoParts parts(*store);
  parts.Import("first", kFirstCsv);
  const SealedId first{"first", parts.Seal("first").content_hash, true};
  ASSERT_TRUE(store->Load(first).ok());
  std::string units = ContentOf(folder / "first" / "units");
  EXPECT_EQ(units.find("p1"), std::string::npos) << "ids are kept as keyed hashes only";
  units[units.size() / 2] ^= 1;
  Overwrite(folder / "first" / "units", units);
  EXPECT_EQ(store->Load(first).status().code(), absl::StatusCode::kDataLoss);
  const PartIds whole = TwoParts::Whole();
  EXPECT_EQ(store->SealPart("second", whole, parts.schema(), "olga").status().code(),
            absl::StatusCode::kDataLoss);
  std::filesystem::remove(folder / "first" / "units");
  EXPECT_FALSE(store->Load(first).ok()) << "before a request is charged, not when its parts are joined";
  EXPECT_FALSE(store->SealPart("second", whole, parts.schema(), "olga").ok());
}

TEST(DatasetStore, SealingAgainReturnsTheSameAlsoAfterARestart) {
  const ScratchFolder folder;
  SealedContent sealed;
  {
    const auto store = OpenStore(folder);
    ASSERT_TRUE(Import(*store, SexAge(), "r1", kCsv).ok());
    sealed = store->Seal("people", SexAge(), "olga").value();
    EXPECT_EQ(store->Seal("people", SexAge(), "olga").value(), sealed);
  }
  const auto store = OpenStore(folder);
  EXPECT_EQ(store->Seal("people", SexAge(), "olga").value(), sealed);
  EXPECT_EQ(store->Load({"people", sealed.content_hash}).value().table->rows(), 2);
}

TEST(DatasetStore, ADatasetWithoutRecordsIsALegalTable) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  const dp::Schema schema = SexAge(dp::PersonUnit{"pid", 2});
  const SealedContent sealed = store->Seal("people", schema, "olga").value();
  EXPECT_EQ(sealed.records, 0);
  const dp::SealedTableHandle table = store->Load({"people", sealed.content_hash}).value().table;
  EXPECT_EQ(table->rows(), 0);
  EXPECT_EQ(table->units(), 0);
}

TEST(DatasetStore, KeepsTheFirstRecordsOfEachPersonAcrossImports) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  const dp::Schema schema = SexAge(dp::PersonUnit{"pid", 2});
  ASSERT_TRUE(Import(*store, schema, "r1", "pid,sex,age\np1,M,10\np2,F,20\np1,M,30\np1,M,40\n").ok());
  ASSERT_TRUE(Import(*store, schema, "r2", "sex,age,pid\nF,50,p2\nM,60,p1\nF,70,p3\nF,80,p2\n").ok());
  const SealedContent sealed = store->Seal("people", schema, "olga").value();
  EXPECT_EQ(sealed.records, 5);
  EXPECT_EQ(sealed.records_dropped, 3);
  const dp::SealedTableHandle table = store->Load({"people", sealed.content_hash}).value().table;
  EXPECT_EQ(RowsOf(*table), (CodeRows{{1, 1}, {0, 2}, {1, 3}, {0, 5}, {0, 7}}));
  EXPECT_EQ(table->units(), 3);
  EXPECT_THAT(dp::ReadableScope(*table).unit_of_row(), ElementsAre(0, 1, 0, 1, 2));
}

// Against the rule written down once more, with persons spread over many imports.
TEST(DatasetStore, NobodyOwnsMoreRecordsThanTheBound) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 10; ++round) {
    const ScratchFolder folder;
    const auto store = OpenStore(folder);
    const int64_t bound = static_cast<int64_t>(1 + random() % 4);
    const dp::Schema schema = SexAge(dp::GroupUnit{"home", bound});
    CodeRows expected;
    std::map<uint64_t, int64_t> records_of;
    int64_t dropped = 0;
    for (int import = 0; import < 3; ++import) {
      std::string csv = "home,sex,age\n";
      for (size_t row = 0; row < 100; ++row) {
        const uint64_t home = random() % 30;
        const uint32_t decade = static_cast<uint32_t>(random() % 10);
        csv += "h" + std::to_string(home) + ",F," + std::to_string(decade * 10) + "\n";
        if (++records_of[home] <= bound) {
          expected.push_back({0, decade});
        } else {
          ++dropped;
        }
      }
      ASSERT_TRUE(Import(*store, schema, "r" + std::to_string(import), csv).ok());
    }
    const SealedContent sealed = store->Seal("people", schema, "olga").value();
    ASSERT_EQ(sealed.records_dropped, dropped);
    const dp::SealedTableHandle table = store->Load({"people", sealed.content_hash}).value().table;
    ASSERT_EQ(RowsOf(*table), expected);
    std::map<uint32_t, int64_t> kept;
    const dp::ReadableScope readable(*table);
    for (const uint32_t unit : readable.unit_of_row()) ASSERT_LE(++kept[unit], bound);
    ASSERT_EQ(static_cast<int64_t>(kept.size()), table->units());
  }
}

TEST(DatasetStore, TheContentHashIsKeyedAndTellsContentsApart) {
  const auto hash_of = [](std::string_view csv, const std::string& key) {
    const ScratchFolder folder;
    const auto store = DatasetStore::Open(folder.path(), [key](std::string_view bytes) {
                         return Sha256(key + std::string(bytes));
                       }).value();
    EXPECT_TRUE(Import(*store, SexAge(), "r1", csv).ok());
    return store->Seal("people", SexAge(), "olga").value().content_hash;
  };
  EXPECT_EQ(hash_of(kCsv, "k"), hash_of(kCsv, "k"));
  EXPECT_NE(hash_of(kCsv, "k"), hash_of(kCsv, "other key"));
  EXPECT_NE(hash_of(kCsv, "k"), hash_of("sex,age\nM,35\nF,17\n", "k"));
}

TEST(DatasetStore, LoadingTellsAbsentDamagedAndExchangedApart) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  EXPECT_EQ(store->Load({"people", "x"}).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(Import(*store, SexAge(), "r1", kCsv).ok());
  const std::string hash = store->Seal("people", SexAge(), "olga").value().content_hash;
  EXPECT_EQ(store->Load({"people", std::string(32, 'x')}).status().code(), absl::StatusCode::kDataLoss);
  ASSERT_TRUE(store->Load({"people", hash}).ok());

  // A snapshot that is whole, with a right checksum, but of other records.
  const ScratchFolder elsewhere;
  const auto other = OpenStore(elsewhere);
  ASSERT_TRUE(Import(*other, SexAge(), "r1", "sex,age\nF,1\n").ok());
  ASSERT_TRUE(other->Seal("people", SexAge(), "olga").ok());
  const auto snapshot = folder / "people/snapshot";
  const std::string original = ContentOf(snapshot);
  Overwrite(snapshot, ContentOf(elsewhere / "people/snapshot"));
  EXPECT_EQ(store->Load({"people", hash}).status().code(), absl::StatusCode::kDataLoss);

  std::string damaged = original;
  damaged[damaged.size() - 40] = static_cast<char>(damaged[damaged.size() - 40] ^ 1);
  Overwrite(snapshot, damaged);
  EXPECT_EQ(store->Load({"people", hash}).status().code(), absl::StatusCode::kDataLoss);
}

TEST(DatasetStore, SealingNoticesMissingAndDamagedSegments) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  ASSERT_TRUE(Import(*store, SexAge(), "r1", kCsv).ok());
  const auto segment = folder / "people/segments/r1";
  const std::string original = ContentOf(segment);
  std::string damaged = original;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  Overwrite(segment, damaged);
  EXPECT_EQ(store->Seal("people", SexAge(), "olga").status().code(), absl::StatusCode::kDataLoss);
  std::filesystem::remove(segment);
  EXPECT_EQ(store->Seal("people", SexAge(), "olga").status().code(), absl::StatusCode::kDataLoss);
  Overwrite(segment, original);
  EXPECT_EQ(store->Seal("people", SexAge(), "olga").value().records, 2);
}

TEST(DatasetStore, WhatACrashLeavesIsRemovedOnOpening) {
  const ScratchFolder folder;
  ASSERT_TRUE(Import(*OpenStore(folder), SexAge(), "r1", kCsv).ok());
  const auto people = folder / "people";
  Overwrite(people / "segments/r2.12-3.making", "half a segment");
  Overwrite(people / "segments/r3", "a segment whose manifest was never written");
  Overwrite(people / "manifest.12-4.making", "half a manifest");
  Overwrite(people / "snapshot.12-5.making", "half a snapshot");
  const auto store = OpenStore(folder);
  EXPECT_THAT(FilesBelow(people), ElementsAre("manifest", "segments/r1"));
  EXPECT_EQ(Import(*store, SexAge(), "r3", kCsv, {.accept_same_file = true}).value().rows_accepted, 2);
  EXPECT_EQ(store->Seal("people", SexAge(), "olga").value().records, 4);
}

TEST(DatasetStore, SegmentsThatACrashLeftBesideASnapshotAreRemoved) {
  const ScratchFolder folder;
  std::string segment;
  {
    const auto store = OpenStore(folder);
    ASSERT_TRUE(Import(*store, SexAge(), "r1", kCsv).ok());
    segment = ContentOf(folder / "people/segments/r1");
    ASSERT_TRUE(store->Seal("people", SexAge(), "olga").ok());
  }
  Overwrite(folder / "people/segments/r1", segment);
  const auto store = OpenStore(folder);
  EXPECT_THAT(FilesBelow(folder / "people"), ElementsAre("manifest", "snapshot"));
}

TEST(DatasetStore, RefusesAnotherSchemaThanTheOneImportedUnder) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  ASSERT_TRUE(Import(*store, SexAge(), "r1", kCsv).ok());
  EXPECT_EQ(store->Seal("people", SexAge(dp::PersonUnit{"pid", 1}), "olga").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(DatasetStore, APathThatCannotBeADirectoryIsRefusedByName) {
  const ScratchFolder folder;
  Overwrite(folder / "file", "");
  for (const auto& path : {folder / "file", folder / "file" / "below"}) {
    const absl::Status status = DatasetStore::Open(path, testing::HashUnderTestKey).status();
    EXPECT_EQ(FieldViolationOf(status).value_or(FieldViolation{}).field, "data_dir") << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr((folder / "file").string()));
  }
}

}  // namespace
}  // namespace curator::records
