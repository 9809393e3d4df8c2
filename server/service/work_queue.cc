#include "service/work_queue.h"

#include <utility>

#include "host/scheduling.h"

namespace curator::service {

WorkQueue::Place::Place(Place&& other) noexcept : queue_(std::exchange(other.queue_, nullptr)) {}

WorkQueue::Place& WorkQueue::Place::operator=(Place&& other) noexcept {
  std::swap(queue_, other.queue_);
  return *this;
}

WorkQueue::Place::~Place() {
  if (queue_ != nullptr) queue_->FreePlace();
}

WorkQueue::WorkQueue(int threads, int places) : free_places_(places) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { WorkerLoop(); });
}

WorkQueue::~WorkQueue() {
  {
    const absl::MutexLock lock(&mutex_);
    closed_ = true;
    ending_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

absl::StatusOr<WorkQueue::Place> WorkQueue::Reserve() {
  const absl::MutexLock lock(&mutex_);
  if (closed_)
    return absl::UnavailableError("the server is shutting down: ask again later with the same request id");
  if (free_places_ == 0) {
    return absl::UnavailableError(
        "the server has as much long work as it can take: ask again later with the same request id");
  }
  --free_places_;
  return Place(this);
}

void WorkQueue::Run(Place place, std::function<void()> work) {
  const absl::MutexLock lock(&mutex_);
  items_.push_back({std::move(place), std::move(work)});
}

void WorkQueue::Close() {
  const absl::MutexLock lock(&mutex_);
  closed_ = true;
}

void WorkQueue::WorkerLoop() {
  host::RequestDefaultTimeSlice();
  while (true) {
    Item item;
    {
      const absl::MutexLock lock(&mutex_);
      const auto has_news = [this]()
                                ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return ending_ || !items_.empty(); };
      mutex_.Await(absl::Condition(&has_news));
      if (items_.empty()) return;
      item = std::move(items_.front());
      items_.pop_front();
    }
    item.work();
  }
}

void WorkQueue::FreePlace() {
  const absl::MutexLock lock(&mutex_);
  ++free_places_;
}

}  // namespace curator::service
