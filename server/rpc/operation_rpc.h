// curator.v1.OperationService: one use case behind each method.
#pragma once

#include "curator/v1/operation.grpc.pb.h"
#include "curator/v1/operation.pb.h"
#include "rpc/handle.h"
#include "service/operations/operation_watches.h"
#include "service/operations/operations.h"

namespace curator::rpc {

class OperationRpc final : public v1::OperationService::CallbackService {
 public:
  OperationRpc(Calls& calls, service::OperationWatches& watches) : calls_(calls), watches_(watches) {}

  grpc::ServerUnaryReactor* GetOperation(grpc::CallbackServerContext* context,
                                         const v1::GetOperationRequest* request,
                                         v1::Operation* response) override;
  grpc::ServerUnaryReactor* ListOperations(grpc::CallbackServerContext* context,
                                           const v1::ListOperationsRequest* request,
                                           v1::ListOperationsResponse* response) override;
  grpc::ServerUnaryReactor* WaitOperation(grpc::CallbackServerContext* context,
                                          const v1::WaitOperationRequest* request,
                                          v1::Operation* response) override;
  grpc::ServerWriteReactor<v1::Operation>* WatchOperation(grpc::CallbackServerContext* context,
                                                          const v1::WatchOperationRequest* request) override;
  grpc::ServerUnaryReactor* ListAllOperations(grpc::CallbackServerContext* context,
                                              const v1::ListAllOperationsRequest* request,
                                              v1::ListAllOperationsResponse* response) override;
  grpc::ServerUnaryReactor* StopOperation(grpc::CallbackServerContext* context,
                                          const v1::StopOperationRequest* request,
                                          v1::AnyOperation* response) override;
  grpc::ServerUnaryReactor* CancelOperation(grpc::CallbackServerContext* context,
                                            const v1::CancelOperationRequest* request,
                                            v1::Operation* response) override;

 private:
  Calls& calls_;
  service::OperationWatches& watches_;
};

// Also what CreateSynthesis returns. Thread-safe: a pure function.
v1::Operation ToProto(const service::OperationView& operation);

}  // namespace curator::rpc
