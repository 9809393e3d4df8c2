// Files that survive a power failure and that only the server's own user can read (mode 0600, folders 0700),
// and the digests that prove their content.
//
// Errors of all functions: UNAVAILABLE, with the path and the system's reason. The classes are not
// thread-safe, the free functions are.
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

// An open file, closed by the destructor.
class File {
 public:
  // NOT_FOUND when there is no file.
  static absl::StatusOr<File> OpenForReading(const std::filesystem::path& path);
  File(File&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}
  ~File();

  absl::StatusOr<int64_t> Size() const;
  // Reads on from where the last read ended. DATA_LOSS when the file ends before `bytes` is full.
  absl::Status Read(std::span<std::byte> bytes);
  absl::Status Skip(int64_t bytes);

 private:
  friend class PendingFile;
  friend class FolderLock;
  File(int descriptor, std::filesystem::path path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_;
  std::filesystem::path path_;
};

// A file that gets its final name only when it is complete and durable. Until then it is named `*.making`,
// and is removed by the destructor, or by RemoveAbandoned() after a crash.
class PendingFile {
 public:
  static absl::StatusOr<std::unique_ptr<PendingFile>> Create(const std::filesystem::path& final_path);
  ~PendingFile();

  absl::Status Write(std::span<const std::byte> bytes);
  absl::Status Write(std::string_view bytes) { return Write(std::as_bytes(std::span(bytes))); }

  // Makes the file durable under its final name, replacing any file of that name. The last call.
  absl::Status Commit();

 private:
  PendingFile(File file, std::filesystem::path final_path)
      : file_(std::move(file)), final_path_(std::move(final_path)) {}

  File file_;
  std::filesystem::path final_path_;
  bool is_committed_ = false;
};

// An exclusive lock of a folder, among the threads of all processes, held for the lifetime of the object.
// Take() blocks until the lock is free.
class FolderLock {
 public:
  static absl::StatusOr<FolderLock> Take(const std::filesystem::path& folder);

 private:
  explicit FolderLock(File file) : file_(std::move(file)) {}
  File file_;
};

// Creates a folder and its parents, durably.
absl::Status MakeFolder(const std::filesystem::path& folder);

// Makes the directory entries of a folder durable.
absl::Status SyncFolder(const std::filesystem::path& folder);

absl::StatusOr<bool> Exists(const std::filesystem::path& path);

// The whole of a small file. NOT_FOUND when there is none, DATA_LOSS beyond `max_bytes`.
absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path, int64_t max_bytes);

// Removes `*.making` files whose process no longer runs.
absl::Status RemoveAbandoned(const std::filesystem::path& folder);

inline constexpr size_t kDigestBytes = 32;

// The SHA-256 digest of bytes that are added piece by piece. Not thread-safe. Aborts when OpenSSL has no
// SHA-256 or no memory.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(Digest&&) noexcept;

  void Add(std::span<const std::byte> bytes);
  void Add(std::string_view bytes) { Add(std::as_bytes(std::span(bytes))); }

  // The digest of everything added, kDigestBytes long. Nothing may be added afterwards.
  std::string Finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace curator::records
