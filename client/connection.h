// A channel to a server, and the loop that repeats a request until it succeeds or the retry window has
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
  // Connects on the first call. If `principal` is empty, no identity is sent.
  Connection(std::string server, std::string principal, RetryPolicy policy);

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  const std::string& server() const { return server_; }

  // One attempt, in a new context that already has the principal.
  using Attempt = std::function<absl::Status(grpc::ClientContext& context)>;

  // Makes attempts until one ends with OK or with an error that must not be retried. `request_id` only
  // randomises the delays ("" for reads). An attempt may have reached the server even when this fails with
  // UNAVAILABLE. Errors: those of the attempt; Unreachable() when the connection was lost, NeverReached()
  // when none could be made.
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
