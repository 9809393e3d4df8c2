// The imports into a dataset's folder: one that writes a new segment, and one that repeats an earlier import.
// (CheckRecords() of import.h, which stores nothing, is implemented here too.) And the paths within the
// folder.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "records/import.h"
#include "records/manifest.h"
#include "records/segment.h"

namespace curator::records {

// Where an import goes.
struct ImportPlace {
  std::filesystem::path folder;  // of the dataset; it exists, with its folder of segments
  std::string unit_space;  // id of the whole dataset, in whose parts equal ids are the same person or group
  std::string request_id;
  std::function<std::string(std::string_view)> keyed_hash;
};

// ImportEntry::content_digest.
std::string KeyedFileHash(const std::function<std::string(std::string_view)>& keyed_hash,
                          std::string_view sha256);

std::filesystem::path ManifestPath(const std::filesystem::path& folder);
std::filesystem::path SegmentsPath(const std::filesystem::path& folder);
std::filesystem::path SnapshotPath(const std::filesystem::path& folder);
std::filesystem::path PublicSnapshotPath(const std::filesystem::path& folder);  // of a public dataset
std::filesystem::path UnitsPath(const std::filesystem::path& folder);
std::filesystem::path DeletedPath(const std::filesystem::path& folder);  // a mark, without content

// Whether there is a snapshot, private or public, or the dataset was deleted.
absl::StatusOr<bool> IsSealed(const std::filesystem::path& folder);

// An import that writes a segment; Finish() adds it to the manifest.
absl::StatusOr<std::unique_ptr<RecordImport>> NewImport(ImportPlace place, const dp::Schema& schema,
                                                        const ImportOptions& options);

// An import that writes nothing, under a request id that is in `manifest`: Finish() returns that import's
// report if the bytes and the source are the same, else ALREADY_EXISTS.
std::unique_ptr<RecordImport> RepeatedImport(ImportPlace place, Manifest manifest, RecordSource source);

// FAILED_PRECONDITION for the request id of an import that was undone: a late repetition must not bring it
// back.
absl::Status CheckNotUndone(const Manifest& manifest, std::string_view request_id);

}  // namespace curator::records
