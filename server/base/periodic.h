// Repeats work on a thread of its own.
//
// Thread-safe. Must not be destroyed by its own work.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace curator {

class Periodic {
 public:
  // Runs `work` for the first time after one `pause`, and waits `pause` after each run. A run that throws
  // std::exception, such as bad_alloc, has failed; the next one follows as usual.
  Periodic(std::chrono::milliseconds pause, std::function<void()> work);
  // Waits for a run that has begun.
  ~Periodic() = default;
  Periodic(const Periodic&) = delete;
  Periodic& operator=(const Periodic&) = delete;

 private:
  void Run(const std::stop_token& stop);

  const std::chrono::milliseconds pause_;
  const std::function<void()> work_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // stopped and joined before the members above are destroyed
};

}  // namespace curator
