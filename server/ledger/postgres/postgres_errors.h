// What PostgreSQL's errors mean for a transaction and for who asked.
//
// Thread-safe: pure functions.
#pragma once

#include <libpq-fe.h>

#include <string>

#include "absl/status/status.h"
#include "ledger/sql/database.h"

namespace curator::ledger::postgres {

// The five characters of a failed result, empty when there is none: the connection broke.
std::string SqlStateOf(const PGresult* result);

// How a transaction has ended that failed with this SQLSTATE, and the status that tells.
sql::Ending EndingOf(const std::string& sqlstate);
absl::StatusCode StatusCodeOf(const std::string& sqlstate);

// A message of the server or of the library without line ends.
std::string OneLine(const char* message);

}  // namespace curator::ledger::postgres
