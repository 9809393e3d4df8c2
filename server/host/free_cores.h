// The machine's cores, lent to whoever asks first.
#pragma once

#include <atomic>

#include "base/executor.h"

namespace curator::host {

// At most as many threads run for it at once as there are cores beside one: whoever finds them all lent works
// alone, and does not wait. Thread-safe.
class FreeCores final : public Executor {
 public:
  // Of `cores` cores, one is the caller's own.
  explicit FreeCores(int cores) : free_(cores > 0 ? cores - 1 : 0) {}

  // As many as this process may run on.
  FreeCores();

  void RunOnFreeCores(int most, const std::function<void(int)>& work) override;

 private:
  int Borrow(int wanted);

  std::atomic<int> free_;
};

}  // namespace curator::host
