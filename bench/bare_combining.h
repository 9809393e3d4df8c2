// What is the most that sharing a commit can give on this machine: charges of the plain loop's two small rows
// (plain_charges.h), gathered by the ledger's own combiner and sent by its own drivers, and nothing else: no
// request ids, no history, no anchor.
#pragma once

#include "bench/ledger_load.h"
#include "ledger/sql/database.h"

namespace curator::bench {

// `database` has the tables of plain_charges.h. A client that charges several `transactions` waits for each
// before the next.
Observed ChargeBarelyCombined(ledger::sql::Database& database, const Load& load, int transactions = 1);

}  // namespace curator::bench
