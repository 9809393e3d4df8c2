// Progress reports of a long computation.
#pragma once

#include <functional>

namespace curator {

// Called with a share in [0, 1] that never decreases. The share must be a function of public facts (rounds
// done of rounds planned), because it leaves the process before the answer does. May be called from any
// thread; must not block.
using Progress = std::function<void(double share)>;

inline Progress NoProgress() {
  return [](double) {};
}

}  // namespace curator
