// The latest comparisons of histories, so that showing a budget again computes nothing while nothing was
// charged.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/principal.h"
#include "dp/accounting/comparison.h"

namespace curator::service {

class ComparisonCache {
 public:
  using Rows = std::vector<dp::CalculatedEpsilon>;

  // Keeps `most` >= 1 of some kilobytes each, at most `most_of_one` >= 1 of one caller; those used longest
  // ago are dropped.
  explicit ComparisonCache(size_t most = 1000, size_t most_of_one = 30)
      : most_(most), most_of_one_(most_of_one) {}

  // What was kept for `caller` under `key`, which determines the rows.
  std::optional<Rows> Find(const Principal& caller, std::string_view key);
  void Keep(const Principal& caller, std::string_view key, Rows rows);

 private:
  struct Kept {
    std::string caller;
    std::string key;
    Rows rows;
  };

  std::list<Kept>::iterator Position(const Principal& caller, std::string_view key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t most_;
  const size_t most_of_one_;
  absl::Mutex mutex_;
  std::list<Kept> kept_ ABSL_GUARDED_BY(mutex_);  // the latest used first
};

}  // namespace curator::service
