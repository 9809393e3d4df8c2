#include "ledger/postgres/postgres_errors.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"

namespace curator::ledger::postgres {
namespace {

bool IsOneOf(const std::string& state, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const char* prefix) { return absl::StartsWith(state, prefix); });
}

}  // namespace

std::string OneLine(const char* message) {
  std::string line = absl::StrReplaceAll(message == nullptr ? "" : message, {{"\n", " "}, {"\t", " "}});
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string SqlStateOf(const PGresult* result) {
  const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return state == nullptr ? "" : state;
}

// By SQLSTATE (appendix A of PostgreSQL's manual).
sql::Ending EndingOf(const std::string& state) {
  // serialization_failure, deadlock_detected, unique_violation
  if (IsOneOf(state, {"40001", "40P01", "23505"})) return sql::Ending::kConflict;
  // No state: the connection broke. 08: connection exceptions; 40003: statement_completion_unknown; 57P:
  // shutdown, crash, still starting; 25P03: cut after idling in a transaction; 58: input or output failed
  // below the server.
  if (state.empty() || IsOneOf(state, {"08", "40003", "57P", "25P03", "58"})) return sql::Ending::kUnknown;
  return sql::Ending::kFailed;
}

absl::StatusCode StatusCodeOf(const std::string& state) {
  if (EndingOf(state) == sql::Ending::kConflict) return absl::StatusCode::kAborted;
  if (EndingOf(state) == sql::Ending::kUnknown) return absl::StatusCode::kUnavailable;
  // 53: disk full, out of memory, too many connections; 55P03 and 57014: waited too long; 25006: became a
  // standby.
  if (IsOneOf(state, {"53", "55P03", "57014", "25006"})) return absl::StatusCode::kUnavailable;
  if (IsOneOf(state, {"42501", "28", "3D000"})) return absl::StatusCode::kFailedPrecondition;
  if (IsOneOf(state, {"XX001", "XX002"})) return absl::StatusCode::kDataLoss;
  return absl::StatusCode::kInternal;
}

}  // namespace curator::ledger::postgres
