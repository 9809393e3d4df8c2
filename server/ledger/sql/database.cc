#include "ledger/sql/database.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::ledger::sql {

absl::StatusOr<std::vector<Answers>> Transaction::ExecuteTogether(const std::vector<Statement>& statements) {
  std::vector<Answers> all;
  for (const Statement& statement : statements) {
    ASSIGN_OR_RETURN(Answers answers, ExecuteEach(statement.text, statement.each));
    all.push_back(std::move(answers));
  }
  return all;
}

namespace {

// One row each, for every change.
absl::Status CheckOneRowEach(const absl::StatusOr<Answers>& changed) {
  RETURN_IF_ERROR(changed.status());
  for (const std::vector<Row>& rows : *changed) {
    if (rows.size() != 1) return absl::InternalError("a change has not met one row");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Transaction::ExecuteLast(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    if (const auto* insertion = std::get_if<Insertion>(&step)) {
      RETURN_IF_ERROR(InsertRows(insertion->table, *insertion->columns, insertion->rows));
      continue;
    }
    if (const auto* deletion = std::get_if<Deletion>(&step)) {
      const std::string text = absl::StrCat("DELETE FROM ", std::string(deletion->table), " WHERE ",
                                            std::string(deletion->where), " RETURNING 1");
      RETURN_IF_ERROR(CheckOneRowEach(ExecuteEach(text, deletion->rows)));
      continue;
    }
    const auto& update = std::get<Update>(step);
    const std::string text = absl::StrCat("UPDATE ", std::string(update.table), " SET ", update.set,
                                          " WHERE ", update.where, " RETURNING 1");
    RETURN_IF_ERROR(CheckOneRowEach(ExecuteEach(text, update.rows)));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ReadClock(Transaction& transaction, const Dialect& dialect) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute(absl::StrCat("SELECT ", std::string(dialect.now_us)), {}));
  return rows.at(0).Integer(0);
}

std::string LockingRowsOf(const Dialect& dialect, std::string_view alias) {
  if (dialect.for_update_of.empty()) return {};
  return absl::StrCat(std::string(dialect.for_update_of), " ", std::string(alias));
}

}  // namespace curator::ledger::sql
