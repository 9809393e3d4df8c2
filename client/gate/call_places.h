// How many calls of the server may be open at a time, and how much memory their answers may take, for each
// principal and in all.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace curator::gate {

class CallPlaces {
 public:
  static constexpr int kMostOfOne = 32;
  static constexpr int kMostOfNobody = 64;  // of all who are not signed in, together
  static constexpr int kMost = 512;
  static constexpr size_t kMostBytesOfOne = size_t{64} << 20;
  static constexpr size_t kMostBytes = size_t{256} << 20;

  // The place of one call, until its answer has been taken. Thread-safe.
  class Place {
   public:
    Place(CallPlaces& places, std::string principal) : places_(places), principal_(std::move(principal)) {}
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // Counts so many bytes more of the call's answer. False, and nothing is counted, where there is no room.
    bool Grow(size_t bytes);

   private:
    CallPlaces& places_;
    const std::string principal_;
    size_t bytes_ = 0;  // guarded by the mutex of places_
  };

  // A place for a call of the principal; empty: of nobody. Null where there is none. Must not outlive this
  // object.
  std::shared_ptr<Place> Take(const std::string& principal);

 private:
  struct Taken {
    int calls = 0;
    size_t bytes = 0;
  };

  absl::Mutex mutex_;
  Taken all_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Taken> of_ ABSL_GUARDED_BY(mutex_);  // by principal
};

}  // namespace curator::gate
