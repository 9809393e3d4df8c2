// The composition root: the only place where concrete types meet.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace curator {

struct AppOptions {
  std::string listen = "127.0.0.1:7878";  // host:port; port 0 picks a free one
  std::string ledger;                     // "sqlite:PATH" or "postgresql://..."
  std::string data_directory;
  std::string anchor_directory;  // beside the data when empty
  // Trusts the principal that a client names. Without it the server refuses to start: it has no
  // authentication.
  bool development = false;
  absl::Duration drain_grace = absl::Seconds(10);     // what long work gets to finish at shutdown
  absl::Duration synthesis_timeout = absl::Hours(6);  // a public limit for one synthesis
  int synthesis_threads = 1;                          // a core stays free for the ledger
  int synthesis_places = 64;                          // running and waiting
};

// A running server. Thread-safe.
class App {
 public:
  // Serves on return. Errors: INVALID_ARGUMENT, FAILED_PRECONDITION or UNAVAILABLE, saying which option
  // cannot be met and why.
  static absl::StatusOr<std::unique_ptr<App>> Start(const AppOptions& options);

  virtual ~App() = default;

  // Where it listens, with the real port.
  virtual std::string address() const = 0;

  // Takes no further work, lets what runs finish for `drain_grace`, abandons the rest (their charges stand
  // and their request ids take them up again), and returns when nothing runs any more.
  virtual void Drain() = 0;
};

// Where a development server may listen.

// OK for host:port with a host on the loopback interface: 127.0.0.0/8, [::1] or localhost. INVALID_ARGUMENT
// (--listen) otherwise. Thread-safe: a pure function.
absl::Status CheckLoopback(std::string_view address);

}  // namespace curator
