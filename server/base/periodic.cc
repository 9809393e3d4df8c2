#include "base/periodic.h"

#include <exception>
#include <utility>

namespace curator {

Periodic::Periodic(std::chrono::milliseconds pause, std::function<void()> work)
    : pause_(pause), work_(std::move(work)), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void Periodic::Run(const std::stop_token& stop) {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      stopped_.wait_for(lock, stop, pause_, [] { return false; });
    }
    if (stop.stop_requested()) return;
    try {
      work_();
    } catch (const std::exception&) {
      continue;
    }
  }
}

}  // namespace curator
