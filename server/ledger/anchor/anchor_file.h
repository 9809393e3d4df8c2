// The anchor file that this server writes. Each change costs one write and one sync, whatever the file's
// size.
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

// Identifies a file: inode numbers are unique within a device.
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

// Identity and size of the file that `path` names now, or of an open one; none, with errno set, on failure.
// Reads nothing else: after its times are read, a kernel gives the file's next write a new time, and the sync
// of that write must then write the inode, too.
std::optional<FileFacts> StatFile(const std::string& path);
std::optional<FileFacts> StatFile(int descriptor);

class AnchorFile {
 public:
  AnchorFile(std::string_view folder, std::string_view name, std::string_view ledger_uuid);
  ~AnchorFile();
  AnchorFile(const AnchorFile&) = delete;
  AnchorFile& operator=(const AnchorFile&) = delete;

  // Makes `change` durable after everything appended before. Starts a new file with the whole state (written,
  // synced, renamed, folder synced) for the first change, and when the old file is full, has failed, was
  // truncated, or is no longer the one in the folder. UNAVAILABLE on failure: `change` then becomes part of
  // the next one.
  absl::Status Append(const AnchorState& change);

 private:
  absl::Status Start();
  bool IsInPlace() const;
  void Close();

  const std::string folder_;
  const std::string path_;
  const std::string ledger_uuid_;
  AnchorLog log_;        // including changes that could not be written
  int descriptor_ = -1;  // -1: the next change starts a new file
  FileIdentity identity_;
  size_t capacity_ = 0;
};

}  // namespace curator::ledger
