// The shared store: a PostgreSQL database, for any number of servers. Uses libpqxx (docs/adr/0052).
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "ledger/sql/database.h"

namespace curator::ledger::postgres {

// Connects to `url` (ledger_url.h). Every connection checks that the server does not lose what it has
// acknowledged: fsync and full_page_writes are on, synchronous_commit waits for a standby where there is one,
// and it is a primary. Broken connections are replaced.
//
// Waits for nothing for ever: a server that is silent for ten seconds has broken the connection, a row that
// stays locked for five fails the transaction, and a caller that gets no connection within ten is refused.
// Writes, reads and long work have connections of their own.
//
// Errors: UNAVAILABLE (no server answers; the message names host and port; or it is a standby),
// FAILED_PRECONDITION (the server is not PostgreSQL, or not durable, or behind a pooler, or sorts text by
// another version of the database's collation than the database was made with), INVALID_ARGUMENT (a malformed
// URL, or one with a password).
absl::StatusOr<std::unique_ptr<sql::Database>> OpenPostgresDatabase(std::string_view url);

}  // namespace curator::ledger::postgres
