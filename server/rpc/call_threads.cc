#include "rpc/call_threads.h"

#include <exception>
#include <utility>

namespace curator::rpc {

CallThreads::~CallThreads() {
  std::vector<std::thread> threads;
  {
    const absl::MutexLock lock(&mutex_);
    ending_ = true;
    threads = std::move(threads_);
    has_task_.SignalAll();
  }
  for (std::thread& thread : threads) thread.join();
}

void CallThreads::Run(std::function<void()> task) {
  const absl::MutexLock lock(&mutex_);
  tasks_.push_back(std::move(task));
  if (static_cast<size_t>(idle_) >= tasks_.size() || static_cast<int>(threads_.size()) >= most_) {
    has_task_.Signal();
  } else {
    StartOneMore();
  }
}

void CallThreads::StartOneMore() {
  try {
    threads_.push_back(start_([this] { RunTasks(); }));
  } catch (const std::exception&) {
    if (!threads_.empty()) return;  // they run the task when they have ended others
    tasks_.pop_back();
    throw;
  }
}

void CallThreads::RunTasks() {
  while (true) {
    std::function<void()> task;
    {
      const absl::MutexLock lock(&mutex_);
      ++idle_;
      while (tasks_.empty() && !ending_) has_task_.Wait(&mutex_);
      --idle_;
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace curator::rpc
