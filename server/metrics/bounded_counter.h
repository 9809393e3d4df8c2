// Counters of one family by the values of a few labels, of which there is a bounded number.
//
// Thread-safe.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/registry.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"

namespace curator::metrics {

class BoundedCounter {
 public:
  // The family belongs to the registry, which must outlive this. Beyond `most` series, what would be a new
  // one is counted as one whose values are all "other".
  BoundedCounter(prometheus::Registry& registry, const std::string& name, const std::string& help,
                 std::vector<std::string> label_names, size_t most = 1000);

  // `values` in the order of the names.
  void Count(const std::vector<std::string>& values, double by = 1);

 private:
  prometheus::Counter& Find(const std::vector<std::string>& values) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::vector<std::string> names_;
  const size_t most_;
  prometheus::Family<prometheus::Counter>& family_;
  std::mutex mutex_;
  std::map<std::vector<std::string>, prometheus::Counter*> counters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::metrics
