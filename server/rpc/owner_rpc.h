// curator.v1.OwnerService: one use case behind each method.
#pragma once

#include "curator/v1/owner.grpc.pb.h"
#include "service/services.h"

namespace curator::rpc {

class OwnerRpc final : public v1::OwnerService::Service {
 public:
  explicit OwnerRpc(service::Services& services) : services_(services) {}

  grpc::Status Evaluate(grpc::ServerContext* context, const v1::EvaluateRequest* request,
                        v1::EvaluateResponse* response) override;
  grpc::Status RowCounts(grpc::ServerContext* context, const v1::RowCountsRequest* request,
                         v1::RowCountsResponse* response) override;
  grpc::Status RiskReport(grpc::ServerContext* context, const v1::RiskRequest* request,
                          v1::RiskResponse* response) override;

 private:
  service::Services& services_;
};

}  // namespace curator::rpc
