// Handle() runs every call: it authenticates the caller, admits the call, runs the handler on a thread of the
// server's own, and converts its error to gRPC.
//
// A handler is a function of (services, call, request, response) that returns absl::Status. Only Handle()
// makes a Call, and only from an authenticated context, so a handler cannot run without a principal. Methods
// that need none (ListSynthesizers, GetReceiptKey, GetVersion, health) have no handler.
//
// The services use gRPC's callback API: a call that is refused, or that waits in a queue, holds no thread.
//
// Thread-safe.
#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/status.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/principal.h"
#include "rpc/admission.h"
#include "rpc/authenticator.h"
#include "rpc/call_observer.h"
#include "rpc/call_threads.h"
#include "rpc/live_calls.h"
#include "rpc/pending_sends.h"
#include "service/access.h"
#include "service/permissions.h"
#include "service/services.h"

namespace curator::rpc {

using service::Method;

// How long a stream waits for the client: for its next message, or until it takes one.
inline constexpr absl::Duration kStreamPatience = absl::Seconds(30);

// How long a client may take for a stream as a whole: twice the patience, and what a slow network takes for
// the bytes. Otherwise one that takes a message shortly before each patience ends would hold the stream's
// memory for hours. Not thread-safe.
class SendingTime {
 public:
  explicit SendingTime(absl::Duration patience) : patience_(patience), left_(2 * patience) {}

  // How long the client may take for the next message, of `bytes`.
  absl::Duration ForNext(size_t bytes) {
    left_ += absl::Microseconds(bytes);  // 1 MB/s
    return std::min(patience_, left_);
  }
  void NoteTaken(absl::Duration taken) { left_ -= taken; }

 private:
  const absl::Duration patience_;
  absl::Duration left_;
};

// What handling calls needs; made once, in app.cc. Holds references only: the parts must outlive it.
struct Calls {
  service::Services& services;
  Admission& admission;
  CallThreads& threads;
  PendingSends& sends;
  Authenticator& authenticator;  // of the listener on which the calls arrive
  LiveCalls& live;
  // Called with an error whose message no client gets (ForOperators(), base/errors.h); must not block.
  std::function<void(const absl::Status&)> on_hidden_error = [](const absl::Status&) {};
  // Called with what becomes known of a call, for the log and the audit; must not block.
  std::function<void(const grpc::ServerContextBase&, const CallNotes&)> on_noted =
      [](const grpc::ServerContextBase&, const CallNotes&) {};
  absl::Duration stream_patience = kStreamPatience;
  // How old the login may be of who approves (service::NeedsFreshLogin()); none: no login is needed.
  std::optional<std::chrono::seconds> most_login_age = std::nullopt;
  // The trace of a call (base/trace.h), for the log lines of its handler; must not block.
  std::function<std::string(const grpc::ServerContextBase&)> trace_of = [](const grpc::ServerContextBase&) {
    return std::string();
  };
};

// One authenticated call. Valid while its handler runs.
class Call {
 public:
  const Principal& principal() const { return caller_.principal; }
  // By which the principal was identified.
  const Proof& proof() const { return caller_.proof; }
  // Signalled when the client cancelled the call or disconnected, when its deadline has passed, and when the
  // principal was disabled.
  const std::stop_token& client_left() const { return client_left_; }

 private:
  friend class HandledCall;
  Call(Caller caller, std::stop_token client_left)
      : caller_(std::move(caller)), client_left_(std::move(client_left)) {}

  const Caller caller_;
  const std::stop_token client_left_;
};

// A caller on the listener of `calls`, with a place among the calls of its kind.
struct Admitted {
  Caller caller;
  Admission::Place place;
};
// A call that a missing role of the server or an old login refuses counts among the caller's calls, too.
// Errors as of Authenticator::Identify(), Admission::Admit(), service::CheckServerRole() and
// CheckLoginIsFresh(), in this order. Lines about them in the log have the call's trace.
absl::StatusOr<Admitted> Admit(Calls& calls, const grpc::CallbackServerContext& context,
                               const service::Permission& permission, CallKind kind);

// LoginTooOld() (base/errors.h) unless the proof is a token of an issuer that says that the person logged in
// at most `most_age` ago, with auth::kLeeway between the clocks. Anything else proves no login.
absl::Status CheckLoginIsFresh(const Proof& proof, std::chrono::seconds most_age, absl::Time now);

// Of a watch of several histories.
inline constexpr size_t kMostPositions = 100;

// Notes what a request names, in its fields `dataset` and `request_id` or in those of its header, whatever
// the client wrote there; of a watch of histories, that it is one, and its dataset where it names one alone.
// Without memory it is not noted.
void NoteNames(const Calls& calls, const grpc::ServerContextBase& context,
               const google::protobuf::Message& request);

// Converts an absl::Status to a gRPC status with google.rpc details; the only place that does.
//
//   error                 gRPC code            details, besides ErrorInfo
//   a bad field           INVALID_ARGUMENT     BadRequest
//   a full budget         RESOURCE_EXHAUSTED   QuotaFailure: one violation per full counter of each account
//   OverQuota()           RESOURCE_EXHAUSTED   RetryInfo
//   UNAVAILABLE, ABORTED  as they are          RetryInfo; when overloaded, with a longer delay
//   all others            as they are          none
//
// The message is the error's own, or what ForOperators() put in its place: no client sees a host, a file or a
// statement of the store. Every error carries ErrorInfo {domain "curator"}, whose reason is BUDGET_FULL for a
// full budget, QUOTA for OverQuota(), OVERLOADED for Overloaded(), OWNER_RULE for RefusedByRule(),
// LOGIN_TOO_OLD for LoginTooOld(), LEDGER_CONTRADICTS_ITSELF for a dataset that is read-only because of
// damage to its history, what NeedsAcceptance() and ForOperators() state, and else the name of the code:
// DATA_LOSS for any other damage, as of a record file. Its metadata has "max_age_seconds" of LoginTooOld(),
// and "dataset" of ConcerningDataset().
grpc::Status ToGrpcStatus(const absl::Status& status);

// UNAVAILABLE: an allocation failed, the end of a handler that runs out of memory. What had been charged
// stays charged, and the same request id finds it.
absl::Status ShortOfMemory();

// CANCELLED: the client left before the end of the stream.
absl::Status ClientDisconnected();

// DEADLINE_EXCEEDED: no message came from the client for this long.
absl::Status NothingCame(absl::Duration patience);

// Messages are kept until they have more bytes than this, and are then sent one after another: a thread that
// waited for each of many small ones would spend most of its time on waking up. What is kept when the handler
// has ended, which may be the whole stream, is sent without a thread, as the response of a call with one
// message is; where PendingSends has no place for it, it is sent before.
inline constexpr size_t kMostKeptBytes = size_t{64} << 10;

// The messages that a handler sends, in order.
template <typename Message>
class MessageWriter {
 public:
  virtual ~MessageWriter() = default;
  // Keeps the message, or blocks until it is on its way. False when the client has left, has taken nothing
  // for Calls::stream_patience, or takes the stream as a whole too slowly (SendingTime):
  // ClientDisconnected() is then the handler's error.
  virtual bool Write(const Message& message) = 0;
};

// The messages that a client sends, in order.
template <typename Message>
class MessageReader {
 public:
  virtual ~MessageReader() = default;
  // Blocks until the next message is in `message`: true; or until the client has said that there is none:
  // false. Errors: CANCELLED when the client left before that, so that what it sent is only a part;
  // DEADLINE_EXCEEDED when no message came for Calls::stream_patience.
  virtual absl::StatusOr<bool> Read(Message& message) = 0;
};

// What a call has in common, whatever its streams. Internal to handle.h.
class HandledCall {
 public:
  using Work = std::function<absl::Status(const Call& call)>;
  using WorkForIdentity = std::function<absl::Status(const Proof& proof)>;

  virtual ~HandledCall() = default;

  // Authenticates and admits the call, and runs `work` on one of the threads; ends the call with its status,
  // or at once with a refusal; with the revocation's error when the principal was disabled meanwhile.
  void Begin(Calls& calls, const grpc::CallbackServerContext& context, const service::Permission& permission,
             CallKind kind, Work work);
  // The same for a call by an identity that need not be a principal's. All of them share the places of one.
  void BeginForIdentity(Calls& calls, const grpc::CallbackServerContext& context, WorkForIdentity work);

 protected:
  // Sends the status, once. The call may be destroyed before this returns.
  virtual void End(grpc::Status status) = 0;
  void NoteThatClientLeft() { state_->client_left.request_stop(); }
  // Whether the principal was disabled since the call began.
  const std::atomic<bool>& is_revoked() const { return state_->is_revoked; }

 private:
  // What outlives the call while its caller is being checked.
  struct State {
    std::stop_source client_left;
    std::atomic<bool> is_revoked = false;
    absl::Mutex mutex;
    absl::Status revoked ABSL_GUARDED_BY(mutex);
  };

  // Throws std::exception when the call will not be handled.
  void Queue(Calls& calls, const grpc::CallbackServerContext& context, Admitted admitted, Work work);

  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Waits for `condition` at most `patience`, and not after `is_revoked` was set. Whether it holds.
inline bool AwaitUnlessRevoked(absl::Mutex& mutex, const absl::Condition& condition, absl::Duration patience,
                               const std::atomic<bool>& is_revoked) ABSL_SHARED_LOCKS_REQUIRED(mutex) {
  constexpr absl::Duration kLook = absl::Milliseconds(500);
  for (absl::Duration left = patience; !is_revoked && left > absl::ZeroDuration(); left -= kLook) {
    if (mutex.AwaitWithTimeout(condition, std::min(kLook, left))) return true;
  }
  return false;
}

// Of gRPC's reactors, which is destroyed when the call has ended.
template <typename Reactor>
class HandledReactor : public Reactor, public HandledCall {
 public:
  void OnCancel() override { NoteThatClientLeft(); }
  void OnDone() override { delete this; }

 protected:
  void End(grpc::Status status) override { this->Finish(std::move(status)); }
};

template <typename Message>
class WritingReactor final : public HandledReactor<grpc::ServerWriteReactor<Message>>,
                             public MessageWriter<Message> {
 public:
  WritingReactor(grpc::CallbackServerContext& context, const Calls& calls)
      : context_(context), sends_(calls.sends), time_(calls.stream_patience) {}

  bool Write(const Message& message) override {
    const size_t bytes = message.ByteSizeLong();
    if (kept_bytes_ + bytes > kMostKeptBytes && !WriteKept()) return false;
    kept_.push_back(message);
    kept_bytes_ += bytes;
    return kept_bytes_ <= kMostKeptBytes || WriteKept();
  }

  // What is kept will be sent after the handler; or it has been sent, and this may be CANCELLED as Write().
  absl::Status LeaveToSend(const Principal& principal) {
    if (kept_.empty()) return absl::OkStatus();
    send_ = sends_.Begin(principal.name(), [this] { context_.TryCancel(); });
    return send_ != nullptr || WriteKept() ? absl::OkStatus() : ClientDisconnected();
  }

  void OnWriteDone(bool ok) override {
    if (send_ != nullptr) return ok ? SendNext() : this->Finish(grpc::Status::CANCELLED);
    if (ok && next_ < kept_.size()) return StartNext();
    const absl::MutexLock lock(&mutex_);
    is_writing_ = false;
    ok_ = ok;
  }

 protected:
  void End(grpc::Status status) override {
    if (send_ != nullptr && status.ok()) return SendNext();
    this->Finish(std::move(status));
  }

 private:
  // Until it returns, what is kept and next_ are those of gRPC's threads.
  bool WriteKept() {
    if (kept_.empty()) return true;
    if (this->is_revoked()) return false;
    const bool is_written = AwaitKept();
    kept_.clear();
    kept_bytes_ = 0;
    next_ = 0;
    return is_written;
  }

  bool AwaitKept() {
    const absl::Duration patience = time_.ForNext(kept_bytes_);
    const auto start = std::chrono::steady_clock::now();
    {
      const absl::MutexLock lock(&mutex_);
      is_writing_ = true;
    }
    StartNext();
    const absl::MutexLock lock(&mutex_);
    const auto is_written = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return !is_writing_; };
    if (!AwaitUnlessRevoked(mutex_, absl::Condition(&is_written), patience, this->is_revoked())) {
      context_.TryCancel();
      mutex_.Await(absl::Condition(&is_written));
    }
    time_.NoteTaken(absl::FromChrono(std::chrono::steady_clock::now() - start));
    return ok_;
  }

  // Of what is kept.
  void StartNext() { this->StartWrite(&kept_[next_++]); }

  // Of what is kept, and the status with the last one.
  void SendNext() {
    if (next_ + 1 < kept_.size()) return StartNext();
    this->StartWriteAndFinish(&kept_[next_++], {}, grpc::Status::OK);
  }

  grpc::CallbackServerContext& context_;
  PendingSends& sends_;
  SendingTime time_;
  std::vector<Message> kept_;
  size_t kept_bytes_ = 0;
  size_t next_ = 0;                           // of what is kept
  std::unique_ptr<PendingSends::Send> send_;  // of that, once the handler has ended
  absl::Mutex mutex_;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ok_ ABSL_GUARDED_BY(mutex_) = true;
};

template <typename Message>
class ReadingReactor final : public HandledReactor<grpc::ServerReadReactor<Message>>,
                             public MessageReader<Message> {
 public:
  ReadingReactor(const grpc::CallbackServerContext& context, const Calls& calls)
      : context_(context), calls_(calls), patience_(calls.stream_patience) {}

  absl::StatusOr<bool> Read(Message& message) override {
    {
      const absl::MutexLock lock(&mutex_);
      is_reading_ = true;
    }
    this->StartRead(&incoming_);
    const absl::MutexLock lock(&mutex_);
    const auto is_read = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return !is_reading_; };
    // The message stays this object's: it may still arrive after an error has been returned.
    if (!AwaitUnlessRevoked(mutex_, absl::Condition(&is_read), patience_, this->is_revoked())) {
      return this->is_revoked() ? ClientDisconnected() : NothingCame(patience_);
    }
    if (ok_) message.Swap(&incoming_);
    if (ok_ && !std::exchange(has_named_, true)) NoteNames(calls_, context_, message);
    if (!ok_ && context_.IsCancelled()) return ClientDisconnected();
    return ok_;
  }

  void OnReadDone(bool ok) override {
    const absl::MutexLock lock(&mutex_);
    is_reading_ = false;
    ok_ = ok;
  }

 private:
  const grpc::CallbackServerContext& context_;
  const Calls& calls_;
  const absl::Duration patience_;
  bool has_named_ = false;  // the first message is the header
  Message incoming_;
  absl::Mutex mutex_;
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool ok_ ABSL_GUARDED_BY(mutex_) = true;
};

// Does not compile for a method without a row.
template <Method kMethod>
inline constexpr const service::Permission& kPermissionFor = service::PermissionFor(kMethod);

// A call with one message each way.
template <Method kMethod, typename Request, typename Response, typename Handler>
grpc::ServerUnaryReactor* Handle(Calls& calls, const grpc::CallbackServerContext& context,
                                 const Request& request, Response& response, Handler handler) {
  NoteNames(calls, context, request);
  auto* reactor = new HandledReactor<grpc::ServerUnaryReactor>;
  reactor->Begin(calls, context, kPermissionFor<kMethod>, CallKind::kCall,
                 [&services = calls.services, &request, &response, handler](const Call& call) {
                   return handler(services, call, request, response);
                 });
  return reactor;
}

// A call with one message each way, by an identity that need not be a principal's.
template <typename Handler>
grpc::ServerUnaryReactor* HandleForIdentity(Calls& calls, const grpc::CallbackServerContext& context,
                                            Handler handler) {
  auto* reactor = new HandledReactor<grpc::ServerUnaryReactor>;
  reactor->BeginForIdentity(calls, context, std::move(handler));
  return reactor;
}

// A handler that writes messages: absl::Status(services, call, request, MessageWriter<Message>& writer).
template <Method kMethod, typename Request, typename Message>
grpc::ServerWriteReactor<Message>* Handle(Calls& calls, grpc::CallbackServerContext& context,
                                          const Request& request,
                                          absl::Status (*handler)(service::Services&, const Call&,
                                                                  const Request&, MessageWriter<Message>&)) {
  NoteNames(calls, context, request);
  auto* reactor = new WritingReactor<Message>(context, calls);
  reactor->Begin(calls, context, kPermissionFor<kMethod>, CallKind::kCall,
                 [&services = calls.services, &request, reactor, handler](const Call& call) {
                   const absl::Status handled = handler(services, call, request, *reactor);
                   return handled.ok() ? reactor->LeaveToSend(call.principal()) : handled;
                 });
  return reactor;
}

// A handler that reads messages: absl::Status(services, call, MessageReader<Message>& reader, response).
template <Method kMethod, typename Message, typename Response>
grpc::ServerReadReactor<Message>* Handle(Calls& calls, const grpc::CallbackServerContext& context,
                                         Response& response,
                                         absl::Status (*handler)(service::Services&, const Call&,
                                                                 MessageReader<Message>&, Response&)) {
  auto* reactor = new ReadingReactor<Message>(context, calls);
  reactor->Begin(calls, context, kPermissionFor<kMethod>, CallKind::kStream,
                 [&services = calls.services, &response, reactor, handler](const Call& call) {
                   return handler(services, call, *reactor, response);
                 });
  return reactor;
}

// OK, for a call that needs no principal and no place: its response is there already.
inline grpc::ServerUnaryReactor* AnswerAtOnce(grpc::CallbackServerContext& context) {
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

// The intent of a message with the field `validate_only`.
template <typename Message>
service::Intent IntentOf(const Message& message) {
  return message.validate_only() ? service::Intent::kValidateOnly : service::Intent::kDo;
}

}  // namespace curator::rpc
