#include "client/gate/workers.h"

#include <algorithm>
#include <utility>

#include "client/gate/steady_time.h"

namespace curator::gate {
namespace {

constexpr auto kLater = [](const auto& a, const auto& b) { return a.time > b.time; };
// A wait is by the clock of the day, which may be set: the time is looked at again.
constexpr absl::Duration kLongestLook = absl::Seconds(10);

}  // namespace

Workers::Workers(int threads, size_t most_waiting) : most_waiting_(most_waiting) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

void Workers::End() {
  const absl::MutexLock lock(&mutex_);
  is_ending_ = true;
}

void Workers::Stop() {
  End();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

bool Workers::Run(std::function<void()> work, absl::Duration delay) {
  const absl::Time time = SteadyNow() + delay;
  const absl::MutexLock lock(&mutex_);
  if (is_ending_ || tasks_.size() >= most_waiting_) return false;
  tasks_.push_back({.time = time, .work = std::move(work)});
  std::ranges::push_heap(tasks_, kLater);
  ++added_;
  return true;
}

bool Workers::IsReady() const {
  return is_ending_ || (!tasks_.empty() && tasks_.front().time <= SteadyNow());
}

void Workers::Loop() {
  while (true) {
    std::function<void()> work;
    {
      const absl::MutexLock lock(&mutex_);
      // A condition with the clock in it is looked at again when its time has come.
      while (!IsReady()) {
        const uint64_t known = added_;
        const absl::Duration next = tasks_.empty()
                                        ? absl::InfiniteDuration()
                                        : std::min(tasks_.front().time - SteadyNow(), kLongestLook);
        const auto has_changed = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
          return is_ending_ || added_ != known;
        };
        mutex_.AwaitWithTimeout(absl::Condition(&has_changed), next);
      }
      if (is_ending_) return;
      std::ranges::pop_heap(tasks_, kLater);
      work = std::move(tasks_.back().work);
      tasks_.pop_back();
    }
    work();
  }
}

IssuerWorkers::IssuerWorkers(const std::vector<std::string>& aliases, int threads, size_t most_waiting,
                             absl::Duration longest_wait)
    : longest_wait_(longest_wait) {
  for (const std::string& alias : aliases) {
    workers_.emplace(alias, std::make_unique<Workers>(threads, most_waiting));
  }
}

bool IssuerWorkers::Run(const std::string& alias, std::function<void()> work,
                        std::function<void()> too_late) {
  const auto found = workers_.find(alias);
  if (found == workers_.end()) return false;
  return found->second->Run(
      [work = std::move(work), too_late = std::move(too_late), end = SteadyNow() + longest_wait_] {
        if (SteadyNow() < end) return work();
        too_late();
      });
}

// All at once, so that none begins new work while another one is waited for.
void IssuerWorkers::Stop() {
  for (const auto& [alias, workers] : workers_) workers->End();
  for (const auto& [alias, workers] : workers_) workers->Stop();
}

}  // namespace curator::gate
