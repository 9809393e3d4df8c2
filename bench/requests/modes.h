// The tables that bench_requests prints.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/requests/world.h"

namespace curator::bench {

struct CompareOptions {
  std::vector<int> clients;
  double seconds = 2;
  int rounds = 3;
};
// Each kind and its echo by turns, then what the store does with plain transactions; each the best of its
// rounds.
void Compare(World& world, const CompareOptions& options);

// Each kind by 1 and 32 clients, while nothing else runs and while a synthesis does.
void MeasureBeside(World& world, double seconds);

struct HistoryOptions {
  int64_t releases = 100'000;
  int64_t charges = 1'000'000;
};
// Each kind by 1 and 32 clients: on a fresh ledger, after so many releases, and after so many charges
// besides.
void MeasureHistory(World& world, const HistoryOptions& options);

struct OpenOptions {
  double fraction = 0.5;  // of what 32 clients get when each waits for its answers
  double seconds = 600;
};
// The first kind at a fixed rate, and the server's memory, every ten seconds.
void MeasureOpenLoop(World& world, const OpenOptions& options);

}  // namespace curator::bench
