// The list of a dataset's imports, in their order, and of those that were undone. A segment counts only while
// its import is in the manifest.
//
// Replacing the manifest file is the commit point of an import and of an undo. Not thread-safe: writers hold
// the FolderLock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "records/import.h"

namespace curator::records {

struct ImportEntry {
  std::string request_id;
  std::string content_digest;  // keyed, of the bytes as they were sent
  std::string segment_digest;  // of the segment's file
  ImportReport report;         // without same_file_as, which follows from the others
  RecordSource source = RecordSource::kFile;
  int64_t time_us = 0;   // since the epoch, not before that of an earlier import; 0: unknown
  int64_t sequence = 0;  // rising from 1; never that of another import, also of one that was undone
  bool operator==(const ImportEntry&) const = default;
};

// An import that was undone, in the words of its entry.
struct UndoneImport {
  std::string request_id;
  std::string content_digest;
  int64_t sequence = 0;
  bool operator==(const UndoneImport&) const = default;
};

struct Manifest {
  std::vector<ImportEntry> imports;       // the first one first
  std::vector<UndoneImport> undone = {};  // in the order in which they were undone

  const ImportEntry* Find(std::string_view request_id) const;
  // The first import of these bytes; null where there is none.
  const ImportEntry* FindContent(std::string_view content_digest) const;
  const UndoneImport* FindUndone(std::string_view request_id) const;
  // Moves an import to those that were undone. Nothing when it is none of the imports.
  void Undo(std::string_view request_id);
  int64_t NextSequence() const;
  // Whether the first records of a unit have a meaning: all imports come from files.
  bool RowsHaveOrder() const;
  // Whether an import comes from a query.
  bool HasRowsFromQuery() const;
  int64_t RowsAccepted() const;
  // The report of `entry`, which is one of the imports, with its same_file_as.
  ImportReport ReportOf(const ImportEntry& entry) const;
};

// An empty manifest when there is no file. DATA_LOSS when the file is not what WriteManifest() wrote.
absl::StatusOr<Manifest> ReadManifest(const std::filesystem::path& path);

// FAILED_PRECONDITION, and nothing is written, when the file would be longer than `most_bytes`.
inline constexpr int64_t kMaxManifestBytes = int64_t{1} << 30;
absl::Status WriteManifest(const std::filesystem::path& path, const Manifest& manifest,
                           int64_t most_bytes = kMaxManifestBytes);

// What an import may make of the manifest. It leaves room for undoing each of the imports.
inline constexpr int64_t kMaxManifestBytesOfImports = int64_t{1} << 28;

}  // namespace curator::records
