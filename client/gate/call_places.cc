#include "client/gate/call_places.h"

namespace curator::gate {

std::shared_ptr<CallPlaces::Place> CallPlaces::Take(const std::string& principal) {
  const absl::MutexLock lock(&mutex_);
  const auto found = of_.find(principal);
  const int of_one = found == of_.end() ? 0 : found->second.calls;
  if (all_.calls >= kMost || of_one >= (principal.empty() ? kMostOfNobody : kMostOfOne)) return nullptr;
  ++all_.calls;
  ++of_[principal].calls;
  return std::make_shared<Place>(*this, principal);
}

bool CallPlaces::Place::Grow(size_t bytes) {
  const absl::MutexLock lock(&places_.mutex_);
  Taken& of_one = places_.of_[principal_];
  if (bytes > kMostBytes - places_.all_.bytes || bytes > kMostBytesOfOne - of_one.bytes) return false;
  places_.all_.bytes += bytes;
  of_one.bytes += bytes;
  bytes_ += bytes;
  return true;
}

CallPlaces::Place::~Place() {
  const absl::MutexLock lock(&places_.mutex_);
  places_.all_.bytes -= bytes_;
  --places_.all_.calls;
  const auto found = places_.of_.find(principal_);
  found->second.bytes -= bytes_;
  if (--found->second.calls == 0) places_.of_.erase(found);
}

}  // namespace curator::gate
