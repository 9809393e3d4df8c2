// Streams that are fed by followers (base/followers.h), and hold no thread.
//
// Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/trace.h"
#include "rpc/handle.h"

namespace curator::rpc {

// Sends messages to a client one after the other, and asks for more when it has sent those that it got. Kept
// alive by gRPC until the stream has ended. Thread-safe.
template <typename Message>
class MessageStream final : public grpc::ServerWriteReactor<Message> {
 public:
  // `on_taken` is called when all messages have been sent, and `on_done` once, when the stream has ended; on
  // threads of gRPC's, which they must not block.
  static std::shared_ptr<MessageStream> Create(std::function<void()> on_taken,
                                               std::function<void()> on_done) {
    std::shared_ptr<MessageStream> stream(new MessageStream(std::move(on_taken), std::move(on_done)));
    stream->self_ = stream;
    return stream;
  }

  // Sends the messages, at least one, unless the stream has ended. Not before `on_taken` for those before.
  void Send(std::vector<Message> messages) {
    {
      const absl::MutexLock lock(&mutex_);
      if (end_) return;
      messages_ = std::move(messages);
      next_ = 0;
      is_writing_ = true;
    }
    this->StartWrite(&messages_[next_++]);
  }

  // Calls `note` unless the stream has ended, which it does not do before that returns: so the call's context
  // is there. It must not block, nor use the stream.
  void WhileOpen(const std::function<void()>& note) {
    const absl::MutexLock lock(&mutex_);
    if (!end_) note();
  }

  // Ends the stream after the message that is being sent. Later calls have no effect.
  void End(const grpc::Status& status) {
    {
      const absl::MutexLock lock(&mutex_);
      if (end_) return;
      end_ = status;
      if (is_writing_) return;  // OnWriteDone() ends it
    }
    this->Finish(status);
  }

  void OnWriteDone(bool ok) override {
    std::optional<grpc::Status> end;
    bool has_next = false;
    {
      const absl::MutexLock lock(&mutex_);
      if (!ok && !end_) end_ = grpc::Status::CANCELLED;
      end = end_;
      has_next = !end && next_ < messages_.size();
      is_writing_ = has_next;
    }
    if (end) return this->Finish(*std::move(end));
    if (has_next) return this->StartWrite(&messages_[next_++]);
    on_taken_();
  }

  void OnCancel() override { End(ToGrpcStatus(ClientDisconnected())); }

  void OnDone() override {
    on_done_();
    self_.reset();  // may destroy it
  }

 private:
  MessageStream(std::function<void()> on_taken, std::function<void()> on_done)
      : on_taken_(std::move(on_taken)), on_done_(std::move(on_done)) {}

  const std::function<void()> on_taken_;
  const std::function<void()> on_done_;
  std::shared_ptr<MessageStream> self_;
  // Of Send(), and of gRPC while is_writing_.
  std::vector<Message> messages_;
  size_t next_ = 0;
  absl::Mutex mutex_;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<grpc::Status> end_ ABSL_GUARDED_BY(mutex_);
};

inline absl::Status ServerIsStopping() {
  return absl::UnavailableError("the server is stopping");
}

// The number of no follower.
inline constexpr uint64_t kNoFollower = 0;

// The stream of a watch: admitted as one, ended when its caller is disabled, and taken out of `followers`
// when it ends. `follow(stream, principal)` adds a follower that feeds the stream, and returns its number; or
// it ends the stream, and returns kNoFollower.
template <typename Message, typename SomeFollowers, typename Follow>
grpc::ServerWriteReactor<Message>* StreamToFollower(Calls& calls, grpc::CallbackServerContext& context,
                                                    const service::Permission& permission,
                                                    SomeFollowers& followers, const Follow& follow) {
  using Stream = MessageStream<Message>;
  const TraceScope trace(calls.trace_of(context));
  absl::StatusOr<Admitted> admitted = Admit(calls, context, permission, CallKind::kWatch);
  if (!admitted.ok()) {
    const std::shared_ptr<Stream> refusal = Stream::Create([] {}, [] {});
    refusal->End(ToGrpcStatus(admitted.status()));
    return refusal.get();
  }
  const Caller caller = std::move(admitted->caller);
  // Used by gRPC's reactions alone, after all of it was set.
  struct Watching {
    std::optional<Admission::Place> place;
    uint64_t follower = 0;
    std::unique_ptr<LiveCalls::Entry> live = nullptr;
  };
  const auto watching = std::make_shared<Watching>(Watching{std::move(admitted->place)});
  const std::shared_ptr<Stream> stream =
      Stream::Create([&followers, watching] { followers.Took(watching->follower); },
                     [&followers, watching] {
                       followers.Remove(watching->follower);
                       watching->live.reset();
                       // Not with the stream: a look of the followers may hold that until the server, which
                       // waits for its streams' ends alone, has stopped.
                       watching->place.reset();
                     });
  // The client knows from now on that it is being followed, also where nothing new comes for long.
  stream->StartSendInitialMetadata();
  watching->live = calls.live.Add(calls.authenticator, caller, [stream](const absl::Status& revoked) {
    stream->End(ToGrpcStatus(revoked));
  });
  watching->follower = follow(stream, caller.principal);
  return stream.get();
}

}  // namespace curator::rpc
