#include "app_metrics.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "app_directory_metrics.h"
#include "base/errors.h"
#include "dp/accounting/rule.h"
#include "host/logging.h"
#include "metrics/process_metrics.h"
#include "rpc/call_measures.h"

namespace curator {
namespace {

using metrics::Kind;
using metrics::Reading;

double AmountOf(std::string_view counter, int64_t amount) {
  double value = 0;
  return absl::SimpleAtod(dp::FormatCounter(counter, amount), &value) ? value : 0;
}

double SecondsOf(absl::Time time) {
  return static_cast<double>(absl::ToUnixMicros(time)) / 1e6;
}

double SecondsOf(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::vector<Reading> AgesOfKeys(const AppIdentities& identities) {
  std::vector<Reading> readings;
  const absl::Time now = absl::Now();
  for (const auto& [alias, fetched] : identities.KeysFetchedAt()) {
    const bool has_keys = fetched != absl::InfinitePast();
    readings.push_back(
        {.value = has_keys ? absl::ToDoubleSeconds(now - fetched) : std::numeric_limits<double>::infinity(),
         .labels = {{"issuer", alias}}});
  }
  return readings;
}

std::vector<Reading> EndsOfCertificates(const AppIdentities& identities) {
  std::vector<Reading> readings;
  for (const auto& [file, view] : identities.Certificates()) {
    if (view.expires.has_value())
      readings.push_back({.value = SecondsOf(*view.expires), .labels = {{"file", file}}});
  }
  return readings;
}

std::vector<Reading> StatesOfCertificates(const AppIdentities& identities) {
  std::vector<Reading> readings;
  for (const auto& [file, view] : identities.Certificates())
    readings.push_back({.value = view.is_valid ? 1.0 : 0.0, .labels = {{"file", file}}});
  return readings;
}

}  // namespace

AppMetrics::AppMetrics(Build build)
    : build_(std::move(build)), calls_(set_, rpc::ServedMethods()), ledger_(set_, build_.ledger_backend) {
  AddBuild();
  metrics::AddProcessMetrics(process_);
}

void AppMetrics::AddBuild() {
  // Not process_start_time_seconds, which is not in the metrics' file.
  set_.Add("curator_start_timestamp_seconds", "When the server started, in seconds since 1970.", Kind::kGauge,
           [began = SecondsOf(absl::Now())] { return began; });
  set_.Add({.name = "curator_build_info", .help = "What runs here.", .read = [this] {
              return std::vector<Reading>{{.value = 1,
                                           .labels = {{"version", build_.version},
                                                      {"grpc", grpc::Version()},
                                                      {"ledger_backend", build_.ledger_backend}}}};
            }});
  set_.Add("curator_development_mode", "Whether every client is believed: no security at all.", Kind::kGauge,
           [this] { return build_.development ? 1 : 0; });
}

void AppMetrics::AddParts(const Parts& parts) {
  readings_ = std::make_unique<metrics::LedgerReadings>(
      parts.ledger, ledger_,
      metrics::LedgerReadings::Options{
          .backend = build_.ledger_backend, .per_analyst = build_.per_analyst, .amount = AmountOf});
  readings_->AddTo(set_);
  set_.Add("curator_ledger_accepts_charges",
           "Whether the ledger could accept charges when it was last asked, which is twice a second.",
           Kind::kGauge, [&health = parts.health] { return health.IsServing("") ? 1 : 0; });
  set_.Add("curator_audit_dropped_total", "Calls that the audit lacks.", Kind::kCounter,
           [&audit = parts.audit] { return static_cast<double>(audit.dropped()); });
  AddWork(parts);
  if (parts.identities != nullptr) AddIdentities(*parts.identities);
}

void AppMetrics::AddWork(const Parts& parts) {
  set_.Add({.name = "curator_operations", .help = "Operations here, by state.", .read = [&work = parts.work] {
              const service::WorkQueue::Load load = work.CurrentLoad();
              return std::vector<Reading>{
                  {.value = static_cast<double>(load.running), .labels = {{"state", "running"}}},
                  {.value = static_cast<double>(load.waiting), .labels = {{"state", "queued"}}}};
            }});
  set_.Add("curator_queue_length", "Operations that wait for a thread.", Kind::kGauge,
           [&work = parts.work] { return static_cast<double>(work.CurrentLoad().waiting); });
  set_.Add("curator_queue_oldest_seconds", "How long the operation has waited that waits longest.",
           Kind::kGauge, [&work = parts.work] { return SecondsOf(work.CurrentLoad().oldest); });
  set_.Add("curator_synthesis_predicted_cpu_seconds_total",
           "What the syntheses were predicted to take that were counted against quotas.", Kind::kCounter,
           [quotas = parts.quotas] {
             return quotas == nullptr ? 0 : static_cast<double>(quotas->seconds_of_syntheses());
           });
}

void AppMetrics::AddIdentities(const AppIdentities& identities) {
  set_.Add({.name = "curator_jwks_age_seconds",
            .help = "How old the keys of an issuer are; +Inf where there are none.",
            .read = [&identities] { return AgesOfKeys(identities); }});
  set_.Add({.name = "curator_certificate_expiry_timestamp_seconds",
            .help = "When the certificate of a listener ends.",
            .read = [&identities] { return EndsOfCertificates(identities); }});
  set_.Add({.name = "curator_certificate_valid",
            .help = "Whether the certificate files of a listener can be used.",
            .read = [&identities] { return StatesOfCertificates(identities); }});
  AddDirectoryMetrics(set_, [&identities] { return identities.directory().Current(); });
}

absl::StatusOr<std::unique_ptr<metrics::MetricsFile>> AppMetrics::WriteTo(const std::string& path) const {
  metrics::MetricsFile::Options options{.path = path,
                                        .text = [this] { return set_.Text(); },
                                        .report =
                                            [](const absl::Status& written) {
                                              if (written.ok())
                                                return host::Log(host::LogLevel::kInfo,
                                                                 "metrics_file_written");
                                              host::Log(host::LogLevel::kError, "metrics_file_not_written",
                                                        {{"detail", std::string(written.message())}});
                                            }};
  absl::StatusOr<std::unique_ptr<metrics::MetricsFile>> opened =
      metrics::MetricsFile::Open(std::move(options));
  if (!opened.ok()) return InvalidField("--metrics-file", std::string(opened.status().message()));
  return opened;
}

}  // namespace curator
