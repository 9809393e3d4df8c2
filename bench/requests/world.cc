#include "bench/requests/world.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "bench/requests/echo_server.h"

namespace curator::bench {

World::World(const WorldOptions& options) : options_(options) {
  MakeStores();
  StartServer();
  const Client owner = ClientOf(kOwner);
  MakeDataset(owner);
  for (const Kind kind : options_.kinds) {
    std::fprintf(stderr, "preparing %s\n", NameOf(kind).c_str());
    traffic_[kind] = std::make_unique<Traffic>(kind, owner, *connections_);
  }
}

void World::MakeStores() {
  if (options_.backend == "sqlite") {
    ledger_url_ = absl::StrCat("sqlite:", scratch_.path(), "/ledger.db");
    plain_ = absl::StrCat(scratch_.path(), "/plain.db");
    return;
  }
  if (options_.backend != "postgres")
    Must(absl::InvalidArgumentError("no such backend: " + options_.backend));
  cluster_ = Must(testing::PostgresCluster::Start(
      {.shared_buffers = "128MB", .max_wal_size = "1GB", .max_connections = "400"}));
  // What a server makes of a table's statistics within a minute it makes here within seconds: until then it
  // plans as for empty tables.
  Must(cluster_->Execute("ALTER SYSTEM SET autovacuum_naptime = '1s'"));
  Must(cluster_->Execute("SELECT pg_reload_conf()"));
  ledger_url_ = cluster_->CreateDatabase();
  plain_ = cluster_->CreateDatabase();
  if (options_.database_delay.count() == 0) return;
  proxy_ = std::make_unique<testing::DelayingProxy>(cluster_->port(), options_.database_delay);
  for (std::string* url : {&ledger_url_, &plain_}) {
    *url = absl::StrReplaceAll(
        *url, {{absl::StrCat(":", cluster_->port(), "/"), absl::StrCat(":", proxy_->port(), "/")}});
  }
}

std::string World::AnchorFolder() const {
  return absl::StrCat(scratch_.path(), "/data/anchor");
}

void World::StartServer() {
  server_ = std::make_unique<ChildProcess>(
      std::vector<std::string>{options_.server, "--dev", "--listen", "127.0.0.1:0", "--ledger", ledger_url_,
                               "--data-dir", absl::StrCat(scratch_.path(), "/data")},
      absl::StrCat(scratch_.path(), "/server.log"));
  address_ = server_->AwaitAddress();
  server_->AwaitLog("histories_verified");
  connections_ = std::make_unique<Connections>(address_, options_.connections);
}

Served World::echo() {
  if (echo_ == nullptr) {
    Recording recording;
    for (const auto& [kind, traffic] : traffic_) recording[kind] = traffic->Record(*connections_);
    const std::string folder = absl::StrCat(scratch_.path(), "/recording");
    WriteRecording(recording, folder);
    echo_ = std::make_unique<ChildProcess>(std::vector<std::string>{"/proc/self/exe", "--echo", folder},
                                           absl::StrCat(scratch_.path(), "/echo.log"));
    echo_connections_ = std::make_unique<Connections>(echo_->AwaitAddress(), options_.connections);
  }
  return {*echo_, *echo_connections_};
}

Client World::ClientOf(const std::string& principal) const {
  return Client({.server = address_, .principal = principal});
}

void World::Restart(const LedgerWork& meanwhile) {
  connections_.reset();
  server_->Stop();
  meanwhile(ledger_url_, AnchorFolder());
  StartServer();
}

}  // namespace curator::bench
