// curator.v1.MetricsService: what the server measures of itself, for operators.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "curator/v1/metrics.grpc.pb.h"
#include "curator/v1/metrics.pb.h"
#include "rpc/handle.h"

namespace curator::rpc {

class MetricsRpc final : public v1::MetricsService::CallbackService {
 public:
  // `text` returns all series as they are now, in the text format of Prometheus. Thread-safe; may block.
  MetricsRpc(Calls& calls, std::function<std::string()> text) : calls_(calls), text_(std::move(text)) {}

  grpc::ServerUnaryReactor* GetMetrics(grpc::CallbackServerContext* context,
                                       const v1::GetMetricsRequest* request,
                                       v1::GetMetricsResponse* response) override;

 private:
  Calls& calls_;
  const std::function<std::string()> text_;
};

}  // namespace curator::rpc
