// The rows of the table of pseudonyms.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

// A lane of their own: no charge waits for a principal's first.
constexpr char kPseudonymLane[] = "@pseudonyms";
// Of one statement's runs.
constexpr size_t kMostKeys = 1000;

PseudonymRow PseudonymRowOf(const Row& row) {
  return {.name = row.Text(0), .pseudonym = row.Text(1), .key = row.Blob(2)};
}

absl::StatusOr<std::vector<PseudonymRow>> ReadPseudonyms(Transaction& transaction, std::string_view select,
                                                         const std::vector<std::string>& keys) {
  Statement statement{.text = select, .each = {}, .key_types = {ColumnType::kText}};
  for (const std::string& key : keys) statement.each.push_back({key});
  ASSIGN_OR_RETURN(const std::vector<Answers> answers, transaction.ExecuteTogether({statement}));
  std::vector<PseudonymRow> found;
  for (const std::vector<Row>& rows : answers.at(0)) {
    for (const Row& row : rows) found.push_back(PseudonymRowOf(row));
  }
  return found;
}

constexpr char kByName[] = "SELECT name, pseudonym, key FROM pseudonyms WHERE name = $1";
constexpr char kByPseudonym[] = "SELECT name, pseudonym, key FROM pseudonyms WHERE pseudonym = $1";

}  // namespace

absl::StatusOr<std::vector<PseudonymRow>> SqlLedger::FindPseudonyms(std::string_view select,
                                                                    const std::vector<std::string>& keys) {
  std::vector<PseudonymRow> found;
  for (size_t begin = 0; begin < keys.size(); begin += kMostKeys) {
    const auto first = keys.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<std::string> piece(
        first, first + static_cast<std::ptrdiff_t>(std::min(kMostKeys, keys.size() - begin)));
    std::vector<PseudonymRow> rows;
    RETURN_IF_ERROR(ReadOnce([&](Transaction& transaction) -> absl::Status {
      ASSIGN_OR_RETURN(rows, ReadPseudonyms(transaction, select, piece));
      return absl::OkStatus();
    }));
    found.insert(found.end(), rows.begin(), rows.end());
  }
  return found;
}

absl::StatusOr<std::vector<PseudonymRow>> SqlLedger::FindByName(const std::vector<std::string>& names) {
  return FindPseudonyms(kByName, names);
}

absl::StatusOr<std::vector<PseudonymRow>> SqlLedger::FindByPseudonym(
    const std::vector<std::string>& pseudonyms) {
  return FindPseudonyms(kByPseudonym, pseudonyms);
}

absl::StatusOr<PseudonymRow> SqlLedger::AddPseudonym(const PseudonymRow& row) {
  std::vector<PseudonymRow> stored;
  RETURN_IF_ERROR(WriteInLane(kPseudonymLane, [&](WriteSet& change) -> absl::Status {
    Transaction& transaction = change.transaction();
    RETURN_IF_ERROR(CheckSchemaIs(transaction, schema_));
    RETURN_IF_ERROR(transaction
                        .Execute("INSERT INTO pseudonyms (name, pseudonym, key) VALUES ($1, $2, $3) "
                                 "ON CONFLICT (name) DO NOTHING",
                                 {row.name, row.pseudonym, Bytes{row.key}})
                        .status());
    ASSIGN_OR_RETURN(stored, ReadPseudonyms(transaction, kByName, {row.name}));
    return absl::OkStatus();
  }));
  if (stored.empty()) return absl::AbortedError("the name is being forgotten: ask again");
  return stored.front();
}

absl::Status SqlLedger::DeletePseudonym(std::string_view pseudonym) {
  RETURN_IF_ERROR(WriteInLane(kPseudonymLane, [&](WriteSet& change) -> absl::Status {
    Transaction& transaction = change.transaction();
    RETURN_IF_ERROR(CheckSchemaIs(transaction, schema_));
    return transaction.Execute("DELETE FROM pseudonyms WHERE pseudonym = $1", {std::string(pseudonym)})
        .status();
  }));
  return database_->DropRemains();
}

}  // namespace curator::ledger::sql
