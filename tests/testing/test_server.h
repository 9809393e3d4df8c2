// A Curator server for tests: the real server, on a real socket, over a real ledger, in a folder of its own.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app.h"
#include "client/client.h"
#include "tests/testing/scratch_folder.h"

namespace curator::testing {

// The ledgers that every end-to-end test runs on.
enum class Backend { kSqlite, kPostgres };
std::string BackendName(Backend backend);

// Serves from construction on. A server that cannot start fails the test and ends the program.
class TestServer {
 public:
  explicit TestServer(Backend backend);

  // Drains and starts again on the same state, on another port; with other options if need be.
  void Restart();
  void RestartWith(const AppOptions& options);

  Client ClientFor(const std::string& principal) const;
  const AppOptions& options() const { return options_; }
  std::string address() const { return app_->address(); }

 private:
  void Start();

  const ScratchFolder directory_;
  AppOptions options_;
  std::unique_ptr<App> app_;
};

// The same options for a state in `directory`: a new ledger of the given kind and an empty data directory.
AppOptions FreshOptions(Backend backend, const std::filesystem::path& directory);

}  // namespace curator::testing
