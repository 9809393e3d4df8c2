#include "client/connection.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "base/status_macros.h"
#include "client/error.h"

namespace curator::client {
namespace {

// Answers come in chunks of at most 1 MiB; a list of datasets with large schemas is one message.
constexpr int kLargestMessageBytes = 16 << 20;

constexpr std::string_view kHttps = "https://";

bool IsTls(std::string_view server) {
  return server.starts_with(kHttps);
}

// HOST:PORT of "https://HOST[:PORT][/]"; other addresses as they are.
std::string TargetOf(const std::string& server) {
  if (!IsTls(server)) return server;
  std::string target = server.substr(kHttps.size());
  while (target.ends_with('/')) target.pop_back();
  const size_t port = target.rfind(':');
  const bool has_port = port != std::string::npos && target.find(']', port) == std::string::npos;
  return has_port ? target : target + ":443";
}

// The content of a file; empty for an empty path.
absl::StatusOr<std::string> ContentOf(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::InvalidArgumentError(path + " cannot be read");
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsOf(const ConnectionOptions& options) {
  if (!IsTls(options.server)) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions files;
  ASSIGN_OR_RETURN(files.pem_root_certs, ContentOf(options.tls.authorities));
  ASSIGN_OR_RETURN(files.pem_cert_chain, ContentOf(options.tls.certificate));
  ASSIGN_OR_RETURN(files.pem_private_key, ContentOf(options.tls.key));
  return grpc::SslCredentials(files);
}

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& server,
                                           const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                                           bool is_apart) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, is_apart ? 1 : 0);
  arguments.SetMaxReceiveMessageSize(kLargestMessageBytes);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // As rare as a server of ours allows.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  return grpc::CreateCustomChannel(TargetOf(server), credentials, arguments);
}

// What HTTP/2 can carry as the value of a header.
bool IsHeaderText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

bool TakesTokens(std::string_view server) {
  return server.starts_with(kHttps) || server.starts_with("unix:");
}

Connection::Connection(ConnectionOptions options) : options_(std::move(options)) {
  const absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> credentials = CredentialsOf(options_);
  unusable_ = credentials.status();
  channel_ = MakeChannel(server_, credentials.ok() ? *credentials : grpc::InsecureChannelCredentials(),
                         options_.is_apart);
}

bool Connection::ConnectBefore(std::chrono::steady_clock::time_point deadline) const {
  return channel_->WaitForConnected(std::chrono::system_clock::now() +
                                    (deadline - std::chrono::steady_clock::now()));
}

absl::Status Connection::CheckOptions() const {
  if (!unusable_.ok()) return unusable_;
  if (!IsHeaderText(options_.principal)) {
    return absl::InvalidArgumentError("principal: only printable ASCII can be sent");
  }
  if (options_.token == nullptr || TakesTokens(server_)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "server: a token is sent over TLS (https://HOST) or a unix socket (unix:/PATH) only, so that nobody on "
      "the way can read it");
}

absl::Status Connection::AttemptWith(const Trace& trace, const Attempt& attempt, bool has_expired) const {
  grpc::ClientContext context;
  if (const std::string parent = trace.NextParent(); !parent.empty())
    context.AddMetadata(kTraceParentKey, parent);
  if (!options_.principal.empty()) context.AddMetadata("curator-principal", options_.principal);
  if (options_.token != nullptr) {
    const absl::StatusOr<std::string> token = options_.token(has_expired);
    if (!token.ok()) return token.status();
    if (!IsHeaderText(*token)) return absl::InvalidArgumentError("token: only printable ASCII can be sent");
    context.AddMetadata("authorization", "Bearer " + *token);
  }
  const absl::Status status = attempt(context);
  const bool connected = channel_->GetState(/*try_to_connect=*/false) == GRPC_CHANNEL_READY;
  if (absl::IsUnavailable(status) && !connected) return Unreachable(server_, std::string(status.message()));
  return status;
}

absl::Status Connection::AttemptOnce(const Trace& trace, const Attempt& attempt) const {
  // A source may first give what another program has got, which may have expired, too.
  constexpr int kMostRenewals = 2;
  absl::Status status = AttemptWith(trace, attempt, /*has_expired=*/false);
  for (int renewals = 0; renewals < kMostRenewals; ++renewals) {
    const bool has_expired = absl::IsUnauthenticated(status) && Reason(status) == "TOKEN_EXPIRED";
    if (!has_expired || options_.token == nullptr) break;
    status = AttemptWith(trace, attempt, /*has_expired=*/true);
  }
  return status;
}

absl::Status Connection::RunOnce(const Attempt& attempt) const {
  if (const absl::Status usable = CheckOptions(); !usable.ok()) return usable;
  if (!ConnectBefore(std::chrono::steady_clock::now() + policy_.window)) return NeverReached(server_);
  return AttemptOnce(Trace(), attempt);
}

absl::Status Connection::Run(std::string_view request_id, const Attempt& attempt) const {
  if (const absl::Status usable = CheckOptions(); !usable.ok()) return usable;
  const Trace trace;
  absl::Status last_failure = NeverReached(server_);
  absl::Status unknown;  // how the last attempt ended whose outcome is unknown
  const auto outcome = [&](const absl::Status& last) {
    return unknown.ok() || request_id.empty() ? last : AfterUnknownOutcome(unknown, last);
  };
  auto deadline = std::chrono::steady_clock::now() + policy_.window;
  for (int failures = 1; ConnectBefore(deadline); ++failures) {
    const absl::Status status = AttemptOnce(trace, attempt);
    if (!MayRetry(status)) return outcome(status);
    last_failure = status;
    if (IsOutcomeUnknown(status)) unknown = status;
    if (failures == 1) deadline = std::chrono::steady_clock::now() + policy_.window;
    const auto delay = DelayAfter(policy_, failures, status, request_id);
    if (std::chrono::steady_clock::now() + delay > deadline) break;
    std::this_thread::sleep_for(delay);
  }
  return outcome(last_failure);
}

}  // namespace curator::client
