// What is read of the directory of principals for metrics.
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "directory/directory_store.h"
#include "metrics/metric_set.h"

namespace curator {

// `current`: DirectoryStore::Current(); thread-safe, must stay callable as long as `set` is read. While
// it fails there are no series: a 0 in the place of a counter's value would look like its fall, and the next
// value like a rise.
void AddDirectoryMetrics(metrics::MetricSet& set,
                         std::function<absl::StatusOr<directory::DirectoryStore::Snapshot>()> current);

}  // namespace curator
