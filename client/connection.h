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
#include "absl/status/statusor.h"
#include "client/error.h"
#include "client/trace_parent.h"

namespace curator::client {

// The token of the next call. `has_expired`: the server has refused the last one because of that, and another
// one is wanted. Errors end the call. Must be thread-safe.
using TokenSource = std::function<absl::StatusOr<std::string>(bool has_expired)>;

// PEM files for TLS; empty for none.
struct TlsFiles {
  std::string authorities = {};  // who signs the server's certificate; the system's where it is empty
  // The client's own, which prove who it is instead of a token.
  std::string certificate = {};
  std::string key = {};
};

struct ConnectionOptions {
  std::string server;          // as in ClientOptions
  std::string principal = {};  // empty: none is sent
  RetryPolicy policy = {};
  TokenSource token = nullptr;  // null: none is sent
  TlsFiles tls = {};
  // Whether it shares no connection with other objects of this class: a server takes so many calls on one.
  bool is_apart = false;
};

// Whether nobody on the way can read what is sent: over TLS ("https://HOST") or a unix socket ("unix:/PATH").
bool TakesTokens(std::string_view server);

class Connection {
 public:
  // Connects on the first call.
  explicit Connection(ConnectionOptions options);

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  const std::string& server() const { return server_; }

  // One attempt, in a new context that already has the principal and a trace.
  using Attempt = std::function<absl::Status(grpc::ClientContext& context)>;

  // Makes attempts until one ends with OK or with an error that must not be retried. `request_id` only
  // randomises the delays ("" for reads). An attempt may have reached the server even when this fails with
  // UNAVAILABLE. Errors: those of the attempt; Unreachable() when the connection was lost, NeverReached()
  // when none could be made.
  absl::Status Run(std::string_view request_id, const Attempt& attempt) const;
  // The same with one attempt; with another one where the token had expired, before which nothing was done.
  absl::Status RunOnce(const Attempt& attempt) const;

 private:
  bool ConnectBefore(std::chrono::steady_clock::time_point deadline) const;
  absl::Status CheckOptions() const;
  absl::Status AttemptOnce(const Trace& trace, const Attempt& attempt) const;
  absl::Status AttemptWith(const Trace& trace, const Attempt& attempt, bool has_expired) const;

  const ConnectionOptions options_;
  const std::string& server_ = options_.server;
  const RetryPolicy& policy_ = options_.policy;
  absl::Status unusable_;  // why the files for TLS cannot be used
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace curator::client
