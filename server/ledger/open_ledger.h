// Opens the ledger that a URL names. The only list of backends.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ledger/ledger.h"
#include "ledger/sql/database.h"

namespace curator::ledger {

struct LedgerOptions {
  // "sqlite:PATH" or "postgresql://USER@HOST:PORT/DATABASE".
  std::string url;
  // The anchor's folder; best on a disk that is not restored together with the database. Empty: beside the
  // SQLite file, as PATH.anchor; PostgreSQL has no beside.
  std::string anchor_dir;
  // As many unpredictable bytes as asked for: ids and attempt tokens are made of them. Thread-safe.
  std::function<std::string(size_t bytes)> entropy;
};

// Brings the schema up to date, compares every history with the anchor, and opens. A ledger that contradicts
// its anchor opens read-only: every charge is refused with DATA_LOSS, and stored releases can still be read.
// Errors: INVALID_ARGUMENT (unknown scheme, malformed URL, no anchor folder), FAILED_PRECONDITION (a path
// that cannot be written or lies on a network file system, a PostgreSQL that does not keep what it
// acknowledges, a schema of another program), UNAVAILABLE (PostgreSQL does not answer), DATA_LOSS (a damaged
// anchor).
absl::StatusOr<std::unique_ptr<Ledger>> OpenLedger(const LedgerOptions& options);

// The parts of OpenLedger(): the store that `url` names, with whatever schema it has; and the folder of its
// anchor.
absl::StatusOr<std::unique_ptr<sql::Database>> OpenLedgerDatabase(std::string_view url);
absl::StatusOr<std::string> AnchorDirOf(std::string_view url, std::string_view anchor_dir);

struct LedgerBackend {
  std::string_view name;     // "sqlite"
  std::string_view schemes;  // for messages: "sqlite:PATH"
  std::function<bool(std::string_view url)> accepts;
  std::function<absl::StatusOr<std::unique_ptr<sql::Database>>(std::string_view url)> open;
  // Where the anchor is kept unless said; empty when there is no such place.
  std::function<std::string(std::string_view url)> default_anchor_dir;
};

const std::vector<LedgerBackend>& LedgerBackends();

}  // namespace curator::ledger
