// What the ledger is compared with: one transaction with one UPDATE and one INSERT for each charge, and
// nothing else: no request ids, no history, no anchor. What takes the server several transactions is compared
// with as many of these, one after the other (`transactions`).
#pragma once

#include <string>

#include "bench/ledger_load.h"

namespace curator::bench {

// How pgbench sends its statements: as text each time, as it does unless told otherwise, or prepared once,
// which is the faster.
enum class Protocol { kSimple, kPrepared };

// pgbench on `url`'s database, whose tables it makes first. Ends the program with a message when pgbench is
// not there.
Observed ChargePlainlyOnPostgres(const std::string& url, const Load& load, Protocol protocol,
                                 int transactions = 1);

// The same loop on a SQLite file, with WAL and synchronous = FULL. The clients take turns at one connection,
// which is faster than a connection each, because SQLite polls a locked file.
Observed ChargePlainlyOnSqlite(const std::string& path, const Load& load, int transactions = 1);

}  // namespace curator::bench
