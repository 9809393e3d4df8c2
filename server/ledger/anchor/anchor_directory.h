// The anchor: a folder outside the database that remembers how far each history had come, so that a restored
// backup, which is a budget reset, is noticed.
//
// Each server writes one file, <ledger uuid>.<host>-<n>.anchor, and reads all files of its ledger: the
// highest head binds (anchor_log.h says what is in them). The number n is the lowest one whose lock file
// nobody holds, so a restarted server continues its own file. Several servers of one ledger share a folder;
// it is best on a disk that is not restored together with the database.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/anchor/anchor_file.h"
#include "ledger/anchor/anchor_state.h"

namespace curator::ledger {

class AnchorDirectory final : public AnchorView {
 public:
  // Makes the folder if it is missing, takes a file of its own and reads all. Errors: FAILED_PRECONDITION
  // (the folder cannot be made or written; names it), DATA_LOSS (a file of this ledger is damaged, or two
  // contradict each other).
  static absl::StatusOr<std::unique_ptr<AnchorDirectory>> Open(std::string_view directory,
                                                               std::string_view ledger_uuid);
  // The maximum over all files, without taking one: nothing is written. A folder that is not there vouches
  // for nothing.
  static absl::StatusOr<AnchorState> ReadOnly(std::string_view directory, std::string_view ledger_uuid);
  ~AnchorDirectory() override;
  AnchorDirectory(const AnchorDirectory&) = delete;
  AnchorDirectory& operator=(const AnchorDirectory&) = delete;

  // The maximum over all files as they are now. Of the files of others only what is new is read.
  absl::StatusOr<AnchorState> Read();
  // Its two halves: looks at the files, and tells what they and this server's own last Add() say. What is
  // asked about a history whose lock one holds cannot have been added since.
  absl::Status Refresh();
  absl::StatusOr<ChainHead> HeadOf(const std::string& dataset_id) const override;
  int64_t SpentOf(const CounterKey& key) const override;
  int64_t OwnSeqOf(const std::string& dataset_id) const override;

  // Makes `state` durable: on return this server's file vouches for it. Costs what `state` is large, not what
  // the file is. Callers that come while another writes share the next write and its sync. UNAVAILABLE when
  // it cannot be written.
  absl::Status RaiseTo(const AnchorState& state);
  // Its two halves: from the first on this object tells of `state`, after the second it is durable up to the
  // point that the first returned.
  absl::StatusOr<int64_t> Add(const AnchorState& state);
  // Ends the process for want of memory: who writes is waited for by all others, and nobody would tell them.
  absl::Status MakeDurable(int64_t point) noexcept;
  // Whether this server's file holds the dataset's entry `seq`, or a later one, since this object was opened.
  bool IsDurable(const std::string& dataset_id, int64_t seq) const;

  const std::string& path() const { return directory_; }

 private:
  // The file of another server, or of an earlier run of this one.
  class OtherFile;

  AnchorDirectory(std::string_view directory, std::string_view ledger_uuid);
  absl::Status TakeFile();
  absl::Status ReadOthers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether the folder may have other files than when its list was last read.
  absl::StatusOr<bool> MayHaveOtherFiles() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status ListOthers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string directory_;
  const std::string ledger_uuid_;
  std::string own_name_;
  int lock_descriptor_ = -1;

  mutable std::mutex mutex_;
  std::condition_variable written_;
  AnchorState own_ ABSL_GUARDED_BY(mutex_);
  AnchorState unwritten_ ABSL_GUARDED_BY(mutex_);  // the part of own_ that the file does not hold yet
  std::unordered_map<std::string, int64_t> durable_seqs_ ABSL_GUARDED_BY(mutex_);  // by dataset
  std::unique_ptr<AnchorFile> file_;  // belongs to whoever has set writing_
  std::unordered_map<std::string, std::unique_ptr<OtherFile>> others_ ABSL_GUARDED_BY(mutex_);
  struct FolderTime {
    uint64_t inode = 0;
    int64_t seconds = 0;
    int64_t nanoseconds = 0;
    bool operator==(const FolderTime&) const = default;
  };
  FolderTime folder_time_ ABSL_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point folder_time_since_ ABSL_GUARDED_BY(mutex_);
  bool is_list_complete_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_begun_ ABSL_GUARDED_BY(mutex_) = false;  // its own file is only written from now on, not read
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t own_generation_ ABSL_GUARDED_BY(mutex_) = 0;      // grows with every change of own_
  int64_t durable_generation_ ABSL_GUARDED_BY(mutex_) = 0;  // the generation that the file holds
};

}  // namespace curator::ledger
