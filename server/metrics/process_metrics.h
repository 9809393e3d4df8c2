// The process_* metrics by which Prometheus' own dashboards know a process, from /proc/self.
//
// Memory and processor time grow with the records that were loaded and read, whose number is private. Memory
// is rounded up to kMemoryStep. Processor time is not there: in whatever steps it came, its growth over many
// calls would tell what one of them took.
#pragma once

#include <cstdint>

#include "metrics/metric_set.h"

namespace curator::metrics {

inline constexpr int64_t kMemoryStep = int64_t{64} << 20;

// Of the process that asks for the text, which started when this is called.
void AddProcessMetrics(MetricSet& metrics);

}  // namespace curator::metrics
