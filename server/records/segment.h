// The records of one import on disk, as codes: a header, then blocks of columns.
//
// A segment does not prove its own integrity: readers compare its digest with the one in the manifest.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/data/sealed_table.h"
#include "records/files.h"
#include "records/unit_counts.h"

namespace curator::records {

// The properties that a segment must share with its dataset.
struct TableShape {
  std::vector<int64_t> sizes;  // of each column
  dp::RowOwner owner = dp::RowOwner::kItself;
  bool operator==(const TableShape&) const = default;
};

TableShape ShapeOf(const dp::Schema& schema);

// Rows stored together: for each column one run of codes, in its width.
struct RowBlock {
  size_t rows = 0;
  std::vector<std::vector<std::byte>> codes;
  std::vector<UnitKey> groups;  // the unit or group of each row; empty where rows have none
};

// Not thread-safe. Memory: one block.
class SegmentWriter {
 public:
  static absl::StatusOr<std::unique_ptr<SegmentWriter>> Create(const std::filesystem::path& path,
                                                               TableShape shape);

  // `group` is the key of the row's unit or group, null exactly where rows have none.
  absl::Status Append(std::span<const uint32_t> codes, const UnitKey* group);

  // Writes the remaining rows. Returns the digest of the whole file.
  absl::StatusOr<std::string> Finish();

  // Gives the file its name, durably. After Finish().
  absl::Status Commit() { return file_->Commit(); }

 private:
  SegmentWriter(std::unique_ptr<PendingFile> file, TableShape shape);
  absl::Status Write(std::span<const std::byte> bytes);
  absl::Status WriteBlock();

  std::unique_ptr<PendingFile> file_;
  TableShape shape_;
  std::vector<dp::CodeWidth> widths_;
  RowBlock block_;
  size_t block_rows_;
  Digest digest_;
};

// Not thread-safe. Memory: one block.
class SegmentReader {
 public:
  // FAILED_PRECONDITION when the segment has another shape.
  static absl::StatusOr<std::unique_ptr<SegmentReader>> Open(const std::filesystem::path& path,
                                                             TableShape shape);

  // The next block, null at the end; valid until the next call. Not proved intact before Finish() returned
  // OK.
  absl::StatusOr<const RowBlock*> Next();

  // DATA_LOSS unless the whole file was read and has this digest.
  absl::Status Finish(std::string_view digest);

 private:
  SegmentReader(File file, int64_t left, TableShape shape);
  absl::Status Read(std::span<std::byte> bytes);

  File file_;
  int64_t left_;  // bytes not read yet
  TableShape shape_;
  RowBlock block_;
  Digest digest_;
};

}  // namespace curator::records
