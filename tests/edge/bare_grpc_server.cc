// A gRPC server as its manual shows one that authenticates callers, with nothing before it: the control of
// the hostile tests, which must end it. Prints its port, and serves until it is killed.
#include <grpcpp/grpcpp.h>

#include <iostream>

#include "curator/v1/version.grpc.pb.h"

namespace {

class Version final : public curator::v1::VersionService::Service {
  grpc::Status GetVersion(grpc::ServerContext*, const curator::v1::GetVersionRequest*,
                          curator::v1::GetVersionResponse*) override {
    return grpc::Status::OK;
  }
};

// Lets everybody in.
class Processor final : public grpc::AuthMetadataProcessor {
  bool IsBlocking() const override { return false; }
  grpc::Status Process(const InputMetadata&, grpc::AuthContext*, OutputMetadata*, OutputMetadata*) override {
    return grpc::Status::OK;
  }
};

}  // namespace

int main() {
  Version version;
  int port = 0;
  const auto credentials = grpc::experimental::LocalServerCredentials(LOCAL_TCP);
  credentials->SetAuthMetadataProcessor(std::make_shared<Processor>());
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", credentials, &port);
  builder.RegisterService(&version);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  std::cout << port << std::endl;
  server->Wait();
}
