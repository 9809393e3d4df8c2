// The anchor: a folder outside the database that records how far each history had come, so that a restored
// backup, which would reset budgets, is detected.
//
// Each server writes one file, <ledger uuid>.<host>-<n>.anchor, and reads all files of its ledger: the
// highest head counts (anchor_log.h describes their content). The number n is the lowest one whose lock file
// is not held, so a restarted server continues its own file. The servers of one ledger share a folder; it is
// best on a disk that is not restored together with the database.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
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
  // Creates the folder if it is missing, takes a file of its own and reads all. Errors: FAILED_PRECONDITION
  // (the folder cannot be created or written; the message names it), UNAVAILABLE (a file cannot be read or
  // written), DATA_LOSS (a file of this ledger is damaged, or two contradict each other).
  static absl::StatusOr<std::unique_ptr<AnchorDirectory>> Open(std::string_view directory,
                                                               std::string_view ledger_uuid);
  // The maximum over all files, without taking one: nothing is written. A folder that does not exist covers
  // nothing.
  static absl::StatusOr<AnchorState> ReadOnly(std::string_view directory, std::string_view ledger_uuid);
  // The ids of the ledgers that have anchor files in the folder. UNAVAILABLE when it cannot be read; a folder
  // that does not exist has none.
  static absl::StatusOr<std::set<std::string>> LedgersIn(std::string_view directory);
  ~AnchorDirectory() override;
  AnchorDirectory(const AnchorDirectory&) = delete;
  AnchorDirectory& operator=(const AnchorDirectory&) = delete;

  // The maximum over all files as they are now. Of other servers' files only new records are read.
  absl::StatusOr<AnchorState> Read();
  // The two halves of Read(): Refresh() reads the files; the look-ups return the maximum of these and of this
  // server's own Add(). A caller that holds the lock of a history misses no later addition to it.
  absl::Status Refresh();
  absl::StatusOr<ChainHead> HeadOf(const std::string& dataset_id) const override;
  int64_t SpentOf(const CounterKey& key) const override;
  int64_t OwnSeqOf(const std::string& dataset_id) const override;

  // Makes `state` durable: on return this server's file covers it. The cost grows with `state`, not with the
  // file. Concurrent callers share one write and one sync. UNAVAILABLE when it cannot be written.
  absl::Status RaiseTo(const AnchorState& state);
  // The two halves of RaiseTo(): Add() makes `state` visible to the look-ups and returns a point;
  // MakeDurable() returns once everything up to that point is durable.
  absl::StatusOr<int64_t> Add(const AnchorState& state);
  // Aborts on bad_alloc: other threads wait on the writer and would never be woken.
  absl::Status MakeDurable(int64_t point) noexcept;
  // Whether this object has written the dataset's entry `seq`, or a later one, to this server's file.
  bool IsDurable(const std::string& dataset_id, int64_t seq) const;
  // The entries of the dataset that Add() has got and that this server's file does not cover yet.
  int64_t EntriesBehind(const std::string& dataset_id) const;

  const std::string& path() const { return directory_; }

 private:
  // The file of another server or of an earlier run of this one.
  class OtherFile;

  AnchorDirectory(std::string_view directory, std::string_view ledger_uuid);
  absl::Status TakeFile();
  absl::Status ReadOthers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether the folder's list of files may have changed since it was last read.
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
  std::unique_ptr<AnchorFile> file_;  // used only by the thread that has set writing_
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
  bool has_begun_ ABSL_GUARDED_BY(mutex_) = false;  // from now on its own file is only written, not read
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t own_generation_ ABSL_GUARDED_BY(mutex_) = 0;      // increases with every change of own_
  int64_t durable_generation_ ABSL_GUARDED_BY(mutex_) = 0;  // the generation that the file holds
};

}  // namespace curator::ledger
