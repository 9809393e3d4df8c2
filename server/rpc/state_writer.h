// A stream that sends the newest state of something to a client and holds no thread: a state that has not
// been sent is replaced by the next one, so a slow client misses states in between and holds nothing up.
//
// Created by Create() and kept alive by gRPC until the stream has ended. Thread-safe.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace curator::rpc {

template <typename Message>
class StateWriter final : public grpc::ServerWriteReactor<Message> {
 public:
  // `on_done` is called once, when the stream has ended, on a thread of gRPC's; it must not block.
  static std::shared_ptr<StateWriter> Create(std::function<void()> on_done) {
    std::shared_ptr<StateWriter> writer(new StateWriter(std::move(on_done)));
    writer->self_ = writer;
    return writer;
  }

  // Sends the state, unless End() was called.
  void Send(Message state) {
    {
      const absl::MutexLock lock(&mutex_);
      if (end_) return;
      next_ = std::move(state);
      if (is_writing_) return;
      is_writing_ = true;
      TakeNext();
    }
    this->StartWrite(&current_);
  }

  // Ends the stream after the last state that was sent. Later calls have no effect.
  void End(grpc::Status status) {
    {
      const absl::MutexLock lock(&mutex_);
      if (end_) return;
      end_ = status;
      if (is_writing_) return;  // OnWriteDone() ends it
    }
    this->Finish(std::move(status));
  }

  void OnWriteDone(bool ok) override {
    std::optional<grpc::Status> end;
    {
      const absl::MutexLock lock(&mutex_);
      if (!ok && !end_) end_ = grpc::Status::CANCELLED;
      if (ok && next_) {
        TakeNext();
      } else {
        is_writing_ = false;
        if (!end_) return;
        end = end_;
      }
    }
    if (end) {
      this->Finish(*std::move(end));
    } else {
      this->StartWrite(&current_);
    }
  }

  void OnCancel() override { End(grpc::Status::CANCELLED); }

  void OnDone() override {
    on_done_();
    self_.reset();  // may destroy it
  }

 private:
  explicit StateWriter(std::function<void()> on_done) : on_done_(std::move(on_done)) {}

  void TakeNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    current_ = *std::move(next_);
    next_.reset();
  }

  const std::function<void()> on_done_;
  std::shared_ptr<StateWriter> self_;
  Message current_;  // being written while is_writing_
  absl::Mutex mutex_;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<Message> next_ ABSL_GUARDED_BY(mutex_);
  std::optional<grpc::Status> end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::rpc
