// The list of a dataset's imports, in their order. A segment counts only once it is in the manifest.
//
// Replacing the manifest file is the commit point of an import. Not thread-safe: writers hold the FolderLock.
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
  bool operator==(const ImportEntry&) const = default;
};

struct Manifest {
  std::vector<ImportEntry> imports;  // the first one first

  const ImportEntry* Find(std::string_view request_id) const;
  int64_t RowsAccepted() const;
  // The report of `entry`, which is one of the imports, with its same_file_as.
  ImportReport ReportOf(const ImportEntry& entry) const;
};

// An empty manifest when there is no file. DATA_LOSS when the file is not what WriteManifest() wrote.
absl::StatusOr<Manifest> ReadManifest(const std::filesystem::path& path);

absl::Status WriteManifest(const std::filesystem::path& path, const Manifest& manifest);

}  // namespace curator::records
