// curator.v1.OperationService: one use case behind each method.
#pragma once

#include "curator/v1/operation.grpc.pb.h"
#include "curator/v1/operation.pb.h"
#include "service/operations/operations.h"
#include "service/services.h"

namespace curator::rpc {

class OperationRpc final : public v1::OperationService::Service {
 public:
  explicit OperationRpc(service::Services& services) : services_(services) {}

  grpc::Status GetOperation(grpc::ServerContext* context, const v1::GetOperationRequest* request,
                            v1::Operation* response) override;
  grpc::Status ListOperations(grpc::ServerContext* context, const v1::ListOperationsRequest* request,
                              v1::ListOperationsResponse* response) override;
  grpc::Status WaitOperation(grpc::ServerContext* context, const v1::WaitOperationRequest* request,
                             v1::Operation* response) override;
  grpc::Status WatchOperation(grpc::ServerContext* context, const v1::WatchOperationRequest* request,
                              grpc::ServerWriter<v1::Operation>* writer) override;
  grpc::Status CancelOperation(grpc::ServerContext* context, const v1::CancelOperationRequest* request,
                               v1::Operation* response) override;

 private:
  service::Services& services_;
};

// Also what CreateSynthesis returns. Thread-safe: a pure function.
v1::Operation ToProto(const service::OperationView& operation);

}  // namespace curator::rpc
