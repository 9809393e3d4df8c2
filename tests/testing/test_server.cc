#include "tests/testing/test_server.h"

#include <cstdlib>
#include <iostream>

#include "ledger/inspect_ledger.h"
#include "tests/testing/postgres_cluster.h"

namespace curator::testing {

std::string BackendName(Backend backend) {
  return backend == Backend::kSqlite ? "Sqlite" : "Postgres";
}

AppOptions FreshOptions(Backend backend, const std::filesystem::path& directory) {
  AppOptions options;
  options.listen = "127.0.0.1:0";
  options.data_directory = directory / "data";
  options.ledger = backend == Backend::kSqlite
                       ? "sqlite:" + (directory / "ledger.db").string()
                       : PostgresCluster::Shared().CreatePreparedDatabase(
                             [](const std::string& url) { return ledger::MigrateLedger(url).status(); });
  options.development = true;
  options.sql_translator = CURATOR_SQL;
  return options;
}

TestServer::TestServer(Backend backend) : options_(FreshOptions(backend, directory_.path())) {
  Start();
}

void TestServer::Restart() {
  app_.reset();
  Start();
}

void TestServer::RestartWith(const AppOptions& options) {
  app_.reset();
  options_ = options;
  Start();
}

void TestServer::Start() {
  absl::StatusOr<std::unique_ptr<App>> app = App::Start(options_);
  if (!app.ok()) {
    std::cerr << "the test server cannot start: " << app.status() << "\n";
    std::abort();
  }
  app_ = *std::move(app);
}

Client TestServer::ClientFor(const std::string& principal) const {
  return Client({.server = address(), .principal = principal});
}

}  // namespace curator::testing
