// The server itself: grpc.health.v1.Health, and curator.v1.VersionService.
//
// Both answer without a principal, on gRPC's threads, and without asking the ledger: also when the server has
// more calls than it handles. Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "curator/v1/version.grpc.pb.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "ledger/ledger.h"
#include "rpc/admission.h"
#include "rpc/authenticator.h"
#include "rpc/state_writer.h"

namespace curator::rpc {

// SERVING while the ledger could accept a charge when it was last asked, which a thread does every half
// second; NOT_SERVING when it has not answered for kLedgerPatience. The service kHistories is SERVING, in
// addition, only after all histories were verified in whole since the start. kCertificates and kIssuerKeys
// report the files by which a server with a configuration authenticates callers, and nothing of the ledger.
class HealthRpc final : public grpc::health::v1::Health::CallbackService {
 public:
  static constexpr char kHistories[] = "curator.v1.Histories";
  static constexpr char kCertificates[] = "curator.v1.Certificates";
  static constexpr char kIssuerKeys[] = "curator.v1.IssuerKeys";
  static constexpr absl::Duration kLedgerPatience = absl::Seconds(10);

  HealthRpc(ledger::Ledger& ledger, Admission& admission, absl::Duration patience = kLedgerPatience);
  ~HealthRpc() override;

  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context,
                                  const grpc::health::v1::HealthCheckRequest* request,
                                  grpc::health::v1::HealthCheckResponse* response) override;
  // Sends a message whenever the state changes, and holds no thread.
  grpc::ServerWriteReactor<grpc::health::v1::HealthCheckResponse>* Watch(
      grpc::CallbackServerContext* context, const grpc::health::v1::HealthCheckRequest* request) override;

  // The service `name` is SERVING while `is_usable` says so, which must not block. Before the first call.
  void Add(const std::string& name, std::function<bool()> is_usable) { parts_[name] = std::move(is_usable); }

  // Whether Check() of this service says SERVING.
  bool IsServing(const std::string& service);

  // Reports NOT_SERVING from now on, and ends all Watch() streams.
  void ShutDown();

 private:
  using Status = grpc::health::v1::HealthCheckResponse::ServingStatus;
  using Writer = StateWriter<grpc::health::v1::HealthCheckResponse>;
  // What the ledger last answered.
  struct LedgerState {
    explicit LedgerState(ledger::Ledger& ledger)
        : is_healthy(ledger.Health().ok()), are_histories_verified(ledger.AreHistoriesVerified()) {}
    bool operator==(const LedgerState&) const = default;

    bool is_healthy;
    bool are_histories_verified;
  };

  struct Watched {
    std::string service;
    std::shared_ptr<Writer> writer;
    Status sent;
  };

  std::optional<LedgerState> AskLedger() const;
  void AskLedgerUntilShutDown();
  // Asks nothing of the ledger: watchers must also hear that it does not answer.
  void NotifyUntilShutDown();
  void NotifyWatchers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Of a service of this name, as it was last found.
  Status StatusOf(const std::string& service) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  ledger::Ledger& ledger_;
  Admission& admission_;
  const absl::Duration patience_;
  std::map<std::string, std::function<bool()>> parts_;
  absl::Mutex mutex_;
  LedgerState ledger_state_ ABSL_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point answered_at_ ABSL_GUARDED_BY(mutex_);
  bool shut_down_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<const Writer*, Watched> writers_ ABSL_GUARDED_BY(mutex_);
  std::thread asks_;
  std::thread notifies_;
};

class VersionRpc final : public v1::VersionService::CallbackService {
 public:
  // Who is not identified learns no more than whether this is development mode, and where to log in.
  VersionRpc(v1::GetVersionResponse version, Authenticator& authenticator)
      : version_(std::move(version)), authenticator_(authenticator) {}

  grpc::ServerUnaryReactor* GetVersion(grpc::CallbackServerContext* context, const v1::GetVersionRequest*,
                                       v1::GetVersionResponse* response) override;

 private:
  const v1::GetVersionResponse version_;
  Authenticator& authenticator_;
};

}  // namespace curator::rpc
