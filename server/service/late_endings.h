// Endings of charges that the store could not take while their callers waited: stored or forfeited by a
// thread in the background, for as long as the process lives.
//
// Thread-safe.
#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "ledger/ledger.h"

namespace curator::service {

// A release as it was drawn, and the measures by which it is found (Ledger::FindReleases()).
struct Drawn {
  // Implicit: most releases are found by none.
  Drawn(std::string bytes, std::vector<ledger::Measure> found_by = {})
      : payload(std::move(bytes)), measures(std::move(found_by)) {}

  std::string payload;
  std::vector<ledger::Measure> measures;
};

// Between two tries to end a charge.
inline constexpr absl::Duration kLongestPause = absl::Seconds(30);

class LateEndings {
 public:
  static constexpr size_t kMost = 256;
  static constexpr size_t kMostBytes = size_t{256} << 20;  // of all payloads together

  // Tries all that wait after `pause`, then after growing pauses up to kLongestPause. `ledger` must outlive
  // it.
  explicit LateEndings(ledger::Ledger& ledger, absl::Duration pause = absl::Milliseconds(100));
  ~LateEndings();  // gives up what waits: those charges stay STARTED
  LateEndings(const LateEndings&) = delete;
  LateEndings& operator=(const LateEndings&) = delete;

  // Takes over storing what was drawn, or forfeiting with `reason` where there is nothing. False, and nothing
  // is taken, when too much waits: the charge stays STARTED, and its request id repeats the draw.
  bool Add(ledger::Attempt attempt, std::optional<Drawn> drawn, std::string reason);

  // How many wait.
  size_t waiting() const;
  // Waits until none does. False when `deadline` passed before that.
  bool AwaitNone(absl::Time deadline) const;

 private:
  struct Item {
    ledger::Attempt attempt;
    std::optional<Drawn> drawn;
    std::string reason;

    size_t bytes() const { return drawn ? drawn->payload.size() : 0; }
  };

  void Run(const std::stop_token& stop);
  // Tries once. False when it has to be tried again.
  bool End(const Item& item);
  bool TryToEnd(const Item& item);

  ledger::Ledger& ledger_;
  const absl::Duration first_pause_;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::list<Item> items_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_ending_one_ ABSL_GUARDED_BY(mutex_) = false;  // which is not in items_ meanwhile
  std::jthread thread_;                                 // the last member: it uses the others
};

// Whether asking the ledger again cannot change this outcome of Ledger::Store() or Ledger::Forfeit().
bool IsFinalEnding(const absl::Status& status);

}  // namespace curator::service
