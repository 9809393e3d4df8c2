#include "rpc/server_rpc.h"

#include "absl/time/clock.h"

namespace curator::rpc {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr absl::Duration kWatchInterval = absl::Milliseconds(200);
constexpr char kServicePrefix[] = "curator.v1.";

bool IsOurs(const std::string& service) {
  return service.empty() || service.starts_with(kServicePrefix);
}

}  // namespace

HealthCheckResponse::ServingStatus HealthRpc::CurrentStatus() {
  if (shut_down_) return HealthCheckResponse::NOT_SERVING;
  return ledger_.Health().ok() ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

grpc::Status HealthRpc::Check(grpc::ServerContext*, const HealthCheckRequest* request,
                              HealthCheckResponse* response) {
  if (!IsOurs(request->service()))
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "there is no such service here");
  response->set_status(CurrentStatus());
  return grpc::Status::OK;
}

grpc::Status HealthRpc::Watch(grpc::ServerContext* context, const HealthCheckRequest* request,
                              grpc::ServerWriter<HealthCheckResponse>* writer) {
  HealthCheckResponse last_sent;
  while (!context->IsCancelled()) {
    HealthCheckResponse now;
    now.set_status(IsOurs(request->service()) ? CurrentStatus() : HealthCheckResponse::SERVICE_UNKNOWN);
    if (now.status() != last_sent.status()) {
      if (!writer->Write(now)) break;
      last_sent = now;
    }
    if (shut_down_) break;
    absl::SleepFor(kWatchInterval);
  }
  return grpc::Status::OK;
}

}  // namespace curator::rpc
