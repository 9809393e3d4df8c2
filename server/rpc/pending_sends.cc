#include "rpc/pending_sends.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace curator::rpc {

PendingSends::PendingSends(Admission& admission, absl::Duration patience)
    : admission_(admission), patience_(patience), thread_([this] { CancelLateOnes(); }) {}

PendingSends::~PendingSends() {
  {
    const absl::MutexLock lock(&mutex_);
    ending_ = true;
    wake_.SignalAll();
  }
  thread_.join();
}

std::unique_ptr<PendingSends::Send> PendingSends::Begin(const std::string& principal,
                                                        std::function<void()> cancel) {
  absl::StatusOr<Admission::Place> place = admission_.Admit(CallKind::kSend, principal);
  if (!place.ok()) return nullptr;
  Entries added;
  added.push_back(
      {std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(patience_), std::move(cancel)});
  auto send = std::make_unique<Send>(*this, *std::move(place), added.begin());
  const absl::MutexLock lock(&mutex_);
  entries_.splice(entries_.end(), added);
  return send;
}

PendingSends::Send::~Send() {
  const absl::MutexLock lock(&sends_.mutex_);
  if (std::this_thread::get_id() != sends_.thread_.get_id()) {
    const auto is_left_alone = [this]() ABSL_SHARED_LOCKS_REQUIRED(sends_.mutex_) {
      return sends_.being_cancelled_ != &*entry_;
    };
    sends_.mutex_.Await(absl::Condition(&is_left_alone));
  }
  sends_.entries_.erase(entry_);
}

void PendingSends::CancelLateOnes() {
  const absl::MutexLock lock(&mutex_);
  while (!ending_) {
    wake_.WaitWithTimeout(&mutex_, patience_ / 4);
    const std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now();
    while (true) {
      const auto late = std::ranges::find(entries_, false, &Entry::is_cancelled);
      if (late == entries_.end() || late->deadline > now) break;
      late->is_cancelled = true;
      being_cancelled_ = &*late;
      const std::function<void()> cancel = late->cancel;
      mutex_.Unlock();
      cancel();
      mutex_.Lock();
      being_cancelled_ = nullptr;
    }
  }
}

}  // namespace curator::rpc
