// Measures one kind of requests, closed-loop: each client sends its next request when the last one is
// answered.
#pragma once

#include <cstdint>
#include <string>

#include "bench/ledger_load.h"
#include "bench/requests/world.h"

namespace curator::bench {

struct RequestsSeen {
  Observed observed;        // a request that was refused ends when a repetition of it is answered
  int64_t refusals = 0;     // of calls
  double processor_us = 0;  // of the serving process for each request
};

RequestsSeen Measure(const Traffic& traffic, const Served& served, const Load& load);

void KeepBest(RequestsSeen& best, const RequestsSeen& seen);

// The columns of a table: requests/s, p50, p99, p99.9, refused, processor time.
inline constexpr char kSeenColumns[] = "requests/s   p50 us   p99 us  p99.9 us  refused  cpu us";
std::string SeenText(const RequestsSeen& seen);
// The same of a plain way, which has no refusals and whose processes are not watched.
std::string SeenText(const Observed& seen);

}  // namespace curator::bench
