#include "bench/requests/open_loop.h"

#include <sys/prctl.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace curator::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Enough to be a tenth of a second late at a thousand requests a second, and fewer than a server has places
// for.
constexpr int kClients = 128;

class OpenLoop {
 public:
  OpenLoop(const Traffic& traffic, const Served& served, const OpenLoad& load)
      : traffic_(traffic), served_(served), load_(load), start_(Clock::now()) {
    for (int client = 0; client < kClients; ++client) threads_.emplace_back([this, client] { Send(client); });
  }
  ~OpenLoop() {
    for (std::thread& thread : threads_) thread.join();
  }
  OpenLoop(const OpenLoop&) = delete;
  OpenLoop& operator=(const OpenLoop&) = delete;

  // What was seen since the last call, up to `second` after the start.
  RequestsSeen SeenUntil(double second) {
    std::this_thread::sleep_until(start_ + std::chrono::duration_cast<Clock::duration>(Seconds(second)));
    std::vector<double> latencies_us;
    {
      const std::scoped_lock lock(mutex_);
      latencies_us.swap(latencies_us_);
    }
    const double now = Seconds(Clock::now() - start_).count();
    const double processor = served_.process.ProcessorSeconds();
    const double used = processor - std::exchange(processor_seconds_, processor);
    all_us_.insert(all_us_.end(), latencies_us.begin(), latencies_us.end());
    RequestsSeen seen{.observed = Summarize(std::move(latencies_us), now - std::exchange(last_seen_, now)),
                      .refusals = refusals_.exchange(0)};
    if (seen.observed.charges > 0)
      seen.processor_us = 1e6 * used / static_cast<double>(seen.observed.charges);
    all_refusals_ += seen.refusals;
    return seen;
  }

  // The same of all that SeenUntil() has returned.
  RequestsSeen SeenInAll() {
    RequestsSeen seen{.observed = Summarize(std::move(all_us_), last_seen_), .refusals = all_refusals_};
    if (seen.observed.charges > 0)
      seen.processor_us =
          1e6 * (processor_seconds_ - first_processor_seconds_) / static_cast<double>(seen.observed.charges);
    return seen;
  }

 private:
  void Send(int client) {
    prctl(PR_SET_TIMERSLACK, 1);  // ns; sleeps would end late otherwise
    while (true) {
      const int64_t number = next_++;
      const Seconds after(static_cast<double>(number) / load_.per_second);
      if (after.count() >= load_.seconds) return;
      const Clock::time_point due = start_ + std::chrono::duration_cast<Clock::duration>(after);
      std::this_thread::sleep_until(due);
      traffic_.Send(served_.connections, client, number, refusals_);
      const double latency_us = std::chrono::duration<double, std::micro>(Clock::now() - due).count();
      const std::scoped_lock lock(mutex_);
      latencies_us_.push_back(latency_us);
    }
  }

  const Traffic& traffic_;
  const Served served_;
  const OpenLoad load_;
  const Clock::time_point start_;
  double last_seen_ = 0;
  double processor_seconds_ = served_.process.ProcessorSeconds();
  const double first_processor_seconds_ = processor_seconds_;
  std::vector<double> all_us_;
  int64_t all_refusals_ = 0;
  std::atomic<int64_t> next_ = 0;
  std::atomic<int64_t> refusals_ = 0;
  std::mutex mutex_;
  std::vector<double> latencies_us_;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace

RequestsSeen SendOpenLoop(const Traffic& traffic, const Served& served, const OpenLoad& load,
                          const std::function<void(double second, const RequestsSeen& seen)>& report) {
  OpenLoop loop(traffic, served, load);
  for (double second = load.report_every; second <= load.seconds; second += load.report_every)
    report(second, loop.SeenUntil(second));
  return loop.SeenInAll();
}

}  // namespace curator::bench
