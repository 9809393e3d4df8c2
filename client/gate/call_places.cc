#include "client/gate/call_places.h"

namespace curator::gate {

std::shared_ptr<void> CallPlaces::Take(const std::string& key) {
  const absl::MutexLock lock(&mutex_);
  const auto found = taken_by_.find(key);
  const int of_one = found == taken_by_.end() ? 0 : found->second;
  if (taken_ >= kMost || of_one >= (key.empty() ? kMostOfNobody : kMostOfOne)) return nullptr;
  ++taken_;
  ++taken_by_[key];
  return {this, [key](CallPlaces* places) {
            const absl::MutexLock giving_back(&places->mutex_);
            --places->taken_;
            if (--places->taken_by_[key] == 0) places->taken_by_.erase(key);
          }};
}

}  // namespace curator::gate
