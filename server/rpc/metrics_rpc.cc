#include "rpc/metrics_rpc.h"

namespace curator::rpc {

grpc::ServerUnaryReactor* MetricsRpc::GetMetrics(grpc::CallbackServerContext* context,
                                                 const v1::GetMetricsRequest* request,
                                                 v1::GetMetricsResponse* response) {
  return Handle<Method::kGetMetrics>(
      calls_, *context, *request, *response,
      [&text = text_](service::Services&, const Call&, const v1::GetMetricsRequest&,
                      v1::GetMetricsResponse& answer) {
        answer.set_text(text());
        return absl::OkStatus();
      });
}

}  // namespace curator::rpc
