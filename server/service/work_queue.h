// The threads of long work, and the work that waits for them: principals take turns, so that one who queues
// much delays another by one piece of work at most for each thread.
//
// The order is start-time fair queueing (P. Goyal, H. Vin, H. Cheng, "Start-time Fair Queueing", IEEE/ACM
// Transactions on Networking 5(5), 1997), in which each piece counts the same: a principal's next piece is
// due one piece after its last one, or now if that is later, and what is due first begins first.
//
// What the order and a refusal depend on is public: who asked for what, and when. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/periodic.h"
#include "base/principal.h"

namespace curator::service {

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
    Place(WorkQueue& queue, std::string holder) : queue_(&queue), holder_(std::move(holder)) {}
    WorkQueue* queue_ = nullptr;
    std::string holder_;
  };

  // A piece of work. It must not throw. It runs with the trace (base/trace.h) of the thread that queued it.
  struct Work {
    std::string id;  // of its operation; unique
    std::function<void()> run;
    // Once it is requested, work that has not begun is dropped, at the latest when its place is needed.
    std::stop_token stop = {};
  };

  // Called with the ids of all queued work when positions have been published; must not block.
  using OnMoved = std::function<void(const std::vector<std::string>& ids)>;

  // How often positions are published.
  static constexpr std::chrono::milliseconds kBetweenPositions = std::chrono::seconds(10);

  // At most `places` pieces of work are reserved, queued or running; of one principal a quarter of them, but
  // at least two. One principal's work never takes all threads where there are several.
  WorkQueue(int threads, int places, OnMoved on_moved = {},
            std::chrono::milliseconds between_positions = kBetweenPositions);
  ~WorkQueue();  // runs what is queued, then returns
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // OverQuota() (base/errors.h) when the principal holds as many places as one may; UNAVAILABLE when all are
  // taken or the queue is closed.
  absl::StatusOr<Place> Reserve(const Principal& principal);

  // Queues the work of the principal that reserved the place.
  void Run(Place place, Work work);

  int64_t most_places_of_one() const { return most_places_; }
  // That the principal of this name holds.
  int64_t PlacesOf(const std::string& principal);

  // What it has now, for measurements.
  struct Load {
    int64_t running = 0;
    int64_t waiting = 0;
    std::chrono::steady_clock::duration oldest = {};  // of what waits: how long
  };
  Load CurrentLoad();

  // As last published: 1 for the work that a thread takes next, and so on. None for work that has begun, is
  // not queued here, or was queued since. When a piece begins shows when others end, whose durations can
  // depend on records: so positions change at fixed times alone.
  std::optional<int64_t> PositionOf(std::string_view id);
  void PublishPositions();

  // Refuses further reservations. What is queued is still run: work that can wait for another process checks
  // is_closed().
  void Close();
  bool is_closed();

 private:
  struct Item {
    Place place;
    Work work;
    uint64_t arrival = 0;
    std::chrono::steady_clock::time_point queued_at = {};
    std::string trace_id = {};
  };
  // Of one principal: what it has here, and when its first waiting piece is due, in pieces of work. The next
  // ones are due one piece later each.
  struct Share {
    int places = 0;
    int running = 0;
    int64_t due = 0;
    std::deque<Item> waiting;
  };
  using Shares = std::map<std::string, Share>;

  void WorkerLoop();
  // Of the principal whose turn it is: the end when no work may begin now.
  Shares::iterator NextToRun() ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  bool HasWaiting() const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  Item TakeFirst(Share& share) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The ids of queued work in the order of their turns.
  std::vector<std::string> InOrder() const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // Takes the stopped items out of the queue. Destroying them, without the lock, frees their places.
  std::vector<Item> TakeStopped() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FreePlace(const std::string& holder);
  void EndRun(const std::string& holder);
  // A share that holds nothing delays nobody once all others have had as many turns.
  void ForgetIdleShares() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int most_places_;  // of one principal
  const int most_running_;
  const OnMoved on_moved_;
  absl::Mutex mutex_;
  int free_places_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  Shares shares_ ABSL_GUARDED_BY(mutex_);
  int64_t due_now_ ABSL_GUARDED_BY(mutex_) = 0;  // when the piece that began last was due
  uint64_t arrivals_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> published_ ABSL_GUARDED_BY(mutex_);  // ids in the order of their turns
  std::vector<std::thread> threads_;
  Periodic publishes_;  // the last member: it uses the others
};

}  // namespace curator::service
