// The owner of the invariants: charge first; store before reply; replay, never redraw; no refund after a
// look.
//
// A request that looks at private data goes through here and nowhere else: BeginOnce() charges it, or finds
// what the same request did before; FinishOnce() draws and stores. Both may run on different threads, in this
// order.
//
// Thread-safe. Of two calls with the same (principal, request id) in this process, KeyedLock lets one run at
// a time.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dp/noise/drbg.h"
#include "host/server_key.h"
#include "ledger/ledger.h"

namespace curator::service {

// Draws the release's bytes with noise from `key`. The same key gives the same bytes.
using Draw = std::function<absl::StatusOr<std::string>(const dp::DrawKey& key)>;

// What a request looks like to the ledger, without the parts that only this file may set.
struct ChargeOrder {
  std::string dataset_id;
  int64_t dataset_version = 0;
  std::string principal;
  std::string request_id;
  std::string fingerprint;
  std::string kind;
  std::string event;
  std::string label;
  std::vector<ledger::Posting> postings;
};

// Charges the order durably, together with a freshly drawn key, sealed; or finds the earlier attempt or its
// release. Errors: those of Ledger::Begin(). When it fails nothing was charged, or the same request id tells
// what was.
absl::StatusOr<ledger::Attempt> BeginOnce(ledger::Ledger& ledger, const host::KeySealer& sealer,
                                          ChargeOrder order);

// How a draw that gave no release ends.
enum class Failure {
  kForfeit,  // an error, a cancel or a deadline after the look: the cost stands, and the draw is never
             // repeated
  kAbandon,  // this process is going away: the charge stays STARTED, and the same request id repeats the same
             // draw
};

// Draws, stores, and returns the release as read back from the ledger. A draw that fails forfeits the charge,
// unless `on_failure()` says that this process is abandoning its work; the caller then gets one opaque error,
// whatever it was: after data has been touched no error may tell more than that there was one.
absl::StatusOr<ledger::Release> FinishOnce(ledger::Ledger& ledger, const host::KeySealer& sealer,
                                           const ledger::Attempt& attempt, const Draw& draw,
                                           const std::function<Failure()>& on_failure);

// BeginOnce() and FinishOnce() on this thread. `replayed` says whether the release had been there before.
struct ReleasedOnce {
  ledger::Release release;
  bool replayed = false;
};
absl::StatusOr<ReleasedOnce> ReleaseOnce(ledger::Ledger& ledger, const host::KeySealer& sealer,
                                         ChargeOrder order, const Draw& draw);

// Ends a started charge that no process works on: takes it over, so that nobody can finish it any more, and
// forfeits it. OK also when it has ended meanwhile.
absl::Status ForfeitUnfinished(ledger::Ledger& ledger, const ledger::Charge& charge);

// Lets one holder of a key run at a time in this process: a retry that arrives while its first attempt still
// runs waits for it, instead of taking its token away.
class KeyedLock {
 public:
  class Holder {
   public:
    Holder(KeyedLock& lock, std::string key);
    ~Holder();
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

   private:
    KeyedLock& lock_;
    std::string key_;
  };

 private:
  absl::Mutex mutex_;
  std::set<std::string> held_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::service
