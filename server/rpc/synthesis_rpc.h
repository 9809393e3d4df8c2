// curator.v1.SynthesisService: one use case behind each method.
#pragma once

#include "curator/v1/synthesis.grpc.pb.h"
#include "rpc/handle.h"

namespace curator::rpc {

class SynthesisRpc final : public v1::SynthesisService::CallbackService {
 public:
  explicit SynthesisRpc(Calls& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* ListSynthesizers(grpc::CallbackServerContext* context,
                                             const v1::ListSynthesizersRequest* request,
                                             v1::ListSynthesizersResponse* response) override;
  grpc::ServerUnaryReactor* EstimateSynthesis(grpc::CallbackServerContext* context,
                                              const v1::EstimateSynthesisRequest* request,
                                              v1::EstimateSynthesisResponse* response) override;
  grpc::ServerUnaryReactor* CreateSynthesis(grpc::CallbackServerContext* context,
                                            const v1::CreateSynthesisRequest* request,
                                            v1::Operation* response) override;
  grpc::ServerWriteReactor<v1::SampleModelChunk>* SampleModel(grpc::CallbackServerContext* context,
                                                              const v1::SampleModelRequest* request) override;
  grpc::ServerWriteReactor<v1::AnswerChunk>* QueryModel(grpc::CallbackServerContext* context,
                                                        const v1::QueryModelRequest* request) override;

 private:
  Calls& calls_;
};

}  // namespace curator::rpc
