#include "host/clock.h"

#include <chrono>

namespace curator::host {

Clock SystemClock() {
  return [] {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<int64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
  };
}

}  // namespace curator::host
