// curator.v1.QueryService: one use case behind each method.
#pragma once

#include "curator/v1/query.grpc.pb.h"
#include "service/services.h"

namespace curator::rpc {

class QueryRpc final : public v1::QueryService::Service {
 public:
  explicit QueryRpc(service::Services& services) : services_(services) {}

  grpc::Status EstimateWorkload(grpc::ServerContext* context, const v1::EstimateWorkloadRequest* request,
                                v1::EstimateWorkloadResponse* response) override;
  grpc::Status AnswerWorkload(grpc::ServerContext* context, const v1::AnswerWorkloadRequest* request,
                              grpc::ServerWriter<v1::AnswerChunk>* writer) override;
  grpc::Status GetRelease(grpc::ServerContext* context, const v1::GetReleaseRequest* request,
                          grpc::ServerWriter<v1::GetReleaseChunk>* writer) override;
  grpc::Status ShareRelease(grpc::ServerContext* context, const v1::ShareReleaseRequest* request,
                            v1::ShareReleaseResponse* response) override;
  grpc::Status ListReleases(grpc::ServerContext* context, const v1::ListReleasesRequest* request,
                            v1::ListReleasesResponse* response) override;

 private:
  service::Services& services_;
};

}  // namespace curator::rpc
