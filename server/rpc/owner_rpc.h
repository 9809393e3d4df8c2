// curator.v1.OwnerService: one use case behind each method.
#pragma once

#include "curator/v1/owner.grpc.pb.h"
#include "rpc/handle.h"

namespace curator::rpc {

class OwnerRpc final : public v1::OwnerService::CallbackService {
 public:
  explicit OwnerRpc(Calls& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* Evaluate(grpc::CallbackServerContext* context, const v1::EvaluateRequest* request,
                                     v1::EvaluateResponse* response) override;
  grpc::ServerUnaryReactor* RowCounts(grpc::CallbackServerContext* context,
                                      const v1::RowCountsRequest* request,
                                      v1::RowCountsResponse* response) override;
  grpc::ServerUnaryReactor* RiskReport(grpc::CallbackServerContext* context, const v1::RiskRequest* request,
                                       v1::RiskResponse* response) override;

 private:
  Calls& calls_;
};

}  // namespace curator::rpc
