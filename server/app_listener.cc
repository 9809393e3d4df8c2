#include "app_listener.h"

#include <sys/stat.h>

#include <chrono>
#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "rpc/accountant_rpc.h"
#include "rpc/audit_rpc.h"
#include "rpc/budget_rpc.h"
#include "rpc/dataset_rpc.h"
#include "rpc/identity_rpc.h"
#include "rpc/metrics_rpc.h"
#include "rpc/operation_rpc.h"
#include "rpc/owner_rpc.h"
#include "rpc/query_rpc.h"
#include "rpc/synthesis_rpc.h"

namespace curator {
namespace {

constexpr int kMostSentBytes = 16 << 20;
constexpr std::string_view kUnix = "unix:";

int Milliseconds(int64_t seconds) {
  return static_cast<int>(seconds * 1000);
}

void SetLimits(const config::Limits& limits, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(limits.message_bytes));
  builder.SetMaxSendMessageSize(kMostSentBytes);
  constexpr int kLeastPingMilliseconds = 30'000;
  const std::initializer_list<std::pair<const char*, int>> arguments = {
      // Without this two servers could share a port, and each would receive some of the calls.
      {GRPC_ARG_ALLOW_REUSEPORT, 0},
      {GRPC_ARG_MAX_CONCURRENT_STREAMS, static_cast<int>(limits.streams_per_connection)},
      {GRPC_ARG_MAX_METADATA_SIZE, static_cast<int>(limits.metadata_bytes)},
      {GRPC_ARG_MAX_CONNECTION_IDLE_MS, Milliseconds(limits.connection_idle_seconds)},
      {GRPC_ARG_MAX_CONNECTION_AGE_MS, Milliseconds(limits.connection_age_seconds)},
      {GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, Milliseconds(limits.connection_grace_seconds)},
      {GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(limits.keepalive_seconds)},
      {GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(limits.keepalive_timeout_seconds)},
      {GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kLeastPingMilliseconds},
      {GRPC_ARG_HTTP2_MAX_PING_STRIKES, 2},
      {GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 0}};
  for (const auto& [name, value] : arguments) builder.AddChannelArgument(name, value);
}

class RunningListener final : public AppListener {
 public:
  RunningListener(const ListenerParts& parts, ListenerAddress address)
      : parts_(parts),
        address_(std::move(address)),
        calls_{parts.services,
               parts.admission,
               parts.threads,
               parts.sends,
               *address_.authenticator,
               parts.live,
               parts.on_hidden_error,
               [&observer = parts.observer](const grpc::ServerContextBase& context,
                                            const rpc::CallNotes& notes) { observer.Note(context, notes); },
               rpc::kStreamPatience,
               parts.most_login_age},
        accountant_(calls_),
        audit_(calls_, parts.audit.store(), parts.audit.followers()),
        budget_(calls_, parts.histories, parts.audit.store()),
        dataset_(calls_),
        identity_(calls_, parts.identities),
        metrics_(calls_, parts.metrics),
        operation_(calls_, parts.watches),
        owner_(calls_),
        query_(calls_),
        synthesis_(calls_),
        version_(parts.version, *address_.authenticator) {
    calls_.trace_of = [&observer = parts.observer](const grpc::ServerContextBase& context) {
      return observer.TraceIdOf(context);
    };
  }

  absl::Status Start() {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_.address, address_.credentials, &port);
    SetLimits(parts_.limits, builder);
    for (grpc::Service* service : std::initializer_list<grpc::Service*>{
             &accountant_, &audit_, &budget_, &dataset_, &identity_, &metrics_, &parts_.health, &operation_,
             &owner_, &query_, &synthesis_, &version_}) {
      builder.RegisterService(service);
    }
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
    interceptors.push_back(parts_.observer.MakeInterceptorFactory(address_.peer));
    builder.experimental().SetInterceptorCreators(std::move(interceptors));
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port == 0) {
      return absl::UnavailableError(absl::StrCat(address_.option, ": cannot listen on ", address_.address,
                                                 ": is another server using it?"));
    }
    return address_.address.starts_with(kUnix) ? OpenToGroup() : NotePort(port);
  }

  std::string address() const override { return actual_; }

  void Stop() override {
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }

 private:
  absl::Status NotePort(int port) {
    actual_ = absl::StrCat(address_.address.substr(0, address_.address.rfind(':')), ":", port);
    return absl::OkStatus();
  }

  // The folder says who reaches the socket: its group is that of the programs that may.
  absl::Status OpenToGroup() {
    actual_ = address_.address;
    const std::string path = address_.address.substr(kUnix.size());
    if (chmod(path.c_str(), S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP) == 0) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat(address_.option, ": the rights of ", path, " cannot be set"));
  }

  const ListenerParts parts_;
  const ListenerAddress address_;
  std::string actual_;
  rpc::Calls calls_;
  rpc::AccountantRpc accountant_;
  rpc::AuditRpc audit_;
  rpc::BudgetRpc budget_;
  rpc::DatasetRpc dataset_;
  rpc::IdentityRpc identity_;
  rpc::MetricsRpc metrics_;
  rpc::OperationRpc operation_;
  rpc::OwnerRpc owner_;
  rpc::QueryRpc query_;
  rpc::SynthesisRpc synthesis_;
  rpc::VersionRpc version_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<AppListener>> AppListener::Start(const ListenerParts& parts,
                                                                ListenerAddress address) {
  auto listener = std::make_unique<RunningListener>(parts, std::move(address));
  RETURN_IF_ERROR(listener->Start());
  return listener;
}

}  // namespace curator
