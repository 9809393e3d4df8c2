// One address at which a server answers: a gRPC server of its own, with all services, because what a call may
// prove and what a connection may take differ between addresses.
//
// Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "app_audit.h"
#include "audit/audit_record.h"
#include "config/server_config.h"
#include "rpc/authenticator.h"
#include "rpc/call_observer.h"
#include "rpc/handle.h"
#include "rpc/server_rpc.h"
#include "service/accounts/history_watch.h"
#include "service/identity/identities.h"
#include "service/operations/operation_watches.h"

namespace curator {

// What all addresses of a server share. Holds references: the parts must outlive the listeners.
struct ListenerParts {
  service::Services& services;
  AppAudit& audit;
  service::IdentityServices* identities;  // null in development mode
  service::OperationWatches& watches;
  service::HistoryWatches& histories;
  rpc::Admission& admission;
  rpc::CallThreads& threads;
  rpc::PendingSends& sends;
  rpc::LiveCalls& live;
  rpc::CallObserver& observer;
  rpc::HealthRpc& health;
  std::function<void(const absl::Status&)> on_hidden_error;
  v1::GetVersionResponse version;
  std::function<std::string()> metrics;  // all series (rpc/metrics_rpc.h)
  config::Limits limits;
  std::optional<std::chrono::seconds> most_login_age;  // as rpc::Calls has it
};

// One of them.
struct ListenerAddress {
  std::string option;   // for messages: "--listen", "listeners[0].address"
  std::string address;  // HOST:PORT, where port 0 picks a free one, or "unix:/PATH"
  std::shared_ptr<grpc::ServerCredentials> credentials;
  std::unique_ptr<rpc::Authenticator> authenticator;
  audit::PeerClass peer = audit::PeerClass::kLocal;
};

class AppListener {
 public:
  // Returns when calls are accepted. UNAVAILABLE, naming the option, when that cannot be.
  static absl::StatusOr<std::unique_ptr<AppListener>> Start(const ListenerParts& parts,
                                                            ListenerAddress address);
  virtual ~AppListener() = default;

  // With the actual port.
  virtual std::string address() const = 0;
  // Cuts off all calls, and returns when there is none.
  virtual void Stop() = 0;
};

}  // namespace curator
