#include "service/work_queue.h"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/trace.h"
#include "host/scheduling.h"

namespace curator::service {
namespace {

// Work takes minutes: sooner than this the next place is rarely free.
constexpr std::chrono::seconds kRetryWhenShareIsTaken(30);

}  // namespace

WorkQueue::Place::Place(Place&& other) noexcept
    : queue_(std::exchange(other.queue_, nullptr)), holder_(std::move(other.holder_)) {}

WorkQueue::Place& WorkQueue::Place::operator=(Place&& other) noexcept {
  std::swap(queue_, other.queue_);
  std::swap(holder_, other.holder_);
  return *this;
}

WorkQueue::Place::~Place() {
  if (queue_ != nullptr) queue_->FreePlace(holder_);
}

WorkQueue::WorkQueue(int threads, int places, OnMoved on_moved, std::chrono::milliseconds between_positions)
    : most_places_(std::max(2, places / 4)),
      most_running_(std::max(1, threads - 1)),
      on_moved_(std::move(on_moved)),
      free_places_(places),
      publishes_(between_positions, [this] { PublishPositions(); }) {
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

int64_t WorkQueue::PlacesOf(const std::string& principal) {
  const absl::MutexLock lock(&mutex_);
  const auto found = shares_.find(principal);
  return found == shares_.end() ? 0 : found->second.places;
}

absl::StatusOr<WorkQueue::Place> WorkQueue::Reserve(const Principal& principal) {
  std::vector<Item> stopped;
  {
    const absl::MutexLock lock(&mutex_);
    stopped = TakeStopped();
  }
  stopped.clear();
  const absl::MutexLock lock(&mutex_);
  if (closed_)
    return absl::UnavailableError("the server is shutting down: ask again later with the same request id");
  const auto found = shares_.find(principal.name());
  if (found != shares_.end() && found->second.places >= most_places_) {
    return OverQuota(
        absl::StrCat("you have ", most_places_,
                     " pieces of long work running or waiting, as many as one principal may have: "
                     "wait for one to end, or cancel one"),
        kRetryWhenShareIsTaken);
  }
  if (free_places_ == 0)
    return Overloaded(
        "the server has as much long work as it can take: ask again later with the same request id");
  Place place(*this, principal.name());
  ++shares_[principal.name()].places;
  --free_places_;
  return place;
}

void WorkQueue::Run(Place place, Work work) {
  const absl::MutexLock lock(&mutex_);
  Share& share = shares_.at(place.holder_);
  if (share.waiting.empty()) share.due = std::max(share.due, due_now_);
  share.waiting.push_back(
      {std::move(place), std::move(work), ++arrivals_, std::chrono::steady_clock::now(), CurrentTraceId()});
}

WorkQueue::Load WorkQueue::CurrentLoad() {
  const auto now = std::chrono::steady_clock::now();
  const absl::MutexLock lock(&mutex_);
  Load load;
  for (const auto& [principal, share] : shares_) {
    load.running += share.running;
    load.waiting += std::ssize(share.waiting);
    // The first one of a principal has waited longest of its own.
    if (!share.waiting.empty()) load.oldest = std::max(load.oldest, now - share.waiting.front().queued_at);
  }
  return load;
}

std::optional<int64_t> WorkQueue::PositionOf(std::string_view id) {
  const absl::MutexLock lock(&mutex_);
  const auto found = std::ranges::find(published_, id);
  const std::vector<std::string> waiting = InOrder();
  if (found == published_.end() || std::ranges::find(waiting, id) == waiting.end()) return std::nullopt;
  return found - published_.begin() + 1;
}

void WorkQueue::PublishPositions() {
  std::vector<std::string> ids;
  {
    const absl::MutexLock lock(&mutex_);
    ids = InOrder();
    if (ids == published_) return;
    published_ = ids;
  }
  if (on_moved_) on_moved_(ids);
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
    std::vector<Item> stopped;
    std::optional<Item> item;
    {
      const absl::MutexLock lock(&mutex_);
      const auto has_news = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
        return NextToRun() != shares_.end() || (ending_ && !HasWaiting());
      };
      mutex_.Await(absl::Condition(&has_news));
      stopped = TakeStopped();
      const auto next = NextToRun();
      if (next != shares_.end()) item = TakeFirst(next->second);
      if (!item && ending_ && !HasWaiting()) return;
    }
    stopped.clear();
    if (!item) continue;
    {
      const TraceScope trace(item->trace_id);
      item->work.run();
    }
    EndRun(item->place.holder_);
  }
}

WorkQueue::Shares::iterator WorkQueue::NextToRun() {
  auto next = shares_.end();
  const auto turn_of = [](const Share& share) {
    return std::tuple(share.due, share.waiting.front().arrival);
  };
  for (auto each = shares_.begin(); each != shares_.end(); ++each) {
    if (each->second.waiting.empty() || each->second.running >= most_running_) continue;
    if (next == shares_.end() || turn_of(each->second) < turn_of(next->second)) next = each;
  }
  return next;
}

bool WorkQueue::HasWaiting() const {
  return std::ranges::any_of(shares_, [](const auto& each) { return !each.second.waiting.empty(); });
}

WorkQueue::Item WorkQueue::TakeFirst(Share& share) {
  Item item = std::move(share.waiting.front());
  share.waiting.pop_front();
  due_now_ = std::max(due_now_, share.due);
  ++share.due;
  ++share.running;
  return item;
}

std::vector<std::string> WorkQueue::InOrder() const {
  std::vector<std::tuple<int64_t, uint64_t, std::string>> turns;
  for (const auto& [holder, share] : shares_) {
    int64_t due = share.due;
    for (const Item& item : share.waiting) {
      if (!item.work.stop.stop_requested()) turns.emplace_back(due++, item.arrival, item.work.id);
    }
  }
  std::ranges::sort(turns);
  std::vector<std::string> ids;
  for (auto& turn : turns) ids.push_back(std::move(std::get<2>(turn)));
  return ids;
}

std::vector<WorkQueue::Item> WorkQueue::TakeStopped() {
  std::vector<Item> stopped;
  for (auto& [holder, share] : shares_) {
    std::deque<Item> waiting;
    for (Item& item : share.waiting) {
      (item.work.stop.stop_requested() ? stopped.emplace_back() : waiting.emplace_back()) = std::move(item);
    }
    share.waiting = std::move(waiting);
  }
  return stopped;
}

void WorkQueue::FreePlace(const std::string& holder) {
  const absl::MutexLock lock(&mutex_);
  ++free_places_;
  --shares_.at(holder).places;
  ForgetIdleShares();
}

void WorkQueue::EndRun(const std::string& holder) {
  const absl::MutexLock lock(&mutex_);
  --shares_.at(holder).running;
}

void WorkQueue::ForgetIdleShares() {
  const bool is_idle = std::ranges::all_of(shares_, [](const auto& each) { return each.second.places == 0; });
  std::erase_if(shares_, [&](const auto& each) {
    return each.second.places == 0 && (is_idle || each.second.due <= due_now_);
  });
}

}  // namespace curator::service
