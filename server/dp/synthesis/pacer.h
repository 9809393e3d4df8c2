// Long computations count their steps here, and learn in time that nobody wants the result any more.
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
  // Whoever counts steps does so at least this often.
  static constexpr int64_t kMostSteps = int64_t{1} << 19;

  explicit Pacer(std::stop_token stop) : stop_(std::move(stop)) {}

  // `steps` elementary steps (a cell read or written) are about to be done. CANCELLED when the stop token
  // asks for it; it is looked at often enough that calls of at most kMostSteps leave no 2^20 steps between
  // two looks.
  absl::Status Advance(int64_t steps) {
    steps_ += steps;
    since_look_ += steps;
    if (since_look_ < kMostSteps) return absl::OkStatus();
    return Look();
  }

  // The same, now.
  absl::Status Look() {
    longest_stride_ = std::max(longest_stride_, since_look_);
    since_look_ = 0;
    ++looks_;
    return stop_.stop_requested() ? absl::CancelledError("the work was told to stop") : absl::OkStatus();
  }

  // Calls work(start, length) on consecutive pieces of 0..count-1, and counts their steps.
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
  int64_t looks() const { return looks_; }

  // The most steps between two looks, or since the last one: below 2^20 when calls kept to kMostSteps.
  int64_t longest_stride() const { return std::max(longest_stride_, since_look_); }

 private:
  std::stop_token stop_;
  int64_t steps_ = 0;
  int64_t since_look_ = 0;
  int64_t longest_stride_ = 0;
  int64_t looks_ = 0;
};

}  // namespace curator::dp
