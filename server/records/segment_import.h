// The three ways an import can go: into a new segment, against one that is there already, or nowhere.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "records/import.h"
#include "records/manifest.h"
#include "records/segment.h"

namespace curator::records {

// What an import needs to know of its dataset.
struct ImportPlace {
  std::filesystem::path folder;  // of the dataset; it exists, with its folder of segments
  std::string
      unit_space;  // within which the ids of persons and groups mean the same: a dataset with its parts
  std::string request_id;
  std::function<std::string(std::string_view)> keyed_hash;
};

std::filesystem::path ManifestPath(const std::filesystem::path& folder);
std::filesystem::path SegmentsPath(const std::filesystem::path& folder);
std::filesystem::path SnapshotPath(const std::filesystem::path& folder);
std::filesystem::path PublicSnapshotPath(const std::filesystem::path& folder);  // of a public dataset
std::filesystem::path UnitsPath(const std::filesystem::path& folder);

// Whether there is a snapshot, private or public.
absl::StatusOr<bool> IsSealed(const std::filesystem::path& folder);

// Writes a segment; Finish() enters it into the manifest.
absl::StatusOr<std::unique_ptr<RecordImport>> NewImport(ImportPlace place, const dp::Schema& schema,
                                                        const ImportOptions& options);

// Writes nothing: Finish() returns the report of `entry` when the bytes are the same.
std::unique_ptr<RecordImport> RepeatedImport(ImportPlace place, ImportEntry entry);

}  // namespace curator::records
