// grpc.health.v1.Health: SERVING exactly while the ledger could take a charge.
#pragma once

#include <atomic>

#include "grpc/health/v1/health.grpc.pb.h"
#include "ledger/ledger.h"

namespace curator::rpc {

class HealthRpc final : public grpc::health::v1::Health::Service {
 public:
  explicit HealthRpc(ledger::Ledger& ledger) : ledger_(ledger) {}

  grpc::Status Check(grpc::ServerContext* context, const grpc::health::v1::HealthCheckRequest* request,
                     grpc::health::v1::HealthCheckResponse* response) override;
  // A message whenever the state changes.
  grpc::Status Watch(grpc::ServerContext* context, const grpc::health::v1::HealthCheckRequest* request,
                     grpc::ServerWriter<grpc::health::v1::HealthCheckResponse>* writer) override;

  // From now on NOT_SERVING, and watchers are let go.
  void ShutDown() { shut_down_ = true; }

 private:
  grpc::health::v1::HealthCheckResponse::ServingStatus CurrentStatus();

  ledger::Ledger& ledger_;
  std::atomic<bool> shut_down_ = false;
};

}  // namespace curator::rpc
