// curator.v1.SynthesisService: one use case behind each method.
#pragma once

#include "curator/v1/synthesis.grpc.pb.h"
#include "service/services.h"

namespace curator::rpc {

class SynthesisRpc final : public v1::SynthesisService::Service {
 public:
  explicit SynthesisRpc(service::Services& services) : services_(services) {}

  grpc::Status ListSynthesizers(grpc::ServerContext* context, const v1::ListSynthesizersRequest* request,
                                v1::ListSynthesizersResponse* response) override;
  grpc::Status EstimateSynthesis(grpc::ServerContext* context, const v1::EstimateSynthesisRequest* request,
                                 v1::EstimateSynthesisResponse* response) override;
  grpc::Status CreateSynthesis(grpc::ServerContext* context, const v1::CreateSynthesisRequest* request,
                               v1::Operation* response) override;
  grpc::Status SampleModel(grpc::ServerContext* context, const v1::SampleModelRequest* request,
                           grpc::ServerWriter<v1::SampleModelChunk>* writer) override;
  grpc::Status QueryModel(grpc::ServerContext* context, const v1::QueryModelRequest* request,
                          grpc::ServerWriter<v1::AnswerChunk>* writer) override;

 private:
  service::Services& services_;
};

}  // namespace curator::rpc
