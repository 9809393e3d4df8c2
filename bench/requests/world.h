// What is measured: a server on a fresh ledger, its echo, and a store for plain transactions beside it.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/plain_ways.h"
#include "bench/requests/calls.h"
#include "bench/requests/child_process.h"
#include "bench/requests/kinds.h"
#include "tests/testing/delaying_proxy.h"
#include "tests/testing/postgres_cluster.h"
#include "tests/testing/scratch_folder.h"

namespace curator::bench {

struct WorldOptions {
  std::string backend;  // "sqlite" or "postgres"
  std::vector<Kind> kinds = {kAllKinds.begin(), kAllKinds.end()};
  std::string server = CURATORD_PATH;
  int connections = 8;                          // to each server
  std::chrono::microseconds database_delay{0};  // each way between the server and PostgreSQL
};

// A server that requests can be sent to.
struct Served {
  const ChildProcess& process;
  const Connections& connections;
};

// Ends the program with a message when something cannot be started. Everything lies below $CURATOR_SCRATCH.
class World {
 public:
  explicit World(const WorldOptions& options);

  const WorldOptions& options() const { return options_; }
  Served server() const { return {*server_, *connections_}; }
  // Started at the first call.
  Served echo();
  const Traffic& traffic(Kind kind) const { return *traffic_.at(kind); }
  // A client of the server as the principal.
  Client ClientOf(const std::string& principal) const;
  std::vector<PlainWay> Plain(int transactions) const { return PlainWays(plain_, transactions); }

  // Stops the server, does `meanwhile` to its ledger, and starts it again. Returns when it has verified its
  // history.
  using LedgerWork = std::function<void(const std::string& url, const std::string& anchor)>;
  void Restart(const LedgerWork& meanwhile);

 private:
  void MakeStores();
  void StartServer();
  std::string AnchorFolder() const;

  const WorldOptions options_;
  const testing::ScratchFolder scratch_;
  std::unique_ptr<testing::PostgresCluster> cluster_;
  std::unique_ptr<testing::DelayingProxy> proxy_;
  std::string ledger_url_;
  std::string plain_;
  std::unique_ptr<ChildProcess> server_;
  std::string address_;
  std::unique_ptr<Connections> connections_;
  std::map<Kind, std::unique_ptr<Traffic>> traffic_;
  std::unique_ptr<ChildProcess> echo_;
  std::unique_ptr<Connections> echo_connections_;
};

}  // namespace curator::bench
