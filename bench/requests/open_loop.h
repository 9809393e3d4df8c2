// Requests that come at fixed times, whether or not earlier ones have been answered: what a server's users
// do.
#pragma once

#include <cstdint>
#include <functional>

#include "bench/requests/measuring.h"

namespace curator::bench {

struct OpenLoad {
  double per_second = 0;
  double seconds = 0;
  double report_every = 10;  // seconds
};

// Sends `load` and passes what was seen in each interval to `report`; returns what was seen in all. A latency
// counts from the time at which its request was due: a server that falls behind cannot slow its clients down.
// Requests that find all clients waiting wait for one.
RequestsSeen SendOpenLoop(const Traffic& traffic, const Served& served, const OpenLoad& load,
                          const std::function<void(double second, const RequestsSeen& seen)>& report);

}  // namespace curator::bench
