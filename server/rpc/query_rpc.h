// curator.v1.QueryService: one use case behind each method.
#pragma once

#include "curator/v1/query.grpc.pb.h"
#include "rpc/handle.h"

namespace curator::rpc {

class QueryRpc final : public v1::QueryService::CallbackService {
 public:
  explicit QueryRpc(Calls& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* EstimateWorkload(grpc::CallbackServerContext* context,
                                             const v1::EstimateWorkloadRequest* request,
                                             v1::EstimateWorkloadResponse* response) override;
  grpc::ServerWriteReactor<v1::AnswerChunk>* AnswerWorkload(
      grpc::CallbackServerContext* context, const v1::AnswerWorkloadRequest* request) override;
  grpc::ServerWriteReactor<v1::GetReleaseChunk>* GetRelease(grpc::CallbackServerContext* context,
                                                            const v1::GetReleaseRequest* request) override;
  grpc::ServerUnaryReactor* TranslateSql(grpc::CallbackServerContext* context,
                                         const v1::TranslateSqlRequest* request,
                                         v1::TranslateSqlResponse* response) override;
  grpc::ServerUnaryReactor* ShareRelease(grpc::CallbackServerContext* context,
                                         const v1::ShareReleaseRequest* request,
                                         v1::ShareReleaseResponse* response) override;
  grpc::ServerUnaryReactor* ListReleases(grpc::CallbackServerContext* context,
                                         const v1::ListReleasesRequest* request,
                                         v1::ListReleasesResponse* response) override;

 private:
  Calls& calls_;
};

}  // namespace curator::rpc
