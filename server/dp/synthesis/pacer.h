// Counts the steps of a long computation and checks, often enough, whether it was asked to stop.
//
// Not thread-safe: one computation, one pacer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <utility>

#include "absl/status/status.h"

namespace curator::dp {

class Pacer {
 public:
  // A computation calls Advance() with at most this many steps at once.
  static constexpr int64_t kMostSteps = int64_t{1} << 19;

  explicit Pacer(std::stop_token stop) : stop_(std::move(stop)) {}

  // Counts `steps` elementary steps (a cell read or written) that are about to be done. Errors: CANCELLED
  // when a stop was requested. As long as calls count at most kMostSteps, fewer than 2^20 steps pass between
  // two checks.
  absl::Status Advance(int64_t steps) {
    steps_ += steps;
    since_check_ += steps;
    if (since_check_ < kMostSteps) return absl::OkStatus();
    return Check();
  }

  // CANCELLED when a stop was requested.
  absl::Status Check() {
    longest_stride_ = std::max(longest_stride_, since_check_);
    since_check_ = 0;
    ++checks_;
    const bool stops = stop_.stop_requested() || checks_ >= stopping_check_;
    return stops ? absl::CancelledError("the work was asked to stop") : absl::OkStatus();
  }

  // Calls work(start, length), which returns nothing, on consecutive pieces of 0..count-1, and counts their
  // steps before each. CANCELLED when a stop was requested: the remaining pieces are not done.
  template <typename Work>
  absl::Status InPieces(size_t count, Work work) {
    for (size_t start = 0; start < count; start += kMostSteps) {
      const size_t length = std::min<size_t>(kMostSteps, count - start);
      if (absl::Status go_on = Advance(static_cast<int64_t>(length)); !go_on.ok()) return go_on;
      work(start, length);
    }
    return absl::OkStatus();
  }

  int64_t steps() const { return steps_; }

 private:
  friend struct PacerProbe;  // testing/pacer_probe.h

  std::stop_token stop_;
  int64_t steps_ = 0;
  int64_t since_check_ = 0;
  int64_t longest_stride_ = 0;
  int64_t checks_ = 0;
  int64_t stopping_check_ = INT64_MAX;  // the one that answers as if a stop had just been requested
};

}  // namespace curator::dp
