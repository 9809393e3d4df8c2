// Long work, done by a fixed number of threads, with a bounded queue in front of them.
//
// Thread-safe. The work itself must not throw.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace curator::service {

class WorkQueue {
 public:
  // A place in the queue, taken before anything is charged, so that charged work is never turned away.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept;
    Place& operator=(Place&& other) noexcept;
    ~Place();

   private:
    friend class WorkQueue;
    explicit Place(WorkQueue* queue) : queue_(queue) {}
    WorkQueue* queue_ = nullptr;
  };

  WorkQueue(int threads, int places);
  ~WorkQueue();  // runs what is queued, then ends
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // UNAVAILABLE when all places are taken or the queue is closed.
  absl::StatusOr<Place> Reserve();

  // Runs `work` in its turn on one of the threads.
  void Run(Place place, std::function<void()> work);

  // No further places are given.
  void Close();

 private:
  struct Item {
    Place place;
    std::function<void()> work;
  };

  void WorkerLoop();
  void FreePlace();

  absl::Mutex mutex_;
  int free_places_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Item> items_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace curator::service
