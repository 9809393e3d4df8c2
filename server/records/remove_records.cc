// The removal of a deleted dataset's records.
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "records/dataset_store.h"
#include "records/files.h"
#include "records/segment_import.h"

namespace curator::records {
namespace {

absl::Status RemoveFile(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path.string(), ": ", error.message()));
}

// All files but the lock and the mark.
absl::Status RemoveFilesOf(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory(error) || name == "lock" || entry->path() == DeletedPath(folder)) continue;
    files.push_back(entry->path());
  }
  if (error) return absl::UnavailableError(absl::StrCat(folder.string(), ": ", error.message()));
  for (const std::filesystem::path& file : files) RETURN_IF_ERROR(RemoveFile(file));
  if (!files.empty()) RETURN_IF_ERROR(SyncFolder(folder));
  return absl::OkStatus();
}

}  // namespace

absl::Status DatasetStore::RemoveRecords(const std::string& dataset_id) {
  ready_.Forget({dataset_id});
  const std::filesystem::path folder = data_dir_ / dataset_id;
  RETURN_IF_ERROR(MakeFolder(SegmentsPath(folder)));
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(folder));
  // First, so that no import or seal that has begun brings anything back.
  ASSIGN_OR_RETURN(const bool is_marked, Exists(DeletedPath(folder)));
  if (!is_marked) {
    ASSIGN_OR_RETURN(const std::unique_ptr<PendingFile> mark, PendingFile::Create(DeletedPath(folder)));
    RETURN_IF_ERROR(mark->Commit());
  }
  RETURN_IF_ERROR(RemoveFilesOf(SegmentsPath(folder)));
  return RemoveFilesOf(folder);
}

}  // namespace curator::records
