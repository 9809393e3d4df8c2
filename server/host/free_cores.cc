#include "host/free_cores.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

#include "host/turns.h"

namespace curator::host {

FreeCores::FreeCores() : FreeCores(static_cast<int>(std::thread::hardware_concurrency())) {}

int FreeCores::Borrow(int wanted) {
  int free = free_.load();
  while (!free_.compare_exchange_weak(free, free - std::min(free, wanted))) {
  }
  return std::min(free, wanted);
}

void FreeCores::RunOnFreeCores(int most, const std::function<void(int)>& work) {
  const int borrowed = Borrow(std::max(0, most - 1));
  {
    std::vector<std::jthread> threads;
    try {
      for (int i = 1; i <= borrowed; ++i) {
        threads.emplace_back([&work, i] {
          TakeOrdinaryTurns();
          work(i);
        });
      }
    } catch (const std::system_error&) {
      // The system gives no more threads: those that run do the work.
    }
    work(0);
  }
  free_.fetch_add(borrowed);
}

}  // namespace curator::host
