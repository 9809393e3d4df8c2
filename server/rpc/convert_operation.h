// Operations on their way to the wire. Thread-safe: a pure function.
#pragma once

#include "curator/v1/operation.pb.h"
#include "service/operations/operations.h"

namespace curator::rpc {

v1::Operation ToProto(const service::OperationView& operation);

}  // namespace curator::rpc
