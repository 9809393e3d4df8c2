// The composition root: the only place that connects concrete types.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "config/server_config.h"

namespace curator {

struct AppOptions {
  std::string listen = "127.0.0.1:7878";  // host:port; port 0 picks a free one
  std::string ledger;                     // "sqlite:PATH" or "postgresql://..."
  std::string data_directory;
  std::string anchor_directory;        // DATA_DIRECTORY/anchor when empty
  bool accept_missing_anchor = false;  // ledger::LedgerOptions has these two
  bool init = false;
  // Trusts the principal that a client names, on loopback. Else `config` says where the server listens and
  // whom it trusts, and `listen` is not used.
  bool development = false;
  std::optional<config::ServerConfig> config = std::nullopt;
  std::string sql_translator;                         // the program; empty: curator-sql beside this one
  std::string metrics_file;                           // empty: none is written
  absl::Duration drain_grace = absl::Seconds(10);     // for long work to finish at shutdown
  absl::Duration synthesis_timeout = absl::Hours(6);  // a public limit for one synthesis
  int synthesis_threads = 1;                          // a core stays free for the ledger
  int64_t memory_budget = 4'096'000'000;              // bytes that requests may take together
  int synthesis_places = 64;                          // running and waiting
  int64_t charges_a_day = 50'000;                     // new ones of one principal
  absl::Duration forget_after = absl::Hours(24);      // from disabling a principal on; less for tests alone
};

// A running server. Thread-safe.
class App {
 public:
  // Returns when the server accepts calls. Errors: INVALID_ARGUMENT, FAILED_PRECONDITION or UNAVAILABLE,
  // naming the option that cannot be satisfied and the reason.
  static absl::StatusOr<std::unique_ptr<App>> Start(const AppOptions& options);

  virtual ~App() = default;

  // The first address that it listens on: HOST:PORT with the actual port, or "unix:/PATH".
  virtual std::string address() const = 0;

  // Refuses new work, waits up to `drain_grace` for running operations, abandons the rest (their charges
  // stand, and their request ids resume them), and returns when nothing runs any more.
  virtual void Drain() = 0;
};

// The addresses that a development server may listen on: OK for HOST:PORT with a host on the loopback
// interface, 127.0.0.0/8, [::1] or localhost; else INVALID_ARGUMENT (--listen). Thread-safe: a pure function.
absl::Status CheckLoopback(std::string_view address);

}  // namespace curator
