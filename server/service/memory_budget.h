// The memory that requests may take together, shared among principals.
//
// A request takes what it is predicted to need, from public facts, before it starts. The budget is a fixed
// number that resident tables do not change, and predictions use declared sizes: so a refusal depends on no
// record.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/principal.h"

namespace curator::service {

// The most that one request may be predicted to take: for nothing, and for what it pays.
inline constexpr int64_t kMostFreeBytes = 300'000'000;
inline constexpr int64_t kMostPaidBytes = 1'000'000'000;

// INVALID_ARGUMENT (`field`) for a request that would take `bytes` `for_what` ("to plan"), more than `most`.
// `remedy` says what would take less.
absl::Status TakesTooMuch(std::string_view field, std::string_view for_what, int64_t bytes, int64_t most,
                          std::string_view remedy);

class MemoryBudget {
 public:
  // Bytes that are taken, until it is destroyed. The budget must outlive it.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept { *this = std::move(other); }
    Lease& operator=(Lease&& other) noexcept;
    ~Lease();

   private:
    friend class MemoryBudget;
    Lease(MemoryBudget* budget, const std::string& holder, int64_t bytes)
        : budget_(budget), holder_(holder), bytes_(bytes) {}
    MemoryBudget* budget_ = nullptr;
    std::string holder_;
    int64_t bytes_ = 0;
  };

  // `bytes` >= 1. A request that has to wait longer than `longest_wait` is refused.
  explicit MemoryBudget(int64_t bytes, absl::Duration longest_wait = absl::Seconds(5))
      : bytes_(bytes), longest_wait_(longest_wait), free_(bytes) {}

  // Takes `bytes` >= 0 for a request of `principal`. One principal holds at most half of the budget, or one
  // request. Among the requests that stay within that share, those that wait are admitted in the order of
  // their arrival, and a later one waits behind them: so a principal waits for the leases that were taken
  // before, and never for all requests of another.
  //
  // Errors: INVALID_ARGUMENT for more than the whole budget; UNAVAILABLE after the longest wait; CANCELLED
  // when `client_left` is requested before.
  absl::StatusOr<Lease> Take(const Principal& principal, int64_t bytes,
                             const std::stop_token& client_left = {});

  // Takes `bytes` >= 0 more for the request that holds `lease`: it counts as one request, and goes
  // before those that hold nothing yet, which may be waiting for it. Errors as in Take(), after which the
  // lease is as it was.
  absl::Status Grow(Lease& lease, int64_t bytes, const std::stop_token& client_left = {});

  // Gives back what the lease holds beyond `bytes` >= 0.
  void Shrink(Lease& lease, int64_t bytes);

  // Takes `bytes` >= 0 for work in the background, which may hold them for long, however long it has to wait
  // for them. All such work together holds at most half of the budget, so that requests never wait for its
  // end; a single piece may hold more only when it was charged while that was allowed. A request that fits
  // goes before work that does not fit yet.
  //
  // Errors: INVALID_ARGUMENT as above; CANCELLED when `stop` is requested before.
  absl::StatusOr<Lease> AwaitForWork(int64_t bytes, std::stop_token stop);

  int64_t total() const { return bytes_; }
  int64_t taken() const;
  // The number of requests and of background work that wait.
  int64_t waiting() const;

 private:
  struct Waiter {
    const std::string& holder;
    int64_t bytes = 0;
    int64_t held_before = 0;  // by the same request
    bool is_admitted = false;
    bool is_stopped = false;
  };

  // Waits at most for `longest`, beside the `held_before` bytes of the same request. CANCELLED when `stop` is
  // requested before, DEADLINE_EXCEEDED when it is over.
  absl::StatusOr<Lease> TakeFor(const std::string& holder, int64_t bytes, int64_t held_before,
                                absl::Duration longest, const std::stop_token& stop);
  bool IsWithinShare(const Waiter& waiter) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether another request waits to grow.
  bool AnotherGrows(const Waiter& waiter) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetIfIdle(const std::string& holder) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AdmitWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveBack(const std::string& holder, int64_t bytes);

  const int64_t bytes_;
  const absl::Duration longest_wait_;
  mutable absl::Mutex mutex_;
  int64_t free_ ABSL_GUARDED_BY(mutex_);
  // By the name of the principal, empty for work in the background; also of those that wait.
  std::map<std::string, int64_t> held_ ABSL_GUARDED_BY(mutex_);
  // Those that grow and then the others, both in the order of their arrival.
  std::list<Waiter*> waiting_ ABSL_GUARDED_BY(mutex_);
};

// The memory that one request takes step by step. Not thread-safe.
class RequestMemory {
 public:
  // Counts only: for work whose caller holds a lease of all that it takes.
  RequestMemory() = default;
  // Takes from `budget`, which must outlive it, for a request of `principal`, as long as its client waits.
  RequestMemory(MemoryBudget& budget, Principal principal, std::stop_token client_left)
      : budget_(&budget), principal_(std::move(principal)), client_left_(std::move(client_left)) {}

  // Takes `bytes` >= 0 more, until it is destroyed. Errors: those of MemoryBudget::Take().
  absl::Status Add(int64_t bytes);

  // Likewise, but no more than the budget has: for an answer that was paid for, which is read however little
  // memory the server has.
  absl::Status AddUpToAll(int64_t bytes);

  // Gives back what it holds beyond `bytes` >= 0.
  void ShrinkTo(int64_t bytes);

  int64_t bytes() const { return bytes_; }            // that it holds
  int64_t most_bytes() const { return most_bytes_; }  // that it held at any time

 private:
  MemoryBudget* budget_ = nullptr;
  std::optional<Principal> principal_;
  std::stop_token client_left_;
  MemoryBudget::Lease lease_;
  int64_t bytes_ = 0;
  int64_t most_bytes_ = 0;
};

}  // namespace curator::service
