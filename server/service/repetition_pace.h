// How often one principal is answered from what its own earlier requests stored. Such a repetition costs its
// client nothing, so a client that repeats a request in a loop must not take the store's connections and the
// processors from the charges of others.
//
// A repetition takes one share, and another one for each 4 MiB that it reads. A principal gets shares at a
// fixed rate and keeps those of a pause; one that has none left is refused, and so is one that has
// kMostAtOnce repetitions answered at the same time. A refusal depends on the principal's own repetitions
// alone.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/principal.h"

namespace curator::service {

class RepetitionPace {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Clock = std::function<Time()>;

  static constexpr int kMostAtOnce = 4;
  static constexpr std::chrono::milliseconds kShare{50};
  static constexpr int kSharesOfAPause = 20;  // the most that a principal has at once, after a pause
  static constexpr int64_t kBytesOfAShare = int64_t{4} << 20;

  // The right to answer one repetition, until it is destroyed. The pace must outlive it.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept { *this = std::move(other); }
    Place& operator=(Place&& other) noexcept;
    ~Place();

   private:
    friend class RepetitionPace;
    Place(RepetitionPace* pace, std::string principal) : pace_(pace), principal_(std::move(principal)) {}
    RepetitionPace* pace_ = nullptr;
    std::string principal_;
  };

  explicit RepetitionPace(Clock clock = std::chrono::steady_clock::now) : clock_(std::move(clock)) {}

  // Errors: OverQuota() (base/errors.h).
  absl::StatusOr<Place> Take(const Principal& principal);

  // Records a repetition that needs no place.
  void Record(const Principal& principal);
  // Whether the principal has repeated a request in the last minute: its requests are looked up before
  // anything else is done for them.
  bool HasRepeatedLately(const Principal& principal);

  // Uses up the shares for reading `bytes`, beside that of the repetition.
  void CountBytes(const Principal& principal, int64_t bytes);

 private:
  struct Repetitions {
    int running = 0;
    Time used_up_to;  // the shares until then are used
  };

  Repetitions& Of(const Principal& principal) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void UseShares(Repetitions& of, int64_t shares) const;
  void Free(const std::string& principal);

  const Clock clock_;
  absl::Mutex mutex_;
  std::map<std::string, Repetitions> repetitions_ ABSL_GUARDED_BY(mutex_);  // by principal
};

}  // namespace curator::service
