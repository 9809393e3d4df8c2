// The metrics of a running server: what its calls and its ledger count, and what is read of its parts.
//
// Thread-safe after AddParts().
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "app_audit.h"
#include "app_identities.h"
#include "ledger/ledger.h"
#include "metrics/call_metrics.h"
#include "metrics/ledger_metrics.h"
#include "metrics/ledger_readings.h"
#include "metrics/metric_set.h"
#include "metrics/metrics_file.h"
#include "rpc/call_observer.h"
#include "rpc/server_rpc.h"
#include "service/quotas/principal_quotas.h"
#include "service/work_queue.h"

namespace curator {

class AppMetrics {
 public:
  struct Build {
    std::string version;
    std::string ledger_backend;
    bool development = false;
    bool per_analyst = false;  // config::MetricsConfig
  };
  // What is read for Text(), which therefore must outlive its last call.
  struct Parts {
    ledger::Ledger& ledger;
    service::WorkQueue& work;
    AppAudit& audit;
    rpc::HealthRpc& health;
    const AppIdentities* identities = nullptr;         // null in development mode
    const service::PrincipalQuotas* quotas = nullptr;  // the same
  };

  explicit AppMetrics(Build build);

  // For the ledger, which it must outlive.
  ledger::Observer& ledger_observer() { return ledger_; }
  metrics::CallMetrics& calls() { return calls_; }
  // Once.
  void AddParts(const Parts& parts);

  // All series as they are now (metrics/metric_set.h).
  std::string Text() const { return set_.Text() + process_.Text(); }
  // Writes the text to this file from now on, but for process_*: node_exporter, which reads the file, has
  // series of its own by these names, and refuses others. INVALID_ARGUMENT (--metrics-file) when it cannot.
  absl::StatusOr<std::unique_ptr<metrics::MetricsFile>> WriteTo(const std::string& path) const;

 private:
  void AddBuild();
  void AddWork(const Parts& parts);
  void AddIdentities(const AppIdentities& identities);

  const Build build_;
  metrics::MetricSet set_;
  metrics::MetricSet process_;
  metrics::CallMetrics calls_;
  metrics::LedgerMetrics ledger_;
  std::unique_ptr<metrics::LedgerReadings> readings_;
};

}  // namespace curator
