// The interface by which computations run on several threads without starting any themselves.
#pragma once

#include <functional>

namespace curator {

// Thread-safe.
class Executor {
 public:
  virtual ~Executor() = default;

  // Calls `work(0)` on the calling thread and, on other cores that are idle at this moment, `work(1)`,
  // `work(2)`, ..., at most `most` calls in all; returns when all have returned. The calls must divide the
  // work among themselves such that a single call does all of it. `work` must not throw.
  virtual void RunOnFreeCores(int most, const std::function<void(int)>& work) = 0;
};

// Uses only the calling thread.
class CallingThread final : public Executor {
 public:
  void RunOnFreeCores(int /*most*/, const std::function<void(int)>& work) override { work(0); }
};

inline Executor& OnlyThisThread() {
  static CallingThread executor;
  return executor;
}

}  // namespace curator
