// Threads for code that must not start any itself.
#pragma once

#include <functional>

namespace curator {

// Thread-safe.
class Executor {
 public:
  virtual ~Executor() = default;

  // Calls `work(0)` on the calling thread and, on other cores that are free at this moment, `work(1)`,
  // `work(2)`, ..., at most `most` calls in all; returns when all have returned. The calls share out what
  // there is to do among themselves, so that one of them alone would do all of it. `work` must not throw.
  virtual void RunOnFreeCores(int most, const std::function<void(int)>& work) = 0;
};

// No other core.
class CallingThread final : public Executor {
 public:
  void RunOnFreeCores(int /*most*/, const std::function<void(int)>& work) override { work(0); }
};

inline Executor& OnlyThisThread() {
  static CallingThread executor;
  return executor;
}

}  // namespace curator
