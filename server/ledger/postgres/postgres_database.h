// The shared store: a PostgreSQL database, for any number of servers.
//
// Spoken to through libpq, PostgreSQL's own C library: it has no exceptions to catch in the right order,
// sends many statements in one round trip, and keeps bytes and integers binary.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "ledger/sql/database.h"

namespace curator::ledger::postgres {

// Connects to `url` (postgresql://user@host:port/database). Every connection asserts that the server keeps
// what it has acknowledged: a primary (not in recovery) with fsync, full_page_writes and synchronous_commit
// on. Connections are made again when they break. Errors: UNAVAILABLE (nobody answers there; the message says
// where and what to do), FAILED_PRECONDITION (it answers, but does not keep its word on durability),
// INVALID_ARGUMENT (not a URL).
absl::StatusOr<std::unique_ptr<sql::Database>> OpenPostgresDatabase(std::string_view url);

}  // namespace curator::ledger::postgres
