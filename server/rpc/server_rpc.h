// The server itself: grpc.health.v1.Health, and curator.v1.VersionService.
//
// Both answer without a principal. Thread-safe.
#pragma once

#include <atomic>
#include <utility>

#include "curator/v1/version.grpc.pb.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "ledger/ledger.h"

namespace curator::rpc {

// SERVING exactly while the ledger could accept a charge.
class HealthRpc final : public grpc::health::v1::Health::Service {
 public:
  explicit HealthRpc(ledger::Ledger& ledger) : ledger_(ledger) {}

  grpc::Status Check(grpc::ServerContext* context, const grpc::health::v1::HealthCheckRequest* request,
                     grpc::health::v1::HealthCheckResponse* response) override;
  // Sends a message whenever the state changes.
  grpc::Status Watch(grpc::ServerContext* context, const grpc::health::v1::HealthCheckRequest* request,
                     grpc::ServerWriter<grpc::health::v1::HealthCheckResponse>* writer) override;

  // Reports NOT_SERVING from now on, and ends all Watch() streams.
  void ShutDown() { shut_down_ = true; }

 private:
  grpc::health::v1::HealthCheckResponse::ServingStatus CurrentStatus();

  ledger::Ledger& ledger_;
  std::atomic<bool> shut_down_ = false;
};

class VersionRpc final : public v1::VersionService::Service {
 public:
  explicit VersionRpc(v1::GetVersionResponse version) : version_(std::move(version)) {}

  grpc::Status GetVersion(grpc::ServerContext*, const v1::GetVersionRequest*,
                          v1::GetVersionResponse* response) override {
    *response = version_;
    return grpc::Status::OK;
  }

 private:
  const v1::GetVersionResponse version_;
};

}  // namespace curator::rpc
