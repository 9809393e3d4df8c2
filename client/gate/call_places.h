// How many calls of the server may be open at a time, for each session and in all.
//
// Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace curator::gate {

class CallPlaces {
 public:
  static constexpr int kMostOfOne = 16;
  static constexpr int kMostOfNobody = 64;  // of all who are not signed in, together
  static constexpr int kMost = 512;

  // A place for a call of the session `key`, until the last copy of it is destroyed; empty: of nobody. Null
  // where there is none. Must not outlive this object.
  std::shared_ptr<void> Take(const std::string& key);

 private:
  absl::Mutex mutex_;
  int taken_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, int> taken_by_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::gate
