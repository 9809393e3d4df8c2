#include "client/connection.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "client/error.h"

namespace curator::client {
namespace {

// Answers come in chunks of at most 1 MiB; a list of datasets with large schemas is one message.
constexpr int kLargestMessageBytes = 16 << 20;

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& server) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kLargestMessageBytes);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  return grpc::CreateCustomChannel(server, grpc::InsecureChannelCredentials(), arguments);
}

// What HTTP/2 can carry as the value of a header.
bool IsHeaderText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

Connection::Connection(std::string server, std::string principal, RetryPolicy policy)
    : server_(std::move(server)),
      principal_(std::move(principal)),
      policy_(policy),
      channel_(MakeChannel(server_)) {}

bool Connection::ConnectBefore(std::chrono::steady_clock::time_point deadline) const {
  return channel_->WaitForConnected(std::chrono::system_clock::now() +
                                    (deadline - std::chrono::steady_clock::now()));
}

absl::Status Connection::AttemptOnce(const Attempt& attempt) const {
  grpc::ClientContext context;
  if (!principal_.empty()) context.AddMetadata("curator-principal", principal_);
  const absl::Status status = attempt(context);
  const bool connected = channel_->GetState(/*try_to_connect=*/false) == GRPC_CHANNEL_READY;
  if (absl::IsUnavailable(status) && !connected) return Unreachable(server_, std::string(status.message()));
  return status;
}

absl::Status Connection::Run(std::string_view request_id, const Attempt& attempt) const {
  if (!IsHeaderText(principal_))
    return absl::InvalidArgumentError("principal: only printable ASCII can be sent");
  absl::Status last_failure = NeverReached(server_);
  auto deadline = std::chrono::steady_clock::now() + policy_.window;
  for (int failures = 1; ConnectBefore(deadline); ++failures) {
    const absl::Status status = AttemptOnce(attempt);
    if (!MayRetry(status)) return status;
    last_failure = status;
    if (failures == 1) deadline = std::chrono::steady_clock::now() + policy_.window;
    const auto delay = DelayAfter(policy_, failures, status, request_id);
    if (std::chrono::steady_clock::now() + delay > deadline) break;
    std::this_thread::sleep_for(delay);
  }
  return last_failure;
}

}  // namespace curator::client
