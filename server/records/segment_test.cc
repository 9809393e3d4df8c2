#include "records/segment.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "records/testing/stored_datasets.h"

namespace curator::records {
namespace {

using testing::ContentOf;
using testing::Overwrite;
using testing::ScratchFolder;

const TableShape kShape = {.sizes = {3, 300, 70000}, .owner = dp::RowOwner::kUnit};

std::string WriteRows(const std::filesystem::path& path, uint32_t rows) {
  const auto writer = SegmentWriter::Create(path, kShape).value();
  for (uint32_t row = 0; row < rows; ++row) {
    const std::vector<uint32_t> codes = {row % 3, row % 300, row % 70000};
    UnitKey unit = {};
    unit[0] = static_cast<char>(row);
    EXPECT_TRUE(writer->Append(codes, &unit).ok());
  }
  const std::string digest = writer->Finish().value();
  EXPECT_TRUE(writer->Commit().ok());
  return digest;
}

// Reads to the end as whoever combines segments does.
absl::Status ReadThrough(const std::filesystem::path& path, const TableShape& shape,
                         std::string_view digest) {
  absl::StatusOr<std::unique_ptr<SegmentReader>> reader = SegmentReader::Open(path, shape);
  if (!reader.ok()) return reader.status();
  while (true) {
    const absl::StatusOr<const RowBlock*> block = (*reader)->Next();
    if (!block.ok()) return block.status();
    if (*block == nullptr) return (*reader)->Finish(digest);
  }
}

TEST(Segment, GivesBackItsRowsInBlocks) {
  const ScratchFolder folder;
  constexpr uint32_t kRows = 70'000;  // more than a block
  const std::string digest = WriteRows(folder / "s", kRows);
  const auto reader = SegmentReader::Open(folder / "s", kShape).value();
  uint32_t row = 0;
  int blocks = 0;
  for (const RowBlock* block = reader->Next().value(); block != nullptr; block = reader->Next().value()) {
    ++blocks;
    for (size_t i = 0; i < block->rows; ++i, ++row) {
      uint16_t second = 0;
      std::memcpy(&second, block->codes[1].data() + 2 * i, 2);
      ASSERT_EQ(static_cast<uint32_t>(block->codes[0][i]), row % 3);
      ASSERT_EQ(second, row % 300);
      ASSERT_EQ(block->groups[i][0], static_cast<char>(row));
    }
  }
  EXPECT_EQ(row, kRows);
  EXPECT_EQ(blocks, 2);
  EXPECT_TRUE(reader->Finish(digest).ok());
}

TEST(Segment, MayBeEmpty) {
  const ScratchFolder folder;
  const std::string digest = WriteRows(folder / "s", 0);
  EXPECT_TRUE(ReadThrough(folder / "s", kShape, digest).ok());
}

TEST(Segment, AnotherShapeIsRefused) {
  const ScratchFolder folder;
  const std::string digest = WriteRows(folder / "s", 5);
  const TableShape other = {.sizes = {3, 301, 70000}, .owner = dp::RowOwner::kUnit};
  EXPECT_EQ(ReadThrough(folder / "s", other, digest).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Segment, AnyChangedMissingOrAddedByteIsNoticed) {
  const ScratchFolder folder;
  const auto path = folder / "s";
  const std::string digest = WriteRows(path, 20);
  ASSERT_TRUE(ReadThrough(path, kShape, digest).ok());
  const std::string written = ContentOf(path);
  for (size_t i = 0; i < written.size(); ++i) {
    std::string changed = written;
    changed[i] = static_cast<char>(changed[i] ^ 0x40);
    Overwrite(path, changed);
    ASSERT_FALSE(ReadThrough(path, kShape, digest).ok()) << i;
    Overwrite(path, written.substr(0, i));
    ASSERT_FALSE(ReadThrough(path, kShape, digest).ok()) << i;
  }
  Overwrite(path, written + "x");
  EXPECT_EQ(ReadThrough(path, kShape, digest).code(), absl::StatusCode::kDataLoss);
  std::filesystem::remove(path);
  EXPECT_EQ(ReadThrough(path, kShape, digest).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace curator::records
