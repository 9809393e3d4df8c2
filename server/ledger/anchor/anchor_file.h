// The anchor file that this server writes. Each change costs one write and one sync, however large the file
// is.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "ledger/anchor/anchor_log.h"

namespace curator::ledger {

// Which file it is: numbers of inodes are unique within a device.
struct FileIdentity {
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};
struct FileFacts {
  FileIdentity identity;
  uint64_t size = 0;
};

// The facts of the file that `path` names now, or of the one that is open; none, with errno, when they cannot
// be told. Nothing else is asked of the file: a kernel that is asked for a file's times marks its next write
// with a new one, and the sync of that write then writes the inode, too.
std::optional<FileFacts> LookAt(const std::string& path);
std::optional<FileFacts> LookAt(int descriptor);

class AnchorFile {
 public:
  AnchorFile(std::string_view folder, std::string_view name, std::string_view ledger_uuid);
  ~AnchorFile();
  AnchorFile(const AnchorFile&) = delete;
  AnchorFile& operator=(const AnchorFile&) = delete;

  // Makes `change` durable, behind all that was appended before. Starts a new file (with everything: written,
  // synced, renamed, folder synced) for the first change, and when the old one is full, has failed, was cut
  // short, or is not the one in the folder any more. UNAVAILABLE when it cannot be done: the change is then
  // part of the next one.
  absl::Status Append(const AnchorState& change);

 private:
  absl::Status Start();
  bool IsInPlace() const;
  void Close();

  const std::string folder_;
  const std::string path_;
  const std::string ledger_uuid_;
  AnchorLog log_;        // with what could not be written
  int descriptor_ = -1;  // -1: the next change starts a new file
  FileIdentity identity_;
  size_t capacity_ = 0;
};

}  // namespace curator::ledger
