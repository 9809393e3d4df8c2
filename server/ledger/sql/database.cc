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

absl::Status Transaction::ExecuteLast(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    if (const auto* insertion = std::get_if<Insertion>(&step)) {
      RETURN_IF_ERROR(InsertRows(insertion->table, *insertion->columns, insertion->rows));
      continue;
    }
    const auto& update = std::get<Update>(step);
    const std::string text = absl::StrCat("UPDATE ", std::string(update.table), " SET ", update.set,
                                          " WHERE ", update.where, " RETURNING 1");
    ASSIGN_OR_RETURN(const Answers changed, ExecuteEach(text, update.rows));
    for (const std::vector<Row>& rows : changed) {
      if (rows.size() != 1) return absl::InternalError("an update has not changed one row");
    }
  }
  return absl::OkStatus();
}

std::string LockingRowsOf(const Dialect& dialect, std::string_view alias) {
  if (dialect.for_update_of.empty()) return {};
  return absl::StrCat(std::string(dialect.for_update_of), " ", std::string(alias));
}

}  // namespace curator::ledger::sql
