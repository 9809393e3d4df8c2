// Bounds how many changes of one lineage are in the store at once: those that wait for a row which another
// server has locked leave connections to the changes of others.
//
// Thread-safe. Must outlive its places. Callers that wait are served in the order of their requests, except
// that one whose lineage has no place lets others pass.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"

namespace curator::ledger::sql {

class WriterPlaces {
  struct Lineage {
    size_t taken = 0;
    size_t waiting = 0;
  };
  using Lineages = std::map<std::string, Lineage, std::less<>>;

 public:
  WriterPlaces(size_t most_of_one, size_t most_in_all)
      : most_of_one_(most_of_one), most_in_all_(most_in_all) {}

  // Free again when it is destroyed.
  class Place {
   public:
    ~Place() {
      if (places_ != nullptr) places_->Leave(lineage_);
    }
    Place(Place&& other) noexcept
        : places_(std::exchange(other.places_, nullptr)), lineage_(other.lineage_) {}
    Place& operator=(Place&&) = delete;

   private:
    friend class WriterPlaces;
    Place(WriterPlaces& places, Lineages::iterator lineage) : places_(&places), lineage_(lineage) {}

    WriterPlaces* places_;
    Lineages::iterator lineage_;
  };

  // Blocks while the lineage has as many places as one may have, or all are taken; none when `longest_wait`
  // passes before.
  std::optional<Place> Enter(std::string_view lineage, std::chrono::milliseconds longest_wait);

 private:
  struct Waiter {
    Lineage* lineage = nullptr;
    std::condition_variable entered;
    bool has_entered = false;
  };

  // Takes a place if there is one.
  bool TryTake(Lineage& lineage) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetIfUnused(Lineages::iterator lineage) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Leave(Lineages::iterator lineage);

  const size_t most_of_one_;
  const size_t most_in_all_;
  std::mutex mutex_;
  std::list<Waiter> waiting_ ABSL_GUARDED_BY(mutex_);  // the longest wait first
  size_t in_all_ ABSL_GUARDED_BY(mutex_) = 0;
  Lineages lineages_ ABSL_GUARDED_BY(mutex_);  // those with a place or a waiter
};

}  // namespace curator::ledger::sql
