// Time as a parameter.
#pragma once

#include <cstdint>
#include <functional>

namespace curator::host {

// Microseconds since 1970-01-01 00:00 UTC. May be called from any thread; need not be monotonic.
using Clock = std::function<int64_t()>;

// The system's clock.
Clock SystemClock();

}  // namespace curator::host
