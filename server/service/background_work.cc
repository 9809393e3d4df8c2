#include "service/background_work.h"

#include <cmath>
#include <utility>

#include "host/scheduling.h"

namespace curator::service {
namespace {

constexpr double kNotedShares = 1000;

}  // namespace

RunningOperations::Ticket::Ticket(RunningOperations& registry, std::string charge_id)
    : registry_(registry), charge_id_(std::move(charge_id)) {}

RunningOperations::Ticket::~Ticket() {
  {
    const absl::MutexLock lock(&registry_.mutex_);
    const auto found = registry_.running_.find(charge_id_);
    if (found != registry_.running_.end() && found->second == this) registry_.running_.erase(found);
  }
  registry_.Notify(charge_id_);
}

void RunningOperations::Ticket::NoteBegun() {
  registry_.Notify(charge_id_);
}

void RunningOperations::Ticket::SetShareDone(double share) {
  {
    const absl::MutexLock lock(&registry_.mutex_);
    const bool is_news = std::floor(share * kNotedShares) != std::floor(share_done_ * kNotedShares);
    share_done_ = share;
    if (!is_news) return;
  }
  registry_.Notify(charge_id_);
}

void RunningOperations::SetListener(Listener listener) {
  const absl::MutexLock lock(&listener_mutex_);
  listener_ = std::move(listener);
}

void RunningOperations::Notify(std::string_view charge_id) {
  const absl::ReaderMutexLock lock(&listener_mutex_);
  if (listener_) listener_(charge_id);
}

std::shared_ptr<RunningOperations::Ticket> RunningOperations::Start(std::string charge_id) {
  std::shared_ptr<Ticket> ticket(new Ticket(*this, std::move(charge_id)));
  const absl::MutexLock lock(&mutex_);
  running_[ticket->charge_id_] = ticket.get();
  if (abandoning_) ticket->RequestStop();
  return ticket;
}

std::optional<double> RunningOperations::ShareDone(std::string_view charge_id) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = running_.find(charge_id);
  if (found == running_.end()) return std::nullopt;
  return found->second->share_done_;
}

bool RunningOperations::RequestStop(std::string_view charge_id) {
  const absl::MutexLock lock(&mutex_);
  const auto found = running_.find(charge_id);
  if (found == running_.end()) return false;
  found->second->stop_.request_stop();
  return true;
}

void RunningOperations::Dismiss(std::string_view charge_id) {
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = running_.find(charge_id);
    if (found == running_.end()) return;
    found->second->stop_.request_stop();
    running_.erase(found);
  }
  Notify(charge_id);
}

void RunningOperations::Abandon() {
  const absl::MutexLock lock(&mutex_);
  abandoning_ = true;
  for (const auto& [charge_id, ticket] : running_) ticket->stop_.request_stop();
}

bool RunningOperations::abandoning() const {
  const absl::MutexLock lock(&mutex_);
  return abandoning_;
}

bool RunningOperations::AwaitAbandoned(absl::Duration patience) const {
  const absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(&abandoning_), patience);
}

void RunningOperations::AwaitEnd(std::string_view charge_id, absl::Time deadline) const {
  const absl::MutexLock lock(&mutex_);
  const auto has_ended = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return !running_.contains(charge_id); };
  mutex_.AwaitWithDeadline(absl::Condition(&has_ended), deadline);
}

bool RunningOperations::AwaitAllEnded(absl::Time deadline) const {
  const absl::MutexLock lock(&mutex_);
  const auto is_idle = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return running_.empty(); };
  return mutex_.AwaitWithDeadline(absl::Condition(&is_idle), deadline);
}

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

std::vector<WorkQueue::Item> WorkQueue::TakeStopped() {
  std::vector<Item> stopped;
  std::deque<Item> waiting;
  for (Item& item : items_) {
    if (item.stop.stop_requested()) {
      stopped.push_back(std::move(item));
    } else {
      waiting.push_back(std::move(item));
    }
  }
  items_ = std::move(waiting);
  return stopped;
}

absl::StatusOr<WorkQueue::Place> WorkQueue::Reserve() {
  std::vector<Item> stopped;
  {
    const absl::MutexLock lock(&mutex_);
    if (free_places_ == 0) stopped = TakeStopped();
  }
  stopped.clear();
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

void WorkQueue::Run(Place place, std::function<void()> work, std::stop_token stop) {
  const absl::MutexLock lock(&mutex_);
  items_.push_back({std::move(place), std::move(work), std::move(stop)});
}

void WorkQueue::Close() {
  const absl::MutexLock lock(&mutex_);
  closed_ = true;
}

bool WorkQueue::is_closed() {
  const absl::MutexLock lock(&mutex_);
  return closed_;
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
    if (!item.stop.stop_requested()) item.work();
  }
}

void WorkQueue::FreePlace() {
  const absl::MutexLock lock(&mutex_);
  ++free_places_;
}

}  // namespace curator::service
