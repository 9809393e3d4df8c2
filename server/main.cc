// curatord: reads flags, starts the server, drains it on a signal; or runs a ledger subcommand.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "app.h"
#include "app_ledger.h"
#include "host/logging.h"
#include "host/scheduling.h"

namespace {

// Before other threads and before any file exists.
void PrepareProcess() {
  // Request threads want short scheduler slices; compute threads ask for normal ones.
  curator::host::RequestShortTimeSlice();
  // No other user of the machine may read the ledger, the records or the key.
  umask(S_IRWXG | S_IRWXO);
}

// The main thread waits for signals: no code runs in a signal handler.
sigset_t BlockTermination() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

}  // namespace

int main(int argc, char** argv) {
  PrepareProcess();
  curator::AppOptions options;
  bool print_only = false;
  double grace_seconds = 10;
  double synthesis_minutes = 360;
  CLI::App flags{"curatord: holds private tables, charges their budgets, answers with noise"};
  flags.add_option("--listen", options.listen, "HOST:PORT to serve on; port 0 picks a free one")
      ->capture_default_str();
  flags.add_option("--ledger", options.ledger, "sqlite:PATH or postgresql://...")->required();
  flags.add_option("--data-dir", options.data_directory,
                   "Directory of the private tables and the server's key");
  flags.add_option("--anchor", options.anchor_directory,
                   "Directory of the ledger's anchor (default: below --data-dir)");
  flags.add_flag("--dev", options.development,
                 "Trust the principal that a client names; loopback only; no security");
  flags.add_option("--drain-seconds", grace_seconds, "Time for long work to finish at shutdown")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  flags
      .add_option("--synthesis-minutes", synthesis_minutes,
                  "Limit for one synthesis, after which it is forfeited")
      ->check(CLI::Range(0.01, 100000.0))
      ->capture_default_str();
  flags.set_version_flag("--version", CURATOR_VERSION);
  // Without a subcommand it serves. Options may precede or follow a subcommand.
  flags.fallthrough();
  flags.require_subcommand(0, 1);
  CLI::App* const migrate = flags.add_subcommand("migrate", "Bring the ledger's schema up to date and exit");
  migrate->add_flag("--print", print_only, "Print the SQL of the missing steps instead");
  const CLI::App* const check =
      flags.add_subcommand("check-ledger", "Recount every history, compare tables and anchor; 3: not sound");
  const CLI::App* const note =
      flags.add_subcommand("backup-note", "Print what a backup must contain, and the head of every history");
  try {
    flags.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return flags.exit(error) == 0 ? 0 : 2;
  }
  const curator::LedgerCommandOptions ledger_options{.ledger = options.ledger,
                                                     .anchor_directory = options.anchor_directory,
                                                     .data_directory = options.data_directory};
  if (migrate->parsed()) {
    const auto mode = print_only ? curator::MigrateMode::kPrint : curator::MigrateMode::kApply;
    return curator::RunMigrate(options.ledger, mode, std::cout, std::cerr);
  }
  if (check->parsed()) return curator::RunCheckLedger(ledger_options, std::cout, std::cerr);
  if (note->parsed()) return curator::RunBackupNote(ledger_options, std::cout, std::cerr);
  options.drain_grace = absl::Seconds(grace_seconds);
  options.synthesis_timeout = absl::Minutes(synthesis_minutes);

  const sigset_t termination = BlockTermination();
  curator::host::SetUpLogging(curator::host::LogLevel::kInfo);
  const absl::StatusOr<std::unique_ptr<curator::App>> app = curator::App::Start(options);
  if (!app.ok()) {
    std::cerr << "curatord: " << absl::StatusCodeToString(app.status().code()) << ": "
              << app.status().message() << "\n";
    return 1;
  }
  curator::host::Log(curator::host::LogLevel::kInfo, "serving", {{"address", (*app)->address()}});
  int signal = 0;
  sigwait(&termination, &signal);
  curator::host::Log(curator::host::LogLevel::kInfo, "draining", {{"signal", signal}});
  (*app)->Drain();
  curator::host::Log(curator::host::LogLevel::kInfo, "stopped");
  return 0;
}
