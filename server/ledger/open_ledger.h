// Opens the ledger that a URL names. Contains the only list of backends.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ledger/history/recount.h"
#include "ledger/ledger.h"
#include "ledger/report.h"
#include "ledger/sql/database.h"

namespace curator::ledger::sql {
class SqlLedger;
}  // namespace curator::ledger::sql

namespace curator::ledger {

struct LedgerOptions {
  // "sqlite:PATH" or "postgresql://USER@HOST:PORT/DATABASE".
  std::string url;
  // The anchor's folder; best on a disk that is not restored together with the database. Empty: PATH.anchor
  // beside the SQLite file; required for PostgreSQL.
  std::string anchor_dir;
  // Returns `bytes` unpredictable bytes, for ids and attempt tokens. Thread-safe.
  std::function<std::string(size_t bytes)> entropy;
  // The text of an amount in findings, which only callers know how to write. Thread-safe.
  AmountText amount_text = IntegerText;
  // For the log. May be empty. Events: the steps of a migration, what verifying found in a dataset, a clock
  // that jumped, a reservation that cannot be expired. Details name datasets and accounts of all owners.
  Report report = {};
  // Null: nobody observes. Must outlive the ledger.
  Observer* observer = nullptr;
  // A folder with records of datasets; empty when there are none. They are evidence that an empty ledger is
  // not the one that belongs to them.
  std::string kept_datasets;
  // Accepts a ledger that has a history and no anchor file: a restored backup of it would go unnoticed.
  bool accept_missing_anchor = false;
  // Accepts a ledger without datasets although there is evidence of another one: anchors, or records.
  bool init = false;
};

// Migrates the schema, verifies every history, and opens the ledger. A lineage that contradicts itself or the
// anchor is read-only: every charge on it is refused with DATA_LOSS, and stored releases remain readable.
// Errors:
//   INVALID_ARGUMENT     unknown scheme, malformed URL, or no anchor folder
//   FAILED_PRECONDITION  a path that cannot be written or lies on a network file system; a PostgreSQL server
//                        that may lose what it has acknowledged; the schema of another program; a ledger
//                        whose anchor is missing, or that is new beside what is left of another one (the
//                        message names the paths, and the flag of curatord that accepts it)
//   UNAVAILABLE          PostgreSQL does not answer, or a file cannot be read or written
//   DATA_LOSS            a damaged anchor
absl::StatusOr<std::unique_ptr<Ledger>> OpenLedger(const LedgerOptions& options);

// The same ledger, with its tables and entries as they are: what it takes and returns as names of principals
// are pseudonyms (pseudonyms/pseudonym.h). For tests of the store.
absl::StatusOr<std::unique_ptr<sql::SqlLedger>> OpenStoredLedger(const LedgerOptions& options);

// The store that `url` names, with its schema as it is; and the folder of its anchor. Errors as of
// OpenLedger().
absl::StatusOr<std::unique_ptr<sql::Database>> OpenLedgerDatabase(std::string_view url);
absl::StatusOr<std::string> AnchorDirOf(std::string_view url, std::string_view anchor_dir);

// The URL without its password and its query, for messages.
std::string UrlWithoutPassword(std::string_view url);

struct LedgerBackend {
  std::string_view name;     // "sqlite"
  std::string_view schemes;  // for messages: "sqlite:PATH"
  std::function<bool(std::string_view url)> accepts;
  std::function<absl::StatusOr<std::unique_ptr<sql::Database>>(std::string_view url)> open;
  // The anchor's folder where none is given; empty when it is required.
  std::function<std::string(std::string_view url)> default_anchor_dir;
};

const std::vector<LedgerBackend>& LedgerBackends();

}  // namespace curator::ledger
