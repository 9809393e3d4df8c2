// New entries of histories for the open pages of one session: one watch of the server for all of them
// (BudgetService.WatchLedger), whatever they show.
//
// A page gets each entry after its own position once, in the order of its dataset. The server checks the
// session's rights when a watch begins and for each entry. When the server is lost the feed tries again, and
// goes on where it was. Nothing is shared between sessions. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/gate/credential.h"
#include "client/gate/http.h"
#include "client/gate/positions.h"
#include "client/gate/upstream.h"
#include "curator/v1/budget.pb.h"

namespace curator::gate {

// How a feed reaches the world. All functions may be called from any thread.
struct FeedParts {
  Channels& channels;
  // What to call with now; kNone when the session is over. Must call nothing of the feed's.
  std::function<Credential()> credential;
  // The server refuses a watch by this credential: calls `done` later with whether there is another one. Must
  // not block. False, and `done` is not called, where too much work waits.
  std::function<bool(const Credential& refused, const absl::Status& refusal,
                     std::function<void(bool renewed)> done)>
      renew;
  // Calls `work` later, on another thread; false, and not at all, where too much work waits.
  std::function<bool(absl::Duration delay, std::function<void()> work)> later;
};

class LedgerFeed : public std::enable_shared_from_this<LedgerFeed> {
 public:
  static constexpr size_t kMostPages = 16;

  explicit LedgerFeed(FeedParts parts) : parts_(std::move(parts)) {}

  // RESOURCE_EXHAUSTED where the session has kMostPages already, or where its pages and this one watch more
  // than kMostWatched datasets together.
  absl::Status CheckRoom(const Positions& positions) const;
  // Sends events to `page` until that ends. A page that watches nothing waits for the end of its session
  // alone.
  void Add(const std::shared_ptr<EventStream>& page, Positions after);
  // The session is over: pages are sent so, and end.
  void End();

 private:
  struct Page {
    std::shared_ptr<EventStream> stream;
    Positions after;
    std::set<std::string> ended = {};  // datasets of which the page was told that they may not be read
  };
  class Watch;

  void Remove(const EventStream* page);
  // Of a watch that is not the present one any more: nothing happens.
  void OnLive(const Watch* watch);
  void OnEntry(const Watch* watch, const v1::LedgerEntry& entry);
  void OnEnd(const Watch* watch, const absl::Status& status);

  void StartWatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StopWatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether a page watched it.
  bool DropDataset(const std::string& dataset, const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // After the end of the present watch. False where nothing will begin the next one.
  bool GoOn(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AfterRenewal(uint64_t attempt, bool renewed);
  // Browsers come back by themselves, and say where they were.
  void ClosePages();
  void BecomeLive() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Lose(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendState(const std::string& event) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool StartLater(absl::Duration delay) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Retry(uint64_t attempt);
  Positions Wanted() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const FeedParts parts_;
  mutable absl::Mutex mutex_;
  std::vector<Page> pages_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Watch> watch_ ABSL_GUARDED_BY(mutex_);
  // One that was cancelled: the next begins when it has ended, so that one watch is open at a time.
  std::shared_ptr<Watch> ending_ ABSL_GUARDED_BY(mutex_);
  Positions watched_ ABSL_GUARDED_BY(mutex_);  // by watch_: what it has sent
  bool is_live_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t attempt_ ABSL_GUARDED_BY(mutex_) = 0;  // a start that was put off counts only as the newest
};

}  // namespace curator::gate
