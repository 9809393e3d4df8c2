#include "app.h"

#include <arpa/inet.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "app_audit.h"
#include "app_identities.h"
#include "app_ledger.h"
#include "app_listener.h"
#include "app_metrics.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "host/entropy.h"
#include "host/logging.h"
#include "host/scheduling.h"
#include "host/server_key.h"
#include "ledger/open_ledger.h"
#include "records/dataset_store.h"
#include "rpc/admission.h"
#include "rpc/call_observer.h"
#include "rpc/call_threads.h"
#include "rpc/server_rpc.h"
#include "service/accounts/history_watch.h"
#include "service/ledger_maintenance.h"
#include "service/operations/operation_watches.h"
#include "service/services.h"
#include "service/tables.h"

namespace curator {
namespace {

constexpr absl::Duration kGraceForAnswers = absl::Seconds(5);
// Between the request to stop and the end of an operation: methods check it between their rounds.
constexpr absl::Duration kGraceForStopping = absl::Seconds(30);
constexpr absl::Duration kTablePeriod = absl::Minutes(1);
constexpr absl::Duration kLongestWaitForTables = absl::Seconds(1);
constexpr absl::Duration kBetweenSweeps = absl::Seconds(10);
constexpr std::chrono::milliseconds kBetweenLooksAtHistories(500);

records::KeyedHash TableHash(const host::ServerKey& key) {
  return [key](std::string_view bytes) {
    host::KeyedHash hash(key, "table content");
    hash.Update(bytes);
    const host::HashBytes digest = hash.Finish();
    return std::string(digest.begin(), digest.end());
  };
}

std::string BackendOf(const AppOptions& options) {
  return options.ledger.starts_with("sqlite:") ? "sqlite" : "postgresql";
}

v1::GetVersionResponse VersionOf(const AppOptions& options) {
  v1::GetVersionResponse version;
  version.set_version(CURATOR_VERSION);
  version.set_ledger_backend(BackendOf(options));
  version.set_development_mode(options.development);
  const std::vector<config::IssuerConfig> issuers =
      options.config.has_value() ? options.config->issuers : std::vector<config::IssuerConfig>();
  for (const config::IssuerConfig& each : issuers) {
    if (each.client_id.empty()) continue;
    v1::LoginPlace& login = *version.add_logins();
    login.set_issuer(each.issuer.issuer);
    login.set_client_id(each.client_id);
    login.set_scope(each.scope);
  }
  return version;
}

rpc::Metadata MetadataOfAnswers(const AppOptions& options) {
  return options.development ? rpc::Metadata{{rpc::kSecurityKey, rpc::kNoSecurity}} : rpc::Metadata();
}

void LogLedger(std::string_view event, std::string_view detail) {
  host::LogLevel level = host::LogLevel::kWarning;
  if (event.starts_with("dataset_")) level = host::LogLevel::kError;
  static constexpr std::string_view kProgress[] = {
      "histories_verified", "new_entries_verified", "verifying_histories", "dataset_sound_again",
      "migration_begins",   "migration_applied",    "history_verified"};
  if (std::ranges::find(kProgress, event) != std::end(kProgress)) level = host::LogLevel::kInfo;
  host::Log(level, event, {{"detail", detail}});
}

void LogCall(const rpc::CallEnd& call) {
  // Health checks are too frequent to log.
  if (call.path.starts_with("/grpc.health.")) return;
  const audit::AuditRecord& record = call.record;
  std::vector<host::LogField> fields = {{"method", call.path},
                                        {"principal", record.principal},
                                        {"identity_kind", WordOf(record.identity)},
                                        {"request_id", record.request_id},
                                        {"status", absl::StatusCodeToString(record.status)},
                                        {"reason", record.reason}};
  if (call.took.has_value())
    fields.emplace_back("duration_ms",
                        absl::ToInt64Milliseconds(absl::Ceil(*call.took, absl::Milliseconds(1))));
  if (call.received_bytes.has_value()) fields.emplace_back("received_bytes", *call.received_bytes);
  if (call.sent_bytes.has_value()) fields.emplace_back("sent_bytes", *call.sent_bytes);
  host::Log(host::LogLevel::kInfo, "call", fields);
}

void LogHiddenError(const absl::Status& status) {
  host::Log(
      host::LogLevel::kWarning, "hidden_error",
      {{"status", absl::StatusCodeToString(status.code())}, {"message", std::string(status.message())}});
}

absl::Status CheckOptions(const AppOptions& options) {
  if (!options.development && !options.config.has_value()) {
    return absl::FailedPreconditionError(
        "--config is missing: the file that says where to listen and whom to trust (docs/OPERATING.md); or "
        "--dev, on loopback, where every client is trusted");
  }
  if (options.data_directory.empty()) return InvalidField("--data-dir", "must name a directory");
  if (options.memory_budget < 1) return InvalidField("--memory-budget", "must be at least 1");
  if (options.ledger.empty()) return InvalidField("--ledger", "must be sqlite:PATH or postgresql://...");
  return options.development ? CheckLoopback(options.listen) : absl::OkStatus();
}

// The folder holds the records and the server's key, and often the ledger.
absl::Status CloseToOthers(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  constexpr fs::perms kOthers = fs::perms::group_all | fs::perms::others_all;
  std::error_code error;
  const fs::perms found = fs::status(folder, error).permissions();
  if (!error && (found & kOthers) != fs::perms::none) {
    fs::permissions(folder, kOthers, fs::perm_options::remove, error);
    host::Log(host::LogLevel::kWarning, "data_directory_closed_to_others");
  }
  if (!error) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "--data-dir: other users of this machine can open ", folder.string(),
      ", and its rights cannot be changed: ", error.message(), ". Make it yours with mode 0700"));
}

// On loopback, where all clients are trusted, connections are neither counted nor aged.
config::Limits LimitsOfDevelopment() {
  constexpr int64_t kDay = 86'400;
  return {.streams_per_connection = 10'000, .connection_idle_seconds = kDay, .connection_age_seconds = kDay};
}

class RunningApp final : public App {
 public:
  RunningApp(const AppOptions& options, const host::ServerKey& key, std::unique_ptr<AppMetrics> metrics,
             std::unique_ptr<records::DatasetStore> store, std::unique_ptr<ledger::Ledger> ledger,
             std::unique_ptr<AppAudit> audit)
      : options_(options),
        sealer_(key),
        signer_(key),
        metrics_(std::move(metrics)),
        store_(std::move(store)),
        ledger_(std::move(ledger)),
        audit_(std::move(audit)),
        loader_(*ledger_, *store_, kTablePeriod),
        daily_(options.charges_a_day),
        memory_(options.memory_budget),
        sql_(options.sql_translator),
        services_{*ledger_,
                  *store_,
                  sealer_,
                  signer_,
                  operations_,
                  work_,
                  cores_,
                  requests_,
                  late_,
                  datasets_,
                  recent_,
                  stored_,
                  repetitions_,
                  daily_,
                  memory_,
                  comparisons_,
                  options.synthesis_timeout},
        work_(options.synthesis_threads, options.synthesis_places,
              [this](const std::vector<std::string>& moved) {
                for (const std::string& id : moved) operations_.Notify(id);
              }),
        health_(*ledger_, admission_) {
    services_.sql = &sql_;
  }

  ~RunningApp() override { Drain(); }

  absl::Status Serve(const host::ServerKey& key) {
    loader_.AwaitFirstPass(kLongestWaitForTables);
    ASSIGN_OR_RETURN(std::vector<ListenerAddress> addresses, Addresses(key));
    metrics_->AddParts({.ledger = *ledger_,
                        .work = work_,
                        .audit = *audit_,
                        .health = health_,
                        .identities = identities_.get(),
                        .quotas = quotas_.has_value() ? &*quotas_ : nullptr});
    if (!options_.metrics_file.empty()) {
      ASSIGN_OR_RETURN(metrics_file_, metrics_->WriteTo(options_.metrics_file));
    }
    for (ListenerAddress& address : addresses) {
      ASSIGN_OR_RETURN(std::unique_ptr<AppListener> listener,
                       AppListener::Start(Parts(), std::move(address)));
      host::Log(host::LogLevel::kInfo, "listening", {{"address", listener->address()}});
      listeners_.push_back(std::move(listener));
    }
    return absl::OkStatus();
  }

  std::string address() const override { return listeners_.front()->address(); }

  void Drain() override {
    if (listeners_.empty() || std::exchange(is_drained_, true)) return;
    admission_.Close();
    host::Log(host::LogLevel::kInfo, "refusing_calls");
    work_.Close();
    health_.ShutDown();
    audit_->followers().Close();
    histories_.followers().Close();
    if (!operations_.AwaitAllEnded(absl::Now() + options_.drain_grace)) {
      operations_.Abandon();
      operations_.AwaitAllEnded(absl::Now() + kGraceForStopping);
    }
    late_.AwaitNone(absl::Now() + kGraceForAnswers);
    calls_.AwaitNoCalls(absl::Now() + kGraceForAnswers);
    for (const std::unique_ptr<AppListener>& listener : listeners_) listener->Stop();
  }

 private:
  absl::StatusOr<std::vector<ListenerAddress>> Addresses(const host::ServerKey& key) {
    if (!options_.development) {
      ASSIGN_OR_RETURN(identities_,
                       AppIdentities::Open(*options_.config, key, *ledger_, [this] { ForgetByName(); }));
      identities_->services().forget_after_us = absl::ToInt64Microseconds(options_.forget_after);
      services_.directory = &identities_->directory();
      services_.quotas = &quotas_.emplace(options_.config->quota_table());
      health_.Add(rpc::HealthRpc::kCertificates, [this] { return identities_->StateOfCertificates().ok(); });
      health_.Add(rpc::HealthRpc::kIssuerKeys, [this] { return identities_->StateOfKeys().ok(); });
      return identities_->TakeAddresses();
    }
    host::Log(host::LogLevel::kWarning, "no_security", {{"detail", rpc::kNoSecurity}});
    std::vector<ListenerAddress> addresses;
    addresses.push_back({.option = "--listen",
                         .address = options_.listen,
                         .credentials = grpc::InsecureServerCredentials(),
                         .authenticator = std::make_unique<rpc::DevelopmentAuthenticator>(),
                         .peer = audit::PeerClass::kLoopback});
    return addresses;
  }

  // What is kept by the names of principals, of whom one was forgotten.
  void ForgetByName() {
    datasets_.Clear();
    recent_.Clear();
    stored_.Clear();
  }

  ListenerParts Parts() {
    return {.services = services_,
            .audit = *audit_,
            .identities = identities_ == nullptr ? nullptr : &identities_->services(),
            .watches = watches_,
            .histories = histories_,
            .admission = admission_,
            .threads = threads_,
            .sends = sends_,
            .live = live_,
            .observer = calls_,
            .health = health_,
            .on_hidden_error = LogHiddenError,
            .version = VersionOf(options_),
            .metrics = [this] { return metrics_->Text(); },
            .limits = options_.config.has_value() ? options_.config->limits : LimitsOfDevelopment(),
            .most_login_age = options_.development ? std::nullopt : options_.config->most_login_age};
  }

  const AppOptions options_;
  const host::KeySealer sealer_;
  const host::ReceiptSigner signer_;
  const std::unique_ptr<AppMetrics> metrics_;  // destroyed after the ledger, which it observes
  const std::unique_ptr<records::DatasetStore> store_;
  const std::unique_ptr<ledger::Ledger> ledger_;
  const std::unique_ptr<AppAudit> audit_;
  service::TableLoader loader_;
  rpc::CallObserver calls_{[this](const rpc::CallEnd& call) {
                             LogCall(call);
                             audit_->Note(call);
                             metrics_->calls().OnEnd(call);
                           },
                           MetadataOfAnswers(options_),
                           {.on_begin = [this](std::string_view path) { metrics_->calls().OnBegin(path); },
                            .on_gone = [this](std::string_view path) { metrics_->calls().OnGone(path); },
                            .entropy = host::RandomBytes}};
  service::RunningOperations operations_;
  service::RequestLocks requests_;
  service::LateEndings late_{*ledger_};
  service::DatasetCache datasets_;
  service::RecentReleases recent_;
  service::StoredAnswers stored_;
  service::RepetitionPace repetitions_;
  service::DailyCharges daily_;
  std::optional<service::PrincipalQuotas> quotas_;  // none in development mode
  host::FreeCores cores_;
  service::MemoryBudget memory_;
  service::ComparisonCache comparisons_;
  service::SqlProgram sql_;
  service::Services services_;
  service::OperationWatches watches_{services_};
  service::WorkQueue work_;  // destroyed before what its work uses
  rpc::Admission admission_{options_.config ? std::optional(options_.config->quota_table()) : std::nullopt};
  rpc::CallThreads threads_{rpc::kCallThreads};
  rpc::PendingSends sends_{admission_, rpc::kStreamPatience};
  rpc::HealthRpc health_;
  std::unique_ptr<AppIdentities> identities_;  // null in development mode
  // Destroyed before the directory, which looks ask for roles.
  service::HistoryWatches histories_{*ledger_, kBetweenLooksAtHistories};
  std::vector<std::unique_ptr<AppListener>> listeners_;
  rpc::LiveCalls live_;  // destroyed before the listeners, whose authenticators it asks
  bool is_drained_ = false;
  service::LedgerMaintenance maintenance_{*ledger_, kBetweenSweeps};
  std::unique_ptr<metrics::MetricsFile> metrics_file_;  // destroyed first: it reads the others
};

bool IsPort(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port <= 65535;
}

bool IsLoopback(const std::string& host) {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  return host == "localhost" || host == "[::1]";
}

}  // namespace

absl::StatusOr<std::unique_ptr<App>> App::Start(const AppOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  const std::filesystem::path data_directory = options.data_directory;
  std::error_code error;
  std::filesystem::create_directories(data_directory, error);
  if (error) {
    return InvalidField("--data-dir", absl::StrCat("cannot create the directory ", options.data_directory,
                                                   ": ", error.message()));
  }
  RETURN_IF_ERROR(CloseToOthers(data_directory));
  ASSIGN_OR_RETURN(const host::ServerKey key, host::ServerKey::OpenOrCreate(data_directory / "server.key"));
  ASSIGN_OR_RETURN(std::unique_ptr<records::DatasetStore> store,
                   records::DatasetStore::Open(data_directory / "datasets", TableHash(key)));
  ledger::LedgerOptions ledger_options = OpenOptionsOf({.ledger = options.ledger,
                                                        .anchor_directory = options.anchor_directory,
                                                        .data_directory = options.data_directory});
  const bool per_analyst = options.config.has_value() && options.config->metrics.per_analyst;
  auto metrics = std::make_unique<AppMetrics>(AppMetrics::Build{.version = CURATOR_VERSION,
                                                                .ledger_backend = BackendOf(options),
                                                                .development = options.development,
                                                                .per_analyst = per_analyst});
  ledger_options.report = LogLedger;
  ledger_options.observer = &metrics->ledger_observer();
  ledger_options.accept_missing_anchor = options.accept_missing_anchor;
  ledger_options.init = options.init;
  ASSIGN_OR_RETURN(std::unique_ptr<ledger::Ledger> ledger, ledger::OpenLedger(ledger_options));
  ASSIGN_OR_RETURN(
      std::unique_ptr<AppAudit> audit,
      AppAudit::Open(options.ledger, *ledger, options.config.value_or(config::ServerConfig()).audit));
  auto app = std::make_unique<RunningApp>(options, key, std::move(metrics), std::move(store),
                                          std::move(ledger), std::move(audit));
  RETURN_IF_ERROR(app->Serve(key));
  return app;
}

absl::Status CheckLoopback(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || !IsPort(address.substr(colon + 1))) {
    return InvalidField("--listen", absl::StrCat("must be HOST:PORT, such as 127.0.0.1:7878; got \"",
                                                 std::string(address), "\""));
  }
  if (!IsLoopback(std::string(address.substr(0, colon)))) {
    return InvalidField(
        "--listen",
        "must be on loopback (127.0.0.1, [::1] or localhost): with --dev every client is trusted");
  }
  return absl::OkStatus();
}

}  // namespace curator
