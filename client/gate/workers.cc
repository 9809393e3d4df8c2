#include "client/gate/workers.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"

namespace curator::gate {
namespace {

constexpr auto kLater = [](const auto& a, const auto& b) { return a.time > b.time; };

}  // namespace

Workers::Workers(int threads, size_t most_waiting) : most_waiting_(most_waiting) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

void Workers::Stop() {
  {
    const absl::MutexLock lock(&mutex_);
    is_ending_ = true;
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

bool Workers::Run(std::function<void()> work, absl::Duration delay) {
  const absl::Time time = absl::Now() + delay;
  const absl::MutexLock lock(&mutex_);
  if (is_ending_ || tasks_.size() >= most_waiting_) return false;
  tasks_.push_back({.time = time, .work = std::move(work)});
  std::ranges::push_heap(tasks_, kLater);
  ++added_;
  return true;
}

bool Workers::IsReady() const {
  return is_ending_ || (!tasks_.empty() && tasks_.front().time <= absl::Now());
}

void Workers::Loop() {
  while (true) {
    std::function<void()> work;
    {
      const absl::MutexLock lock(&mutex_);
      // A condition with the clock in it is looked at again when its time has come.
      while (!IsReady()) {
        const uint64_t known = added_;
        const absl::Time next = tasks_.empty() ? absl::InfiniteFuture() : tasks_.front().time;
        const auto has_changed = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
          return is_ending_ || added_ != known;
        };
        mutex_.AwaitWithDeadline(absl::Condition(&has_changed), next);
      }
      if (is_ending_) return;
      std::ranges::pop_heap(tasks_, kLater);
      work = std::move(tasks_.back().work);
      tasks_.pop_back();
    }
    work();
  }
}

}  // namespace curator::gate
