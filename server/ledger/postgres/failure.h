// What an exception of libpqxx says about a transaction.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "ledger/sql/database.h"

namespace curator::ledger::postgres {

struct Failure {
  sql::Ending ending = sql::Ending::kFailed;
  absl::Status status;  // hidden from clients (store_errors.h)
};

// Of the exception that is being handled; call only in a catch block. What is not an answer of the server
// about this statement (a lost connection, a shutdown, an unrecognised exception) has an unknown outcome.
// Rethrows std::bad_alloc.
Failure FailureOfCurrentException();

// How a transaction that failed with this SQLSTATE (appendix A of PostgreSQL's manual; empty: none came) has
// ended.
sql::Ending EndingOf(std::string_view sqlstate);

// A message without line ends.
std::string OneLine(std::string_view message);

}  // namespace curator::ledger::postgres
