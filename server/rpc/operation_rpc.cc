#include "rpc/operation_rpc.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "google/protobuf/util/time_util.h"
#include "rpc/authenticator.h"
#include "rpc/handle.h"
#include "rpc/live_calls.h"
#include "rpc/page.h"
#include "rpc/state_writer.h"

namespace curator::rpc {
namespace {

constexpr absl::Duration kDefaultWait = absl::Seconds(60);
constexpr absl::Duration kLongestWait = absl::Minutes(10);

absl::Status GetOperation(service::Services& services, const Call& call,
                          const v1::GetOperationRequest& request, v1::Operation& response) {
  ASSIGN_OR_RETURN(const service::OperationView operation,
                   service::GetOperation(services, call.principal(), request.operation_id()));
  response = ToProto(operation);
  return absl::OkStatus();
}

absl::Status ListOperations(service::Services& services, const Call& call,
                            const v1::ListOperationsRequest& request, v1::ListOperationsResponse& response) {
  ASSIGN_OR_RETURN(const PageAsked page, PageOf(request, "operations"));
  ASSIGN_OR_RETURN(
      const std::vector<service::OperationView> operations,
      service::ListOperations(services, call.principal(), {.after_id = page.after, .limit = page.size}));
  for (const service::OperationView& operation : operations) *response.add_operations() = ToProto(operation);
  if (static_cast<int64_t>(operations.size()) == page.size) {
    response.set_next_page_token(page.TokenAfter(operations.back().id));
  }
  return absl::OkStatus();
}

// The longest that a call waits, which is its own or the default.
absl::StatusOr<absl::Duration> PatienceOf(const v1::WaitOperationRequest& request) {
  if (!request.has_timeout()) return kDefaultWait;
  const auto timeout =
      absl::Milliseconds(google::protobuf::util::TimeUtil::DurationToMilliseconds(request.timeout()));
  if (timeout < absl::ZeroDuration()) return InvalidField("timeout", "must not be negative");
  return std::min(timeout, kLongestWait);
}

// Answers when the operation has ended or the deadline has passed, and holds no thread until then.
class WaitReactor final : public grpc::ServerUnaryReactor {
 public:
  static WaitReactor* Start(Calls& calls, service::OperationWatches& watches, Admitted place,
                            const std::string& operation, absl::Time deadline, v1::Operation& response) {
    const std::shared_ptr<WaitReactor> self(new WaitReactor(watches, std::move(place.place), response));
    self->self_ = self;
    self->live_ = calls.live.Add(calls.authenticator, place.caller,
                                 [self](const absl::Status& revoked) { self->End(revoked); });
    self->watch_ = watches.Watch(place.caller.principal, operation, deadline,
                                 [self](const absl::StatusOr<service::OperationView>& state, bool is_last) {
                                   if (is_last) self->End(state);
                                 });
    return self.get();
  }

  void OnCancel() override { End(ClientDisconnected()); }
  void OnDone() override {
    watches_.Unwatch(watch_);
    live_.reset();  // which holds this object, too
    self_.reset();  // may destroy it
  }

 private:
  WaitReactor(service::OperationWatches& watches, Admission::Place place, v1::Operation& response)
      : watches_(watches), response_(response), place_(std::move(place)) {}

  void End(const absl::StatusOr<service::OperationView>& state) {
    {
      const absl::MutexLock lock(&mutex_);
      if (!place_) return;
      place_.reset();
    }
    if (state.ok()) response_ = ToProto(*state);
    Finish(ToGrpcStatus(state.status()));
  }

  service::OperationWatches& watches_;
  v1::Operation& response_;
  // Set before gRPC calls a reaction.
  uint64_t watch_ = 0;
  std::unique_ptr<LiveCalls::Entry> live_;
  std::shared_ptr<WaitReactor> self_;
  absl::Mutex mutex_;
  std::optional<Admission::Place> place_ ABSL_GUARDED_BY(mutex_);  // until it ends
};

absl::Status CancelOperation(service::Services& services, const Call& call,
                             const v1::CancelOperationRequest& request, v1::Operation& response) {
  ASSIGN_OR_RETURN(const service::OperationView operation,
                   service::CancelOperation(services, call.principal(), request.operation_id()));
  response = ToProto(operation);
  return absl::OkStatus();
}

v1::AnyOperation MessageOf(const service::AnyOperation& operation) {
  v1::AnyOperation proto;
  proto.set_principal(operation.principal);
  *proto.mutable_operation() = ToProto(operation.view);
  return proto;
}

absl::Status ListAllOperations(service::Services& services, const Call&,
                               const v1::ListAllOperationsRequest& request,
                               v1::ListAllOperationsResponse& response) {
  ASSIGN_OR_RETURN(const PageAsked page, PageOf(request, "all_operations"));
  ASSIGN_OR_RETURN(const std::vector<service::AnyOperation> operations,
                   service::ListAllOperations(services, page.after, page.size));
  for (const service::AnyOperation& each : operations) *response.add_operations() = MessageOf(each);
  if (static_cast<int64_t>(operations.size()) == page.size) {
    response.set_next_page_token(page.TokenAfter(operations.back().view.id));
  }
  return absl::OkStatus();
}

absl::Status StopOperation(service::Services& services, const Call& call,
                           const v1::StopOperationRequest& request, v1::AnyOperation& response) {
  ASSIGN_OR_RETURN(
      const service::AnyOperation stopped,
      service::StopOperation(services, call.principal(), request.operation_id(), request.reason()));
  response = MessageOf(stopped);
  return absl::OkStatus();
}

v1::Operation::State StateOf(service::OperationState state) {
  switch (state) {
    case service::OperationState::kQueued:
      return v1::Operation::QUEUED;
    case service::OperationState::kRunning:
      return v1::Operation::RUNNING;
    case service::OperationState::kDone:
      return v1::Operation::DONE;
    case service::OperationState::kFailed:
      return v1::Operation::FAILED;
    case service::OperationState::kInterrupted:
      return v1::Operation::INTERRUPTED;
  }
  return v1::Operation::STATE_UNSPECIFIED;
}

}  // namespace

grpc::ServerUnaryReactor* OperationRpc::GetOperation(grpc::CallbackServerContext* context,
                                                     const v1::GetOperationRequest* request,
                                                     v1::Operation* response) {
  return Handle<Method::kGetOperation>(calls_, *context, *request, *response, rpc::GetOperation);
}

grpc::ServerUnaryReactor* OperationRpc::ListOperations(grpc::CallbackServerContext* context,
                                                       const v1::ListOperationsRequest* request,
                                                       v1::ListOperationsResponse* response) {
  return Handle<Method::kListOperations>(calls_, *context, *request, *response, rpc::ListOperations);
}

grpc::ServerUnaryReactor* OperationRpc::WaitOperation(grpc::CallbackServerContext* context,
                                                      const v1::WaitOperationRequest* request,
                                                      v1::Operation* response) {
  const absl::StatusOr<absl::Duration> patience = PatienceOf(*request);
  absl::StatusOr<Admitted> place =
      Admit(calls_, *context, kPermissionFor<Method::kWaitOperation>, CallKind::kWatch);
  for (const absl::Status& status : {place.status(), patience.status()}) {
    if (status.ok()) continue;
    grpc::ServerUnaryReactor* refusal = context->DefaultReactor();
    refusal->Finish(ToGrpcStatus(status));
    return refusal;
  }
  return WaitReactor::Start(calls_, watches_, *std::move(place), request->operation_id(),
                            absl::Now() + *patience, *response);
}

grpc::ServerWriteReactor<v1::Operation>* OperationRpc::WatchOperation(
    grpc::CallbackServerContext* context, const v1::WatchOperationRequest* request) {
  absl::StatusOr<Admitted> admitted =
      Admit(calls_, *context, kPermissionFor<Method::kWatchOperation>, CallKind::kWatch);
  if (!admitted.ok()) {
    const auto refusal = StateWriter<v1::Operation>::Create([] {});
    refusal->End(ToGrpcStatus(admitted.status()));
    return refusal.get();
  }
  struct Watching {
    Admission::Place place;
    // Set before gRPC calls a reaction.
    uint64_t watch = 0;
    std::unique_ptr<LiveCalls::Entry> live;
  };
  const auto watching = std::make_shared<Watching>(Watching{std::move(admitted->place)});
  const auto writer = StateWriter<v1::Operation>::Create([&watches = watches_, watching] {
    watches.Unwatch(watching->watch);
    watching->live.reset();
  });
  watching->live =
      calls_.live.Add(calls_.authenticator, admitted->caller,
                      [writer](const absl::Status& revoked) { writer->End(ToGrpcStatus(revoked)); });
  watching->watch =
      watches_.Watch(admitted->caller.principal, request->operation_id(), absl::InfiniteFuture(),
                     [writer](const absl::StatusOr<service::OperationView>& state, bool is_last) {
                       if (state.ok()) writer->Send(ToProto(*state));
                       if (is_last) writer->End(ToGrpcStatus(state.status()));
                     });
  return writer.get();
}

grpc::ServerUnaryReactor* OperationRpc::ListAllOperations(grpc::CallbackServerContext* context,
                                                          const v1::ListAllOperationsRequest* request,
                                                          v1::ListAllOperationsResponse* response) {
  return Handle<Method::kListAllOperations>(calls_, *context, *request, *response, rpc::ListAllOperations);
}

grpc::ServerUnaryReactor* OperationRpc::StopOperation(grpc::CallbackServerContext* context,
                                                      const v1::StopOperationRequest* request,
                                                      v1::AnyOperation* response) {
  return Handle<Method::kStopOperation>(calls_, *context, *request, *response, rpc::StopOperation);
}

grpc::ServerUnaryReactor* OperationRpc::CancelOperation(grpc::CallbackServerContext* context,
                                                        const v1::CancelOperationRequest* request,
                                                        v1::Operation* response) {
  return Handle<Method::kCancelOperation>(calls_, *context, *request, *response, rpc::CancelOperation);
}

v1::Operation ToProto(const service::OperationView& operation) {
  v1::Operation proto;
  proto.set_id(operation.id);
  proto.set_dataset(operation.dataset);
  proto.set_kind(operation.kind);
  proto.set_state(StateOf(operation.state));
  proto.set_percent(100 * operation.share_done);
  proto.set_queue_position(operation.queue_position);
  proto.set_release_id(operation.release_id);
  proto.set_error(operation.error);
  proto.set_request_id(operation.request_id);
  proto.set_summary(operation.label);
  *proto.mutable_create_time() =
      google::protobuf::util::TimeUtil::MicrosecondsToTimestamp(operation.created_at_us);
  return proto;
}

}  // namespace curator::rpc
