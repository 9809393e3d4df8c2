// The URL of a ledger in PostgreSQL, and what every connection to it is opened with.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace curator::ledger::postgres {

struct LedgerUrl {
  // The URL with Curator's defaults before the parameters of its query, which may override them.
  std::string base;
  std::string options;  // of the URL: "-c name=value"
  std::string where;    // for messages: "host db.example:5432"
};

// Reads postgresql://USER@HOST:PORT/DATABASE?KEYWORD=VALUE&... with PostgreSQL's keywords. Errors:
// INVALID_ARGUMENT (another scheme; a password, which processes of other users could read in the command
// line). No message contains any part of the URL but the hosts and ports.
absl::StatusOr<LedgerUrl> ParseLedgerUrl(std::string_view url);

// What a session's transactions see.
enum class Isolation {
  kReadCommitted,   // each statement: what is committed before it begins
  kRepeatableRead,  // all statements: what is committed before the first
};

// With the settings of a session, which the URL may not override. They travel with the connection's start, so
// no connection is without them.
std::string ConnectionString(const LedgerUrl& url, Isolation isolation);

}  // namespace curator::ledger::postgres
