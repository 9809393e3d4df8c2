#include "rpc/convert_operation.h"

#include "google/protobuf/util/time_util.h"

namespace curator::rpc {
namespace {

v1::Operation::State StateOf(service::OperationState state) {
  switch (state) {
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
