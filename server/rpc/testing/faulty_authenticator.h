// An authenticator for tests that believes names, as in development mode, until it is given a fault.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rpc/authenticator.h"

namespace curator::rpc {

class FaultyAuthenticator final : public Authenticator {
 public:
  absl::StatusOr<Caller> Identify(const grpc::ServerContextBase& context) override {
    if (fault != nullptr) {
      if (const absl::Status failed = fault(); !failed.ok()) return failed;
    }
    return development_.Identify(context);
  }
  absl::StatusOr<Proof> Prove(const grpc::ServerContextBase& context) override {
    return development_.Prove(context);
  }
  absl::Status CheckStill(const Caller&) override { return absl::OkStatus(); }

  // Identify() returns its error, or throws what it throws.
  std::function<absl::Status()> fault = nullptr;

 private:
  DevelopmentAuthenticator development_;
};

}  // namespace curator::rpc
