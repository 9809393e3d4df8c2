// The shared store: a PostgreSQL database, for any number of servers.
//
// Uses libpq, PostgreSQL's own C library, because it throws no exceptions, pipelines many statements in one
// round trip, and transfers bytes and integers in binary.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "ledger/sql/database.h"

namespace curator::ledger::postgres {

// Connects to `url` (postgresql://user@host:port/database). Every connection checks that the server does not
// lose what it has acknowledged: fsync, full_page_writes and synchronous_commit are on, and it is a primary.
// Broken connections are replaced. Errors: UNAVAILABLE (no server answers; the message names host and port;
// or it is a standby), FAILED_PRECONDITION (the server is not durable, or sorts text by another version of
// the database's collation than the database was made with), INVALID_ARGUMENT (a malformed URL).
absl::StatusOr<std::unique_ptr<sql::Database>> OpenPostgresDatabase(std::string_view url);

}  // namespace curator::ledger::postgres
