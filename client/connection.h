// One channel to a server, and the loop that sends a request until it has an answer or the retry window has
// closed.
//
// Internal to the client library. Thread-safe.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "client/error.h"

namespace curator::client {

class Connection {
 public:
  // Connects when the first call is made. `principal` may be empty: no identity is sent then.
  Connection(std::string server, std::string principal, RetryPolicy policy);

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  const std::string& server() const { return server_; }

  // One attempt, in a fresh context that already carries the principal.
  using Attempt = std::function<absl::Status(grpc::ClientContext& context)>;

  // Makes attempts until one ends with OK or with an error that must not be retried. `request_id` only
  // spreads the delays ("" for reads). An attempt may have reached the server even when this fails with
  // UNAVAILABLE.
  // Errors: those of the attempt; Unreachable() when the connection was lost, NeverReached() when none could
  // be made.
  absl::Status Run(std::string_view request_id, const Attempt& attempt) const;

 private:
  bool ConnectBefore(std::chrono::steady_clock::time_point deadline) const;
  absl::Status AttemptOnce(const Attempt& attempt) const;

  const std::string server_;
  const std::string principal_;
  const RetryPolicy policy_;
  const std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace curator::client
