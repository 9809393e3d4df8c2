// Gives turns to one caller at a time, in the order of their requests. A caller that releases its turn
// between pieces of work lets earlier waiters run.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"

namespace curator::ledger::sql {

class Turns {
 public:
  // Ends when it is destroyed.
  class Turn {
   public:
    explicit Turn(Turns& turns) : turns_(&turns) {}
    ~Turn() {
      if (turns_ != nullptr) turns_->End();
    }
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Turn& operator=(Turn&&) = delete;

   private:
    Turns* turns_;
  };

  // Returns when it is the caller's turn.
  Turn Take();
  // None when `longest` has passed before the turn came.
  std::optional<Turn> TakeWithin(std::chrono::milliseconds longest);
  // How many callers wait.
  int64_t waiting() const;

 private:
  struct Place {};

  void End();

  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::list<Place> waiting_ ABSL_GUARDED_BY(mutex_);  // in the order in which they asked
  bool is_taken_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace curator::ledger::sql
