// All ways in which a store can be charged plainly (plain_charges.h, bare_combining.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/ledger_load.h"

namespace curator::bench {

struct PlainWay {
  const char* name;
  std::function<Observed(const Load&)> charge;
};

// Those of `store`, a PostgreSQL URL or the path of a SQLite file, with this many transactions for each
// charge.
std::vector<PlainWay> PlainWays(const std::string& store, int transactions = 1);

}  // namespace curator::bench
