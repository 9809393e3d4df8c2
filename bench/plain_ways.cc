#include "bench/plain_ways.h"

#include <cstdio>
#include <cstdlib>

#include "bench/bare_combining.h"
#include "bench/plain_charges.h"
#include "ledger/postgres/postgres_database.h"
#include "ledger/sqlite/sqlite_database.h"

namespace curator::bench {
namespace {

bool IsPostgres(const std::string& store) {
  return store.starts_with("postgres");
}

Observed ChargeBarely(const std::string& store, const Load& load, int transactions) {
  auto database = IsPostgres(store) ? ledger::postgres::OpenPostgresDatabase(store)
                                    : ledger::sqlite::OpenSqliteDatabase(store);
  if (!database.ok()) {
    std::fprintf(stderr, "%s\n", database.status().ToString().c_str());
    std::exit(1);
  }
  return ChargeBarelyCombined(**database, load, transactions);
}

}  // namespace

std::vector<PlainWay> PlainWays(const std::string& store, int transactions) {
  const PlainWay bare = {"bare combining",
                         [=](const Load& load) { return ChargeBarely(store, load, transactions); }};
  if (!IsPostgres(store)) {
    return {{"plain loop, one connection",
             [=](const Load& load) { return ChargePlainlyOnSqlite(store, load, transactions); }},
            bare};
  }
  const auto pgbench = [=](Protocol protocol) {
    return [=](const Load& load) { return ChargePlainlyOnPostgres(store, load, protocol, transactions); };
  };
  return {{"pgbench (simple protocol)", pgbench(Protocol::kSimple)},
          {"pgbench -M prepared", pgbench(Protocol::kPrepared)},
          bare};
}

}  // namespace curator::bench
