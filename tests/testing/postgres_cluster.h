// A real PostgreSQL server of one's own, for tests: a fresh cluster in a temporary folder, on a free loopback
// port and a private socket, gone when the test program is gone, however it ends.
//
// Durability is on, because the ledger refuses to work without it. A machine without PostgreSQL is a failed
// test, not a skipped one: CURATOR_POSTGRES_BIN names the folder of its programs where they are not at
// Debian's place.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/testing/scratch_folder.h"

namespace curator::testing {

// Little is enough for tests; a benchmark wants what PostgreSQL takes by default, and as many connections as
// it has clients.
struct PostgresMemory {
  std::string shared_buffers = "16MB";
  std::string max_wal_size = "256MB";
  std::string max_connections = "200";
  // Visits each database once a minute, which takes much of a processor where there are hundreds.
  std::string autovacuum = "on";
};

// How a cluster's databases sort text unless a column says otherwise.
enum class Collation {
  kBytes,    // initdb --locale=C
  kEnglish,  // ICU's en-US: "apple" before "Zebra", unlike their bytes
};

// Call from the main thread: the server is killed when the thread that started it ends.
class PostgresCluster {
 public:
  // The cluster of this process, started at the first call. Its databases sort text as English, which nothing
  // in a ledger may depend on. Ends the program with a message when it cannot be started.
  static PostgresCluster& Shared();

  static absl::StatusOr<std::unique_ptr<PostgresCluster>> Start(const PostgresMemory& memory = {},
                                                                Collation collation = Collation::kBytes);
  ~PostgresCluster();
  PostgresCluster(const PostgresCluster&) = delete;
  PostgresCluster& operator=(const PostgresCluster&) = delete;

  int port() const { return port_; }

  // The URL of a new, empty database; ends the program with a message when there is none to be had.
  std::string CreateDatabase();
  // The same, of a database that `prepare` has prepared: it is called once in a program, with the URL of a
  // database of which this and all later ones are copies. Steps of a schema take longer than a copy.
  std::string CreatePreparedDatabase(const std::function<absl::Status(const std::string& url)>& prepare);
  // The URL of a copy of `url`'s database, which nobody may be connected to.
  std::string CopyDatabase(const std::string& url);

  // Stops the server as a crash would (no shutdown checkpoint), and starts it again on the same port.
  absl::Status CrashAndRestart();
  // Stops it so for good.
  void Crash();

  // A standby that receives what this server writes, as a server of its own.
  absl::StatusOr<std::unique_ptr<PostgresCluster>> StartStandby() const;
  // Makes a standby a primary. Returns when it is one.
  absl::Status Promote();

  // Runs a statement as the superuser, in a database without tables and outside of any transaction.
  absl::Status Execute(const std::string& statement) const;

 private:
  PostgresCluster(std::string programs, int port, const PostgresMemory& memory, Collation collation)
      : programs_(std::move(programs)), memory_(memory), collation_(collation), port_(port) {}
  absl::Status OpenFolder();
  absl::Status Initialize();
  absl::Status Launch();
  void Kill(int signal);
  std::string UrlOf(const std::string& database) const;

  const ScratchFolder scratch_;
  const std::string& folder_ = scratch_.path();
  const std::string programs_;
  const PostgresMemory memory_;
  const Collation collation_;
  const int port_;
  pid_t server_ = -1;
  int databases_ = 0;
  std::string prepared_;  // the URL of the database that is copied; empty before the first one
};

}  // namespace curator::testing
