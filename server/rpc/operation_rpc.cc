#include "rpc/operation_rpc.h"

#include <algorithm>
#include <string>

#include "absl/time/clock.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "google/protobuf/util/time_util.h"
#include "rpc/handle.h"

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

absl::Status ListOperations(service::Services& services, const Call& call, const v1::ListOperationsRequest&,
                            v1::ListOperationsResponse& response) {
  ASSIGN_OR_RETURN(const std::vector<service::OperationView> operations,
                   service::ListOperations(services, call.principal()));
  for (const service::OperationView& operation : operations) *response.add_operations() = ToProto(operation);
  return absl::OkStatus();
}

absl::Status WaitOperation(service::Services& services, const Call& call,
                           const v1::WaitOperationRequest& request, v1::Operation& response) {
  absl::Duration timeout = kDefaultWait;
  if (request.has_timeout()) {
    timeout = absl::Milliseconds(google::protobuf::util::TimeUtil::DurationToMilliseconds(request.timeout()));
    if (timeout < absl::ZeroDuration()) return InvalidField("timeout", "must not be negative");
  }
  ASSIGN_OR_RETURN(const service::OperationView operation,
                   service::WaitOperation(services, call.principal(), request.operation_id(),
                                          absl::Now() + std::min(timeout, kLongestWait)));
  response = ToProto(operation);
  return absl::OkStatus();
}

absl::Status WatchOperation(service::Services& services, const Call& call,
                            const v1::WatchOperationRequest& request,
                            grpc::ServerWriter<v1::Operation>& writer) {
  return service::WatchOperation(
      services, call.principal(), request.operation_id(),
      [&](const service::OperationView& operation) { return writer.Write(ToProto(operation)); });
}

absl::Status CancelOperation(service::Services& services, const Call& call,
                             const v1::CancelOperationRequest& request, v1::Operation& response) {
  ASSIGN_OR_RETURN(const service::OperationView operation,
                   service::CancelOperation(services, call.principal(), request.operation_id()));
  response = ToProto(operation);
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

grpc::Status OperationRpc::GetOperation(grpc::ServerContext* context, const v1::GetOperationRequest* request,
                                        v1::Operation* response) {
  return Handle(services_, *context, *request, *response, rpc::GetOperation);
}

grpc::Status OperationRpc::ListOperations(grpc::ServerContext* context,
                                          const v1::ListOperationsRequest* request,
                                          v1::ListOperationsResponse* response) {
  return Handle(services_, *context, *request, *response, rpc::ListOperations);
}

grpc::Status OperationRpc::WaitOperation(grpc::ServerContext* context,
                                         const v1::WaitOperationRequest* request, v1::Operation* response) {
  return Handle(services_, *context, *request, *response, rpc::WaitOperation);
}

grpc::Status OperationRpc::WatchOperation(grpc::ServerContext* context,
                                          const v1::WatchOperationRequest* request,
                                          grpc::ServerWriter<v1::Operation>* writer) {
  return Handle(services_, *context, *request, *writer, rpc::WatchOperation);
}

grpc::Status OperationRpc::CancelOperation(grpc::ServerContext* context,
                                           const v1::CancelOperationRequest* request,
                                           v1::Operation* response) {
  return Handle(services_, *context, *request, *response, rpc::CancelOperation);
}

v1::Operation ToProto(const service::OperationView& operation) {
  v1::Operation proto;
  proto.set_id(operation.id);
  proto.set_dataset(operation.dataset);
  proto.set_kind(operation.kind);
  proto.set_state(StateOf(operation.state));
  proto.set_percent(100 * operation.share_done);
  proto.set_release_id(operation.release_id);
  proto.set_error(operation.error);
  proto.set_request_id(operation.request_id);
  proto.set_summary(operation.label);
  *proto.mutable_create_time() =
      google::protobuf::util::TimeUtil::MicrosecondsToTimestamp(operation.created_at_us);
  return proto;
}

}  // namespace curator::rpc
