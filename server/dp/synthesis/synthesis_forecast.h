// How much processor time a synthesis takes, from public facts alone: its method, settings, workload and
// domain, and a declared number of records. Never the table's own number, and nothing that was measured while
// another synthesis ran: both depend on records.
//
// Each method predicts its own fit (SynthesisPlan::cpu_seconds), from its schedule and from costs that were
// measured once (docs/results/quotas.md). Where a fit ends when it has converged it is taken to end late. So
// a prediction is rather too high; but a fit may take longer, and only the server's limit bounds it.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>

namespace curator::dp {

// The declared number of records where a request states none.
inline constexpr int64_t kUsualRecords = 1'000'000;

// As a double, which products of costs need; at least 0.
double DeclaredRecords(std::optional<int64_t> stated);

// Of counting so many sets of attributes once in so many records.
double CountingSeconds(double sets, double records);

// The prediction as it is shown and counted: rounded up, at least 1. 2^53 where it is more, or no number.
int64_t WholeCpuSeconds(double seconds);

}  // namespace curator::dp
