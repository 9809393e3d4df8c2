// curatord: reads flags, starts the server, drains it on a signal; or runs a ledger subcommand.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "app.h"
#include "app_bootstrap.h"
#include "app_ledger.h"
#include "app_server_history.h"
#include "host/logging.h"
#include "host/scheduling.h"
#include "host/service_manager.h"

namespace {

// Sent by the thread that stops the server to the main thread, when it has finished.
constexpr int kStopped = SIGUSR1;
// Beyond the time for long work: for calls, and for work to notice that it was stopped.
constexpr absl::Duration kLongestEnding = absl::Seconds(60);

// Before other threads and before any file exists.
void PrepareProcess() {
  // Request threads want short scheduler slices; compute threads ask for normal ones.
  curator::host::RequestShortTimeSlice();
  // No other user of the machine may read the ledger, the records or the key.
  umask(S_IRWXG | S_IRWXO);
  // A core would contain records, keys and tokens. To the kernel 1 also means none where cores are piped to
  // a program; 0 does not.
  constexpr rlimit kNoCore = {.rlim_cur = 1, .rlim_max = 1};
  // Where the limit is 0 already it cannot be raised to 1.
  if (setrlimit(RLIMIT_CORE, &kNoCore) != 0) prctl(PR_SET_DUMPABLE, 0);
}

// The main thread waits for signals: no code runs in a signal handler.
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, kStopped}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// The first of the signals that arrives within `patience`; none after that.
std::optional<int> AwaitSignal(const sigset_t& signals, absl::Duration patience) {
  const timespec timeout = absl::ToTimespec(patience);
  int signal = -1;
  do {
    signal = sigtimedwait(&signals, nullptr, &timeout);
  } while (signal < 0 && errno == EINTR);
  return signal < 0 ? std::nullopt : std::optional(signal);
}

// Ends the process at once. Nothing is lost: what was charged or stored is durable, and the rest is repeated
// by its request id.
[[noreturn]] void EndAtOnce(const char* cause, int status) {
  curator::host::Log(curator::host::LogLevel::kWarning, "ended_at_once", {{"cause", cause}});
  std::_Exit(status);
}

// Drains and destroys the server until that is done, a second signal arrives, or `patience` is over: its
// threads end with what they do, which may be a call of a store that does not answer.
void StopWithin(std::unique_ptr<curator::App> app, const sigset_t& signals, absl::Duration patience) {
  const pthread_t main_thread = pthread_self();
  std::thread stopper([app = std::move(app), main_thread]() mutable {
    app->Drain();
    app.reset();
    pthread_kill(main_thread, kStopped);
  });
  const std::optional<int> signal = AwaitSignal(signals, patience);
  if (!signal) EndAtOnce("work did not end in time", 1);
  if (*signal != kStopped) EndAtOnce("a second signal", 128 + *signal);
  stopper.join();
}

int Refuse(const absl::Status& status) {
  std::cerr << "curatord: " << absl::StatusCodeToString(status.code()) << ": " << status.message() << "\n";
  return 1;
}

curator::host::LogLevel LowestLevel(const curator::AppOptions& options) {
  if (!options.config.has_value()) return curator::host::LogLevel::kInfo;
  switch (options.config->log_level) {
    case curator::config::LogLevel::kInfo:
      return curator::host::LogLevel::kInfo;
    case curator::config::LogLevel::kWarning:
      return curator::host::LogLevel::kWarning;
    case curator::config::LogLevel::kError:
      break;
  }
  return curator::host::LogLevel::kError;
}

// systemd ends a service that it has not heard of in time, so the log says why.
void LogUnlessSent(const absl::Status& status) {
  if (!status.ok())
    curator::host::Log(curator::host::LogLevel::kWarning, "systemd_not_notified",
                       {{"cause", std::string(status.message())}});
}

int Serve(const curator::AppOptions& options) {
  const sigset_t signals = BlockSignals();
  curator::host::SetUpLogging(LowestLevel(options));
  absl::StatusOr<std::unique_ptr<curator::App>> app = curator::App::Start(options);
  if (!app.ok()) return Refuse(app.status());
  curator::host::Log(curator::host::LogLevel::kInfo, "serving", {{"address", (*app)->address()}});
  LogUnlessSent(curator::host::ReportReady());
  int signal = 0;
  sigwait(&signals, &signal);
  curator::host::Log(curator::host::LogLevel::kInfo, "draining", {{"signal", signal}});
  LogUnlessSent(curator::host::ReportStopping());
  StopWithin(*std::move(app), signals, options.drain_grace + kLongestEnding);
  curator::host::Log(curator::host::LogLevel::kInfo, "stopped");
  return 0;
}

// Flags that accept what would end the start.
void AddAcceptances(CLI::App& flags, curator::AppOptions& options) {
  flags.add_flag("--accept-missing-anchor", options.accept_missing_anchor,
                 "Start although the ledger has a history and no anchor: a restored backup goes unnoticed");
  flags.add_flag("--init", options.init,
                 "Begin a new ledger although anchors or records of another one are here");
}

void AddBootstrap(CLI::App& command, curator::BootstrapOptions& options) {
  command.add_option("--principal", options.principal, "The administrator's name")->required();
  command.add_option("--oidc-issuer", options.issuer, "The issuer of the identity, as in the configuration");
  command.add_option("--oidc-subject", options.subject, "Its subject there (\"sub\")");
  command.add_option("--certificate", options.certificate, "Or: the URI of its client certificate");
  command.add_flag("--break-glass", options.break_glass,
                   "Although there is an active administrator; the server's history shows it for ever");
}

struct Amounts {
  double grace_seconds = 10;
  double synthesis_minutes = 360;
  int64_t memory_megabytes = 4096;
};

void AddAmounts(CLI::App& flags, Amounts& amounts) {
  flags.add_option("--drain-seconds", amounts.grace_seconds, "Time for long work to finish at shutdown")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  flags
      .add_option("--synthesis-minutes", amounts.synthesis_minutes,
                  "Limit for one synthesis, after which it is forfeited")
      ->check(CLI::Range(0.01, 100000.0))
      ->capture_default_str();
  flags
      .add_option("--memory-budget", amounts.memory_megabytes,
                  "Megabytes that requests may take together, beside the tables; one principal at most half")
      ->check(CLI::Range(int64_t{400}, int64_t{1'000'000'000}))
      ->capture_default_str();
}

struct Invocation {
  std::string config_path;
  curator::AppOptions options;
  Amounts amounts;
  bool print_only = false;
  std::string reason;  // of a repair
  curator::BootstrapOptions bootstrap;
  curator::EdgeOptions edge{.bind = "*:443", .certificate = "/etc/curator/edge.pem", .user = "haproxy"};
  // Of the subcommand, after the configuration was read; serves where there is none.
  std::function<int()> run;

  curator::LedgerCommandOptions ledger() const {
    return {.ledger = options.ledger,
            .anchor_directory = options.anchor_directory,
            .data_directory = options.data_directory};
  }
};

// Where everything is: in a configuration, or flag by flag.
void AddPlaces(CLI::App& flags, Invocation& invocation) {
  curator::AppOptions& options = invocation.options;
  CLI::Option* const config =
      flags.add_option("--config", invocation.config_path,
                       "File that says where to listen, whom to trust, and where the data lies");
  flags.add_option("--listen", options.listen, "With --dev: HOST:PORT to serve on; port 0 picks a free one")
      ->capture_default_str()
      ->excludes(config);
  flags.add_option("--ledger", options.ledger, "sqlite:PATH or postgresql://...")->excludes(config);
  flags
      .add_option("--data-dir", options.data_directory,
                  "Directory of the private tables and the server's key")
      ->excludes(config);
  flags
      .add_option("--anchor", options.anchor_directory,
                  "Directory of the ledger's anchor (default: below --data-dir)")
      ->excludes(config);
  flags
      .add_option("--sql-translator", options.sql_translator,
                  "The program that SQL is translated in; default: curator-sql beside curatord")
      ->check(CLI::ExistingFile);
  flags.add_option("--metrics-file", options.metrics_file,
                   "File for node_exporter's textfile collector, written every 15 seconds");
  AddAcceptances(flags, options);
  flags
      .add_flag("--dev", options.development,
                "Trust the principal that a client names; loopback only; no security")
      ->excludes(config);
}

void AddLedgerCommands(CLI::App& flags, Invocation& invocation) {
  CLI::App* const migrate = flags.add_subcommand("migrate", "Bring the ledger's schema up to date and exit");
  migrate->add_flag("--print", invocation.print_only, "Print the SQL of the missing steps instead");
  migrate->callback([&invocation] {
    invocation.run = [&invocation] {
      const auto mode = invocation.print_only ? curator::MigrateMode::kPrint : curator::MigrateMode::kApply;
      return curator::RunMigrate(invocation.options.ledger, mode, std::cout, std::cerr);
    };
  });
  flags.add_subcommand("check-ledger", "Recount every history, compare tables and anchor; 3: not sound")
      ->callback([&invocation] {
        invocation.run = [&invocation] {
          return curator::RunCheckLedger(invocation.ledger(), std::cout, std::cerr);
        };
      });
  flags.add_subcommand("backup-note", "Print what a backup must contain, and the head of every history")
      ->callback([&invocation] {
        invocation.run = [&invocation] {
          return curator::RunBackupNote(invocation.ledger(), std::cout, std::cerr);
        };
      });
}

void AddServerHistoryCommands(CLI::App& flags, Invocation& invocation) {
  flags
      .add_subcommand("server-history",
                      "Print the server's own history: who made which principal, credential and role")
      ->callback([&invocation] {
        invocation.run = [&invocation] {
          return curator::RunServerHistory(invocation.ledger(), std::cout, std::cerr);
        };
      });
  CLI::App* const repair = flags.add_subcommand(
      "repair-server", "Continue the server's own history when its newest entries are lost for good");
  repair->add_option("--reason", invocation.reason, "Why, which the history shows for ever")->required();
  repair->callback([&invocation] {
    invocation.run = [&invocation] {
      return curator::RunRepairServer(invocation.ledger(), invocation.reason, std::cout, std::cerr);
    };
  });
}

// The subcommands that a configuration is needed for.
void AddAccessCommands(CLI::App& flags, Invocation& invocation) {
  const auto run_with_config = [&invocation](CLI::App* command, auto run) {
    command->callback([&invocation, run] {
      invocation.run = [&invocation, run] {
        if (invocation.options.config.has_value()) return run(*invocation.options.config);
        return Refuse(absl::InvalidArgumentError("--config is missing"));
      };
    });
  };
  CLI::App* const bootstrap = flags.add_subcommand(
      "bootstrap", "Enrol the first administrator: print a one-time code for an identity");
  AddBootstrap(*bootstrap, invocation.bootstrap);
  run_with_config(bootstrap, [&invocation](const curator::config::ServerConfig& config) {
    return curator::RunBootstrap(config, invocation.bootstrap, std::cout, std::cerr);
  });
  CLI::App* const edge =
      flags.add_subcommand("edge-config", "Print haproxy's configuration for the edge, with its secret");
  edge->add_option("--bind", invocation.edge.bind, "Where haproxy listens")->capture_default_str();
  edge->add_option("--certificate", invocation.edge.certificate, "haproxy's certificate with its key, in PEM")
      ->capture_default_str();
  edge->add_option("--gate", invocation.edge.gate,
                   "unix:/PATH that curator-gate listens at, for browsers; without it they get 404");
  edge->add_option("--user", invocation.edge.user, "haproxy's user and group, which may open the socket")
      ->capture_default_str();
  run_with_config(edge, [&invocation](const curator::config::ServerConfig& config) {
    return curator::RunEdgeConfig(config, invocation.edge, std::cout, std::cerr);
  });
}

// What the configuration says takes the place of flags.
absl::Status ReadConfig(Invocation& invocation) {
  if (invocation.config_path.empty()) return absl::OkStatus();
  absl::StatusOr<curator::config::ServerConfig> read =
      curator::config::ReadServerConfig(invocation.config_path);
  if (!read.ok()) return read.status();
  invocation.options.ledger = read->ledger;
  invocation.options.data_directory = read->data_dir;
  invocation.options.anchor_directory = read->anchor;
  if (invocation.options.metrics_file.empty()) invocation.options.metrics_file = read->metrics.file;
  invocation.options.config = *std::move(read);
  return absl::OkStatus();
}

int Run(Invocation& invocation) {
  if (const absl::Status read = ReadConfig(invocation); !read.ok()) return Refuse(read);
  if (invocation.options.ledger.empty()) {
    std::cerr << "curatord: --config is missing, or --ledger: sqlite:PATH or postgresql://...\n";
    return 2;
  }
  if (invocation.run) {
    curator::host::SetUpLogging(curator::host::LogLevel::kWarning);
    return invocation.run();
  }
  invocation.options.drain_grace = absl::Seconds(invocation.amounts.grace_seconds);
  invocation.options.memory_budget = invocation.amounts.memory_megabytes * 1'000'000;
  invocation.options.synthesis_timeout = absl::Minutes(invocation.amounts.synthesis_minutes);
  return Serve(invocation.options);
}

}  // namespace

int main(int argc, char** argv) {
  PrepareProcess();
  Invocation invocation;
  CLI::App flags{"curatord: holds private tables, charges their budgets, answers with noise"};
  AddPlaces(flags, invocation);
  AddAmounts(flags, invocation.amounts);
  flags
      .add_option("--charges-per-day", invocation.options.charges_a_day,
                  "New charges that one principal may make in a day (UTC)")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000}))
      ->capture_default_str();
  flags.set_version_flag("--version", CURATOR_VERSION);
  // Without a subcommand it serves. Options may precede or follow a subcommand.
  flags.fallthrough();
  flags.require_subcommand(0, 1);
  AddLedgerCommands(flags, invocation);
  AddServerHistoryCommands(flags, invocation);
  AddAccessCommands(flags, invocation);
  try {
    flags.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return flags.exit(error) == 0 ? 0 : 2;
  }
  return Run(invocation);
}
