// The imports into a dataset's folder: one that writes a new segment, and one that repeats an earlier import.
// (CheckRecords() of import.h, which stores nothing, is implemented here too.) And the paths within the
// folder.
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

// Where an import goes.
struct ImportPlace {
  std::filesystem::path folder;  // of the dataset; it exists, with its folder of segments
  std::string unit_space;  // id of the whole dataset, in whose parts equal ids are the same person or group
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

// An import that writes a segment; Finish() adds it to the manifest.
absl::StatusOr<std::unique_ptr<RecordImport>> NewImport(ImportPlace place, const dp::Schema& schema,
                                                        const ImportOptions& options);

// An import that writes nothing, under a request id that is in `manifest`: Finish() returns that import's
// report if the bytes are the same, else ALREADY_EXISTS.
std::unique_ptr<RecordImport> RepeatedImport(ImportPlace place, Manifest manifest);

}  // namespace curator::records
