#include "bench/requests/measuring.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "absl/strings/str_format.h"

namespace curator::bench {
namespace {

// On a line of the cache of its own.
struct alignas(64) Turn {
  int64_t next = 0;
};

}  // namespace

RequestsSeen Measure(const Traffic& traffic, const Served& served, const Load& load) {
  // Each client takes its own principals by turns, as far as there are enough.
  std::vector<Turn> turns(static_cast<size_t>(load.clients));
  for (size_t client = 0; client < turns.size(); ++client) turns[client].next = static_cast<int64_t>(client);
  std::atomic<int64_t> refusals = 0;
  const double before = served.process.ProcessorSeconds();
  const Observed observed = ChargeByClients(load, [&](int client) {
    int64_t& turn = turns[static_cast<size_t>(client)].next;
    traffic.Send(served.connections, client, turn, refusals);
    turn += load.clients;
  });
  const double used = served.process.ProcessorSeconds() - before;
  const double requests = static_cast<double>(std::max<int64_t>(observed.charges, 1));
  return {.observed = observed, .refusals = refusals, .processor_us = 1e6 * used / requests};
}

void KeepBest(RequestsSeen& best, const RequestsSeen& seen) {
  if (seen.observed.per_second > best.observed.per_second) best = seen;
}

std::string SeenText(const RequestsSeen& seen) {
  return absl::StrFormat("%10.0f %8.0f %8.0f %9.0f %8d %7.0f", seen.observed.per_second,
                         seen.observed.median_us, seen.observed.p99_us, seen.observed.p999_us, seen.refusals,
                         seen.processor_us);
}

std::string SeenText(const Observed& seen) {
  return absl::StrFormat("%10.0f %8.0f %8.0f %9.0f %8s %7s", seen.per_second, seen.median_us, seen.p99_us,
                         seen.p999_us, "-", "-");
}

}  // namespace curator::bench
