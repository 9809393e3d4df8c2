// The latest comparisons of histories, so that showing a budget again computes nothing while nothing was
// charged.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dp/accounting/comparison.h"

namespace curator::service {

class ComparisonCache {
 public:
  using Rows = std::vector<dp::CalculatedEpsilon>;

  // Keeps `most` >= 1 of some kilobytes each; those used longest ago are dropped.
  explicit ComparisonCache(size_t most = 1000) : most_(most) {}

  // What was kept under `key`. The key determines the rows, and names whose they are: no
  // caller is shown what was computed for another. All callers share the number of entries kept.
  std::optional<Rows> Find(std::string_view key);
  void Keep(std::string_view key, Rows rows);

 private:
  using Kept = std::pair<std::string, Rows>;

  const size_t most_;
  absl::Mutex mutex_;
  std::list<Kept> kept_ ABSL_GUARDED_BY(mutex_);  // the latest used first
  std::map<std::string, std::list<Kept>::iterator, std::less<>> by_key_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::service
