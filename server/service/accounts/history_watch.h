// Who watches the histories of datasets (WatchLedger): what each look finds that is new, and may be seen.
//
// A look at a history that has not moved reads nothing of it. Of all histories that are watched the heads are
// read at once before each look, and with them what says whether the rights of those who watch may have
// changed: the revision of the dataset. Where it has another one, its row is read once for all who watch it.
// A change of the directory is compared with what concerns the principal, in memory: anybody may change what
// concerns himself, each second. So many who watch cost little more than one.
#pragma once

#include <atomic>
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

// The heads of the histories that are watched, and the rows of their datasets, as they were last read.
// Thread-safe.
class WatchedHeads {
 public:
  using Steady = std::chrono::steady_clock;

  // Rows are read again about this often, whatever says that they are the same: damage that was found in them
  // changes rights, too. With more than kMostRowsAtOnce for each Read() in this time it takes longer.
  static constexpr std::chrono::seconds kLongestTrust{30};
  static constexpr size_t kMostRowsAtOnce = 100;

  // `ledger` must outlive this object.
  explicit WatchedHeads(ledger::Ledger& ledger) : ledger_(ledger) {}

  // Reads the heads of all that are watched, in one go, and some rows. While the store is away all stay as
  // they were. Blocks.
  void Read(Steady::time_point now = Steady::now());

  // A history is watched until this is destroyed, which must be before the heads.
  class Watched;
  std::unique_ptr<Watched> Watch(const std::string& dataset_id, Steady::time_point now = Steady::now());

 private:
  // With all grants.
  using Row = std::shared_ptr<const ledger::Dataset>;
  struct Slot {
    mutable absl::Mutex mutex;
    std::optional<ledger::HistoryHead> head ABSL_GUARDED_BY(mutex);
    // None yet; or why it could not be read.
    absl::StatusOr<Row> row ABSL_GUARDED_BY(mutex) = Row();
    uint64_t rows_read ABSL_GUARDED_BY(mutex) = 0;
    uint64_t row_of_read ABSL_GUARDED_BY(mutex) = 0;  // the number of the Read() after which it was read
    Steady::time_point row_is_of ABSL_GUARDED_BY(mutex) = {};
    int watched = 0;  // by so many; guarded by the mutex of the heads
  };
  using Slots = std::map<std::string, std::shared_ptr<Slot>>;

  absl::StatusOr<Row> RowFrom(const std::string& dataset_id) const;
  absl::StatusOr<Row> RowAt(const std::string& dataset_id, Slot& slot, int64_t revision) const;
  void ReadOldRows(Steady::time_point now);
  // Those to be read again, after the ones of the last call.
  std::vector<std::pair<std::string, std::shared_ptr<Slot>>> TakeOldRows(Steady::time_point now);

  ledger::Ledger& ledger_;
  std::atomic<uint64_t> reads_ = 0;
  absl::Mutex mutex_;
  Slots slots_ ABSL_GUARDED_BY(mutex_);
  std::string last_old_row_ ABSL_GUARDED_BY(mutex_);
};

class WatchedHeads::Watched {
 public:
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  struct State {
    std::optional<ledger::HistoryHead> head = {};  // none before the first Read() since somebody watches it
    uint64_t rows_read = 0;  // how often the row was read: rights may be others after it
  };
  State state() const;

  // The dataset's row, with all its grants: of this revision, or as it was read since the last Read(). Reads
  // it where it is not there. Errors: the ledger's, DATA_LOSS for a row that cannot be read. Blocks.
  absl::StatusOr<std::shared_ptr<const ledger::Dataset>> RowAt(int64_t revision) const {
    return heads_.RowAt(dataset_id_, *slot_, revision);
  }

 private:
  friend class WatchedHeads;
  Watched(WatchedHeads& heads, std::string dataset_id, std::shared_ptr<Slot> slot)
      : heads_(heads), dataset_id_(std::move(dataset_id)), slot_(std::move(slot)) {}

  WatchedHeads& heads_;
  const std::string dataset_id_;
  const std::shared_ptr<Slot> slot_;
};

// Entries with greater sequence numbers follow it. By an id: of this dataset and no later one of its name.
struct HistoryPosition {
  DatasetName dataset;
  int64_t after_seq = 0;
};

struct WatchedEntry {
  std::string dataset;  // as its position names it: its name, or its id
  ledger::Entry entry;
};

// One principal who watches some histories. Not thread-safe.
class HistoryWatch {
 public:
  using Steady = std::chrono::steady_clock;

  // At most so many entries are found by one look.
  static constexpr size_t kMostAtOnce = 1000;

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

  // The datasets of which a look found for the first time that the principal may watch them, since the last
  // call.
  std::vector<std::string> TakeAllowed() { return std::exchange(allowed_, {}); }

 private:
  struct History {
    DatasetName name;
    std::string dataset_id = {};
    int64_t after_seq = 0;
    // Of the last time that the rights were read; none yet.
    std::unique_ptr<WatchedHeads::Watched> watched = nullptr;
    DatasetRoles roles = {};
    int64_t revision = 0;
    uint64_t rows_read = 0;
    uint64_t standings = 0;  // standings_ then
  };

  absl::Status ReadDirectory();
  absl::Status LookAt(History& history, Steady::time_point now, std::vector<WatchedEntry>& found);
  bool HasSameRights(const History& history, const WatchedHeads::Watched::State& state) const;
  absl::Status ReadRights(History& history, const WatchedHeads::Watched::State& state,
                          Steady::time_point now);
  // Finds the dataset for the principal alone.
  absl::Status FindRights(History& history, const WatchedHeads::Watched::State& state,
                          Steady::time_point now);
  // As they are with this state, which was read before them.
  absl::Status NoteRights(History& history, const WatchedHeads::Watched::State& state);
  absl::Status ReadEntries(History& history, const std::optional<ledger::HistoryHead>& head,
                           std::vector<WatchedEntry>& found);

  const Access access_;
  WatchedHeads& heads_;
  const Principal principal_;
  std::vector<History> histories_;
  size_t first_ = 0;  // the next look begins with this one
  directory::DirectoryStore::Snapshot directory_ = nullptr;
  Standing standing_;       // in this directory
  uint64_t standings_ = 1;  // how many it has had
  std::vector<std::string> allowed_;
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
