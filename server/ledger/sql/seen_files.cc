#include "ledger/sql/seen_files.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

constexpr char kHasRow[] =
    "SELECT 1 FROM seen_files WHERE owner = $1 AND file_hash = $2 AND values_hash = $3 LIMIT 1";
constexpr char kInsertRow[] =
    "INSERT INTO seen_files (owner, file_hash, values_hash) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
// Rows of the owner: of files as long as there is place for them, else those without a file.
constexpr char kCountRows[] =
    "SELECT CAST(COUNT(*) AS BIGINT) FROM (SELECT 1 FROM seen_files WHERE owner = $1 LIMIT $2) AS counted";
// A row under which this file may have been seen with other values, or looked at.
constexpr char kOtherValues[] =
    "SELECT 1 FROM seen_files WHERE owner = $1 AND file_hash = $2 AND values_hash <> $3 LIMIT 1";

// The row that stands for the file of an owner with so many rows.
SeenFile RowFor(const SeenFile& seen, int64_t rows) {
  if (rows < kMostSeenFiles) return seen;
  if (rows < kMostSeenFiles + kMostSeenSchemas) return {.file_hash = {}, .values_hash = seen.values_hash};
  return {};
}

absl::Status CheckSeen(const std::vector<SeenFile>& seen) {
  constexpr size_t kMostHashBytes = 64;
  for (const SeenFile& each : seen) {
    RETURN_IF_ERROR(CheckFileHash(each.file_hash));
    if (each.values_hash.size() > kMostHashBytes) return InvalidField("values_hash", "is too long");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status InsertSeen(Transaction& transaction, const std::string& owner,
                        const std::vector<SeenFile>& seen) {
  for (const SeenFile& each : seen) {
    ASSIGN_OR_RETURN(const std::vector<Row> known,
                     transaction.Execute(kHasRow, {owner, Bytes{each.file_hash}, Bytes{each.values_hash}}));
    if (!known.empty()) continue;
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.Execute(kCountRows, {owner, kMostSeenFiles + kMostSeenSchemas}));
    const SeenFile row = RowFor(each, rows.at(0).Integer(0));
    RETURN_IF_ERROR(
        transaction.Execute(kInsertRow, {owner, Bytes{row.file_hash}, Bytes{row.values_hash}}).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> IsLookRemembered(Transaction& transaction, const std::string& owner,
                                      const std::string& file_hash) {
  ASSIGN_OR_RETURN(
      const Answers answers,
      transaction.ExecuteEach(kHasRow, {{owner, Bytes{file_hash}, Bytes{}}, {owner, Bytes{}, Bytes{}}}));
  return std::ranges::any_of(answers, [](const std::vector<Row>& rows) { return !rows.empty(); });
}

absl::Status SqlLedger::RememberSeen(const Principal& owner, const std::vector<SeenFile>& seen) {
  RETURN_IF_ERROR(CheckText("owner", owner.name()));
  RETURN_IF_ERROR(CheckSeen(seen));
  // Of no history, as the use of quotas.
  return WriteInLane(HasOneWriter(database_->dialect()) ? "" : "seen files",
                     [&](WriteSet& change) { return InsertSeen(change.transaction(), owner.name(), seen); });
}

absl::StatusOr<bool> SqlLedger::HasSeen(const Principal& owner, const std::vector<std::string>& file_hashes,
                                        std::string_view values_hash) {
  const std::string values(values_hash);
  if (values.empty()) return InvalidField("values_hash", "is empty");
  if (file_hashes.empty()) return false;
  std::vector<Parameters> keys = {{owner.name(), Bytes{}, Bytes{values}}};
  for (const std::string& hash : file_hashes) keys.push_back({owner.name(), Bytes{hash}, Bytes{values}});
  bool has_seen = false;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const Answers answers, transaction.ExecuteEach(kOtherValues, keys));
    has_seen = std::ranges::any_of(answers, [](const std::vector<Row>& rows) { return !rows.empty(); });
    return absl::OkStatus();
  }));
  return has_seen;
}

}  // namespace curator::ledger::sql
