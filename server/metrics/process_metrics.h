// The process_* metrics by which Prometheus' own dashboards know a process, from /proc/self.
//
// Memory and processor time grow with the records that were loaded and read, whose number is private: they
// are rounded up to kMemoryStep and to whole seconds.
#pragma once

#include <cstdint>

#include "metrics/metric_set.h"

namespace curator::metrics {

inline constexpr int64_t kMemoryStep = int64_t{64} << 20;

// Of the process that asks for the text, which started when this is called.
void AddProcessMetrics(MetricSet& metrics);

}  // namespace curator::metrics
