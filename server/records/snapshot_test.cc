#include "records/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "dp/data/sealed_table.h"
#include "records/files.h"
#include "records/testing/stored_datasets.h"

namespace curator::records {
namespace {

using testing::CodeRows;
using testing::ContentOf;
using ::testing::ElementsAre;
using testing::Overwrite;
using testing::RowsOf;
using testing::ScratchFolder;

CombinedRecords SomeRecords(dp::RowOwner owner) {
  CombinedRecords records{
      .columns = dp::CodedColumns({3, 300}), .owner = owner, .group_of_row = {}, .records_dropped = 4};
  for (const std::vector<uint32_t>& row : CodeRows{{0, 299}, {2, 1}, {1, 0}}) {
    EXPECT_TRUE(records.columns.AppendRow(row).ok());
  }
  if (owner != dp::RowOwner::kItself) records.group_of_row = {0, 1, 0};
  return records;
}

TEST(Snapshot, ComesBackAsItWas) {
  const ScratchFolder folder;
  const SnapshotFacts written = WriteSnapshot(folder / "s", SomeRecords(dp::RowOwner::kUnit)).value();
  EXPECT_EQ(written.records, 3);
  EXPECT_EQ(written.records_dropped, 4);
  EXPECT_EQ(ReadSnapshotFacts(folder / "s").value().digest, written.digest);

  const Snapshot snapshot = ReadSnapshot(folder / "s").value();
  EXPECT_EQ(snapshot.facts.digest, written.digest);
  EXPECT_EQ(RowsOf(*snapshot.table), (CodeRows{{0, 299}, {2, 1}, {1, 0}}));
  EXPECT_THAT(dp::ReadableScope(*snapshot.table).unit_of_row(), ElementsAre(0, 1, 0));
}

TEST(Snapshot, GroupsThatAreNoUnitsComeBackAsSuch) {
  const ScratchFolder folder;
  ASSERT_TRUE(WriteSnapshot(folder / "s", SomeRecords(dp::RowOwner::kItselfInGroup)).ok());
  const Snapshot snapshot = ReadSnapshot(folder / "s").value();
  EXPECT_THAT(dp::ReadableScope(*snapshot.table).group_of_row(), ElementsAre(0, 1, 0));
  EXPECT_EQ(snapshot.table->groups(), 2);
  EXPECT_EQ(snapshot.table->units(), std::nullopt);
}

TEST(Snapshot, MayBeEmpty) {
  const ScratchFolder folder;
  CombinedRecords nothing{.columns = dp::CodedColumns({3}),
                          .owner = dp::RowOwner::kUnit,
                          .group_of_row = {},
                          .records_dropped = 0};
  ASSERT_TRUE(WriteSnapshot(folder / "s", nothing).ok());
  EXPECT_EQ(ReadSnapshot(folder / "s").value().table->rows(), 0);
}

TEST(Snapshot, RecordsWithoutAttributesAreDamage) {
  const ScratchFolder folder;
  const auto path = folder / "s";
  CombinedRecords nothing{.columns = dp::CodedColumns({}),
                          .owner = dp::RowOwner::kItself,
                          .group_of_row = {},
                          .records_dropped = 0};
  ASSERT_TRUE(WriteSnapshot(path, nothing).ok());
  std::string content = ContentOf(path);
  content.resize(content.size() - kDigestBytes);
  constexpr size_t kRecordsAt = 8 + 8 + 16 + 8 + 8;  // behind two lengths, the tag, the version and no sizes
  content[kRecordsAt + 7] = 9;
  Digest digest;
  digest.Add(content);
  Overwrite(path, content + digest.Finish());
  ASSERT_EQ(ReadSnapshotFacts(path).value().records, 9) << "the place of the number is another";
  EXPECT_EQ(ReadSnapshot(path).status().code(), absl::StatusCode::kDataLoss);
}

TEST(Snapshot, AbsentIsNotDamaged) {
  const ScratchFolder folder;
  EXPECT_EQ(ReadSnapshot(folder / "s").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadSnapshotFacts(folder / "s").status().code(), absl::StatusCode::kNotFound);
}

TEST(Snapshot, AnyChangedMissingOrAddedByteIsNoticed) {
  const ScratchFolder folder;
  const auto path = folder / "s";
  for (const dp::RowOwner owner :
       {dp::RowOwner::kItself, dp::RowOwner::kUnit, dp::RowOwner::kItselfInGroup}) {
    ASSERT_TRUE(WriteSnapshot(path, SomeRecords(owner)).ok());
    const std::string written = ContentOf(path);
    for (size_t i = 0; i < written.size(); ++i) {
      for (const int bit : {0x01, 0x40, 0x80}) {
        std::string changed = written;
        changed[i] = static_cast<char>(changed[i] ^ bit);
        Overwrite(path, changed);
        ASSERT_EQ(ReadSnapshot(path).status().code(), absl::StatusCode::kDataLoss) << i;
      }
      Overwrite(path, written.substr(0, i));
      ASSERT_EQ(ReadSnapshot(path).status().code(), absl::StatusCode::kDataLoss) << i;
    }
    Overwrite(path, written + "x");
    EXPECT_EQ(ReadSnapshot(path).status().code(), absl::StatusCode::kDataLoss);
  }
}

}  // namespace
}  // namespace curator::records
