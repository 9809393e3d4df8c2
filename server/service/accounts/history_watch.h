// Who watches the histories of datasets (WatchLedger): what each look finds that is new, and may be seen.
//
// A look at a history that has not moved reads nothing of it. Of all histories that are watched the heads are
// read at once before each look, and with them what says whether the rights of those who watch may have
// changed: the revision of the dataset. So many who watch cost little more than one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/followers.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "directory/directory_store.h"
#include "ledger/ledger.h"
#include "service/access.h"

namespace curator::service {

// The heads of the histories that are watched, as they were last read. Thread-safe.
class WatchedHeads {
 public:
  // `ledger` must outlive this object.
  explicit WatchedHeads(ledger::Ledger& ledger) : ledger_(ledger) {}

  // Reads the heads of all that are watched, in one go. While the store is away they stay as they were.
  // Blocks.
  void Read();

  // A history is watched until this is destroyed, which must be before the heads.
  class Watched;
  std::unique_ptr<Watched> Watch(const std::string& dataset_id);

 private:
  struct Slot {
    mutable absl::Mutex mutex;
    std::optional<ledger::HistoryHead> head ABSL_GUARDED_BY(mutex);
    int watched = 0;  // by so many; guarded by the mutex of the heads
  };

  ledger::Ledger& ledger_;
  absl::Mutex mutex_;
  std::map<std::string, std::shared_ptr<Slot>> slots_ ABSL_GUARDED_BY(mutex_);
};

class WatchedHeads::Watched {
 public:
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  // None before the first Read() since somebody watches it.
  std::optional<ledger::HistoryHead> head() const;

 private:
  friend class WatchedHeads;
  Watched(WatchedHeads& heads, std::string dataset_id, std::shared_ptr<Slot> slot)
      : heads_(heads), dataset_id_(std::move(dataset_id)), slot_(std::move(slot)) {}

  WatchedHeads& heads_;
  const std::string dataset_id_;
  const std::shared_ptr<Slot> slot_;
};

// Entries with greater sequence numbers follow it.
struct HistoryPosition {
  DatasetName dataset;
  int64_t after_seq = 0;
};

struct WatchedEntry {
  std::string dataset;  // its name
  ledger::Entry entry;
};

// One principal who watches some histories. Not thread-safe.
class HistoryWatch {
 public:
  using Steady = std::chrono::steady_clock;

  // At most so many entries are found by one look.
  static constexpr size_t kMostAtOnce = 1000;
  // Rights are read again at least this often, whatever says that they are the same: damage that was found in
  // the rows of a dataset changes them, too.
  static constexpr std::chrono::seconds kLongestTrust{30};

  // What `access` refers to, and `heads`, must outlive this object. `positions` are not empty, each of
  // another dataset.
  HistoryWatch(Access access, WatchedHeads& heads, Principal principal,
               std::vector<HistoryPosition> positions);

  // The entries after the positions that the principal may see, ascending in each history; moves the
  // positions on. The rights are those that the principal has when it is called, as of the last
  // WatchedHeads::Read() for a history that has not moved. Errors: those of FindDataset() for the first
  // dataset that the principal may not watch, and of the ledger, each with its dataset (ConcerningDataset()),
  // after all entries that were found before it; UNAVAILABLE while the directory is. A dataset that is
  // UNAVAILABLE has nothing new.
  absl::StatusOr<std::vector<WatchedEntry>> Look(Steady::time_point now = Steady::now());

 private:
  struct History {
    DatasetName name;
    int64_t after_seq = 0;
    // Of the last time that the rights were read; none yet.
    std::unique_ptr<WatchedHeads::Watched> watched = nullptr;
    int64_t revision = 0;
    directory::DirectoryStore::Snapshot directory = nullptr;
    int64_t roles_end_at_us = 0;
    Steady::time_point read_at = {};
  };

  absl::Status LookAt(History& history, const directory::DirectoryStore::Snapshot& directory,
                      Steady::time_point now, std::vector<WatchedEntry>& found);

  const Access access_;
  WatchedHeads& heads_;
  const Principal principal_;
  std::vector<History> histories_;
  size_t first_ = 0;  // the next look begins with this one
};

// All who watch histories on a server. Thread-safe.
class HistoryWatches {
 public:
  // `ledger` must outlive this object.
  HistoryWatches(ledger::Ledger& ledger, std::chrono::milliseconds between_looks)
      : heads_(ledger), followers_(between_looks, [this] { heads_.Read(); }) {}

  WatchedHeads& heads() { return heads_; }
  Followers& followers() { return followers_; }

 private:
  WatchedHeads heads_;
  Followers followers_;  // the last member: it uses the other
};

}  // namespace curator::service
