// How far a piece of long work has come, told by the work itself.
#pragma once

#include <functional>

namespace curator {

// Called with a share in [0, 1] that never falls. What is told must be a function of public facts (rounds
// done of rounds planned), because it leaves the process before the answer does. May be called from any
// thread; must not block.
using Progress = std::function<void(double share)>;

inline Progress NoProgress() {
  return [](double) {};
}

}  // namespace curator
