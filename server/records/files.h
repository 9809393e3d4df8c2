// Files that outlive a power failure, and that nobody but the server's own user can read (0600, folders
// 0700).
//
// Errors everywhere: UNAVAILABLE, with the path and the system's reason. Not thread-safe, except the free
// functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace curator::records {

// An open file, closed at the end of its life.
class File {
 public:
  static absl::StatusOr<File> OpenForReading(
      const std::filesystem::path& path);  // NOT_FOUND when there is none
  File(File&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}
  ~File();

  absl::StatusOr<int64_t> Size() const;
  // Reads on from where the last read ended. DATA_LOSS when the file ends before `bytes` is full.
  absl::Status Read(std::span<std::byte> bytes);
  absl::Status Skip(int64_t bytes);

 private:
  friend class FileInTheMaking;
  friend class FolderLock;
  File(int descriptor, std::filesystem::path path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_;
  std::filesystem::path path_;
};

// A file that gets its name only when it is complete and durable. Until then it is `*.making`, and is removed
// at the end of this object's life, or by RemoveAbandoned() after a crash.
class FileInTheMaking {
 public:
  static absl::StatusOr<std::unique_ptr<FileInTheMaking>> Create(const std::filesystem::path& final_path);
  ~FileInTheMaking();

  absl::Status Write(std::span<const std::byte> bytes);
  absl::Status Write(std::string_view bytes) { return Write(std::as_bytes(std::span(bytes))); }

  // Makes it durable under its final name, in place of whatever had that name. Nothing may follow.
  absl::Status Commit();

 private:
  FileInTheMaking(File file, std::filesystem::path final_path)
      : file_(std::move(file)), final_path_(std::move(final_path)) {}

  File file_;
  std::filesystem::path final_path_;
  bool is_committed_ = false;
};

// Keeps everybody else out of a folder, in this process and in others, for as long as it lives. Waits for its
// turn.
class FolderLock {
 public:
  static absl::StatusOr<FolderLock> Take(const std::filesystem::path& folder);

 private:
  explicit FolderLock(File file) : file_(std::move(file)) {}
  File file_;
};

// Makes a folder and those above it, durably.
absl::Status MakeFolder(const std::filesystem::path& folder);

// Makes the names in a folder durable.
absl::Status SyncFolder(const std::filesystem::path& folder);

absl::StatusOr<bool> Exists(const std::filesystem::path& path);

// The whole of a small file. NOT_FOUND when there is none, DATA_LOSS beyond `max_bytes`.
absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path, int64_t max_bytes);

// Removes the files in the making that no living process makes.
absl::Status RemoveAbandoned(const std::filesystem::path& folder);

}  // namespace curator::records
