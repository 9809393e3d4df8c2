#include "ledger/postgres/failure.h"

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <new>
#include <pqxx/except>
#include <type_traits>
#include <typeinfo>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "ledger/sql/store_errors.h"

namespace curator::ledger::postgres {
namespace {

constexpr std::string_view kDiskFull = "53100";

bool IsOneOf(std::string_view state, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return state.starts_with(prefix); });
}

absl::StatusCode StatusCodeOf(std::string_view state) {
  if (EndingOf(state) == sql::Ending::kConflict) return absl::StatusCode::kAborted;
  if (EndingOf(state) == sql::Ending::kUnknown) return absl::StatusCode::kUnavailable;
  // 53: disk full, out of memory, too many connections; 55P03 and 57014: waited too long; 25006: became a
  // standby.
  if (IsOneOf(state, {"53", "55P03", "57014", "25006"})) return absl::StatusCode::kUnavailable;
  if (IsOneOf(state, {"42501", "28", "3D000"})) return absl::StatusCode::kFailedPrecondition;
  if (IsOneOf(state, {"XX001", "XX002"})) return absl::StatusCode::kDataLoss;
  return absl::StatusCode::kInternal;
}

// Its own, or where libpqxx 6.4 has dropped it, that of its class; dropped ones would count as unknown.
std::string StateOf(const pqxx::sql_error& error) {
  if (!error.sqlstate().empty()) return error.sqlstate();
  const auto is = [&error]<typename Class>(std::type_identity<Class>) {
    return dynamic_cast<const Class*>(&error) != nullptr;
  };
  if (is(std::type_identity<pqxx::unique_violation>())) return "23505";
  if (is(std::type_identity<pqxx::insufficient_privilege>())) return "42501";
  if (is(std::type_identity<pqxx::disk_full>())) return std::string(kDiskFull);
  if (is(std::type_identity<pqxx::insufficient_resources>())) return "53000";
  // The server has answered in all classes but the base.
  return typeid(error) == typeid(pqxx::sql_error) ? "" : "XX000";
}

Failure FailureOf(std::string_view state, std::string_view message) {
  // "ERROR:  could not extend file ...": the severity says nothing more.
  constexpr std::string_view kError = "ERROR:  ";
  if (message.starts_with(kError)) message.remove_prefix(kError.size());
  const absl::Status status(StatusCodeOf(state),
                            absl::StrCat("the ledger's store answered: ", OneLine(message)));
  return {EndingOf(state), state == kDiskFull ? sql::StoreIsFull(status) : sql::HideStore(status)};
}

}  // namespace

sql::Ending EndingOf(std::string_view sqlstate) {
  // serialization_failure, deadlock_detected, unique_violation
  if (IsOneOf(sqlstate, {"40001", "40P01", "23505"})) return sql::Ending::kConflict;
  // No state: the connection broke. 08: connection exceptions; 40003: statement_completion_unknown; 57P:
  // shutdown, crash, still starting; 25P03: cut after idling in a transaction; 58: input or output failed
  // below the server.
  if (sqlstate.empty() || IsOneOf(sqlstate, {"08", "40003", "57P", "25P03", "58"})) {
    return sql::Ending::kUnknown;
  }
  return sql::Ending::kFailed;
}

std::string OneLine(std::string_view message) {
  std::string line =
      absl::StrReplaceAll(absl::string_view(message.data(), message.size()), {{"\n", " "}, {"\t", " "}});
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

Failure FailureOfCurrentException() {
  // libpqxx 6.4 keeps no SQLSTATE in the exceptions that have a class of their own outside of sql_error. The
  // unknown outcome comes first, because it derives from the rollback that it may not be.
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const pqxx::statement_completion_unknown& error) {
    return FailureOf("40003", error.what());
  } catch (const pqxx::serialization_failure& error) {
    return FailureOf("40001", error.what());
  } catch (const pqxx::deadlock_detected& error) {
    return FailureOf("40P01", error.what());
  } catch (const pqxx::transaction_rollback& error) {
    return FailureOf("40000", error.what());
  } catch (const pqxx::sql_error& error) {
    // The server ends with these: what it was doing may be done.
    const std::string_view message = error.what();
    if (message.starts_with("FATAL:") || message.starts_with("PANIC:")) return FailureOf("", message);
    return FailureOf(StateOf(error), message);
  } catch (const std::exception& error) {
    return FailureOf("", error.what());
  } catch (...) {
    return FailureOf("", "an exception of an unknown type");
  }
}

}  // namespace curator::ledger::postgres
