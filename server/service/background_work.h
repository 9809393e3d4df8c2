// Long work in this process: the threads that run it, and a registry of the operations that are running.
//
// Thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace curator::service {

// The operations that run in this process, by the id of the charge that pays for each.
//
// The ledger holds the durable state of an operation; this registry adds what only the running process knows:
// its progress, how to stop it, and when it ends.
class RunningOperations {
 public:
  // Registers the operation for as long as the ticket lives. The registry must outlive it.
  class Ticket {
   public:
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

    std::stop_token stop_token() const { return stop_.get_token(); }
    // Stops the work as RunningOperations::RequestStop() does.
    void RequestStop() { stop_.request_stop(); }
    // The work has begun: listeners are called.
    void NoteBegun();
    void SetShareDone(double share);

   private:
    friend class RunningOperations;
    Ticket(RunningOperations& registry, std::string charge_id);

    RunningOperations& registry_;
    const std::string charge_id_;
    std::stop_source stop_;
    double share_done_ = 0;  // guarded by the registry's mutex
  };

  // Registers an operation. The charge must not be running already. After Abandon() the new operation is
  // stopped at once.
  std::shared_ptr<Ticket> Start(std::string charge_id);

  // The share done in [0, 1], or none when no such operation runs here.
  std::optional<double> ShareDone(std::string_view charge_id) const;

  // Asks the operation to stop. False when it does not run here.
  bool RequestStop(std::string_view charge_id);

  // Asks an operation that has not begun to stop, and forgets it: it has ended.
  void Dismiss(std::string_view charge_id);

  // This process is stopping: stops the operations that are running; another process may resume them.
  // Permanent.
  void Abandon();
  bool abandoning() const;
  // Waits for Abandon(), at most for `patience`. Whether it was called.
  bool AwaitAbandoned(absl::Duration patience) const;

  // Called with the id of an operation that has begun, whose share done has changed by a thousandth, or that
  // has ended, on the thread of its work or of its cancellation; must not block. After SetListener() has
  // returned the earlier one is not called.
  using Listener = std::function<void(std::string_view charge_id)>;
  void SetListener(Listener listener);

  // Waits until the operation has ended or `deadline` has passed.
  void AwaitEnd(std::string_view charge_id, absl::Time deadline) const;

  // Waits until no operation runs. False when `deadline` passed before that.
  bool AwaitAllEnded(absl::Time deadline) const;

 private:
  void Notify(std::string_view charge_id);

  absl::Mutex listener_mutex_;  // never taken while mutex_ is held
  Listener listener_ ABSL_GUARDED_BY(listener_mutex_);
  mutable absl::Mutex mutex_;
  bool abandoning_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, Ticket*, std::less<>> running_ ABSL_GUARDED_BY(mutex_);
};

// Runs work on `threads` threads, first in, first out. At most `places` pieces of work are reserved, queued
// or running. The work must not throw.
class WorkQueue {
 public:
  // The right to queue one piece of work, held until the work has returned or the place is destroyed.
  // Reserved before the charge, so that charged work is never refused. The queue must outlive it.
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
  ~WorkQueue();  // runs what is queued, then returns
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // UNAVAILABLE when all places are taken or the queue is closed.
  absl::StatusOr<Place> Reserve();

  // Queues `work` for one of the threads. Once `stop` is requested, work that has not begun is dropped, at
  // the latest when its place is needed.
  void Run(Place place, std::function<void()> work, std::stop_token stop = {});

  // Refuses further reservations. What is queued is still run: work that can wait for another process checks
  // is_closed().
  void Close();
  bool is_closed();

 private:
  struct Item {
    Place place;
    std::function<void()> work;
    std::stop_token stop;
  };

  void WorkerLoop();
  void FreePlace();
  // Takes the stopped items out of the queue. Destroying them, without the lock, frees their places.
  std::vector<Item> TakeStopped() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  int free_places_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Item> items_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace curator::service
