// curator.v1.VersionService.
#pragma once

#include <string>
#include <utility>

#include "curator/v1/version.grpc.pb.h"

namespace curator::rpc {

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
