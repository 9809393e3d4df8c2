// The directory of a running server: kept in memory, made of the server's own history in the ledger, and
// never older than kMostAge.
//
// Entries have pseudonyms in the place of names (ledger/pseudonyms/pseudonym.h). Where an entry says that a
// principal was forgotten, the ledger forgets its name before anybody sees the entry's effect, and the
// directory replaces it in all that it has read. Where the name is back in the ledger, as from a backup, it
// is forgotten again before another principal gets it.
//
// A change is appended to the history before anybody sees it. One that another server makes is seen within
// kMostAge here; when the ledger cannot say in that time whether there is one, all calls are refused.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/periodic.h"
#include "directory/directory.h"
#include "ledger/history/hash_chain.h"
#include "ledger/ledger.h"

namespace curator::directory {

class DirectoryStore {
 public:
  using Snapshot = std::shared_ptr<const Directory>;
  using Steady = std::chrono::steady_clock;

  static constexpr std::chrono::milliseconds kMostAge = std::chrono::seconds(2);

  struct Options {
    std::chrono::milliseconds between_polls = std::chrono::milliseconds(500);
    std::function<Steady::time_point()> now = Steady::now;  // thread-safe
    // Called after a name was forgotten, before another principal can have it: for what is kept by name.
    // Thread-safe.
    std::function<void()> on_forgotten = {};
    // As this server's own configuration says.
    Custody custody = Custody::kTwoPersons;
    // Called once for each change by which the history says another one: another server's configuration did.
    std::function<void(Custody of_history)> on_other_custody = {};
  };

  // Reads the whole history. `ledger` must outlive the store. Errors: the ledger's; DATA_LOSS when the
  // history contradicts itself.
  static absl::StatusOr<std::unique_ptr<DirectoryStore>> Open(ledger::Ledger& ledger, Options options);
  ~DirectoryStore() = default;
  DirectoryStore(const DirectoryStore&) = delete;
  DirectoryStore& operator=(const DirectoryStore&) = delete;

  // The directory as it was at most kMostAge ago. Does not block. UNAVAILABLE when the ledger has not
  // confirmed it since; DATA_LOSS when it found the history damaged.
  absl::StatusOr<Snapshot> Current() const;

  // How many persons it takes on this server: one only where both the history, to which the server that
  // started last wrote its configuration, and this server's own configuration say so. No other server's
  // configuration makes this one accept what its own does not.
  Custody CustodyHere(const Directory& directory) const {
    return directory.custody() == options_.custody ? options_.custody : Custody::kTwoPersons;
  }

  // What a change is, given the directory. May run several times.
  using Decide = std::function<absl::StatusOr<Change>(const Directory& directory)>;
  // Decides on the newest directory and appends the change by `actor`. On return it is durable, and Current()
  // has it. Errors: those of `decide`, with which nothing is appended, and the ledger's. Blocks.
  absl::StatusOr<ledger::Entry> Make(const std::string& actor, const Decide& decide);

  // Reads what is new in the history. Blocks.
  absl::Status Refresh();

 private:
  DirectoryStore(ledger::Ledger& ledger, Options options);
  absl::Status ReadNew() ABSL_EXCLUSIVE_LOCKS_REQUIRED(refreshing_);
  // Those of the principals that the entries say were forgotten.
  absl::Status ForgetNames(const std::vector<ledger::Entry>& entries)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(refreshing_);
  absl::Status ForgetName(const std::string& pseudonym);
  // With pseudonyms in the place of names.
  absl::StatusOr<std::string> EncodeStored(Change change, const Directory& directory);
  // Never that of a forgotten principal.
  absl::StatusOr<std::string> PseudonymOf(const std::string& name, const Directory& directory);
  absl::StatusOr<Directory::NameOf> NamesIn(const std::vector<ledger::Entry>& entries);
  void Publish(Directory directory, ledger::ChainHead head) ABSL_EXCLUSIVE_LOCKS_REQUIRED(refreshing_);

  ledger::Ledger& ledger_;
  const Options options_;
  std::mutex making_;      // one change at a time, so that only other servers race; before refreshing_
  std::mutex refreshing_;  // one reader of the history at a time; before mutex_
  ledger::ChainHead head_ ABSL_GUARDED_BY(refreshing_);
  bool has_read_ ABSL_GUARDED_BY(refreshing_) = false;  // the whole history, once
  mutable std::mutex mutex_;
  Snapshot current_ ABSL_GUARDED_BY(mutex_) = std::make_shared<Directory>();
  Steady::time_point confirmed_ ABSL_GUARDED_BY(mutex_);
  absl::Status damage_ ABSL_GUARDED_BY(mutex_);
  std::optional<Periodic> poller_;  // the last member: it uses the others
};

}  // namespace curator::directory
