#include "ledger/sql/rights.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"

namespace curator::ledger::sql {
namespace {

absl::StatusOr<std::vector<std::string>> TextsOf(Database& database, std::string_view query) {
  std::vector<std::string> texts;
  const Outcome read = database.Read([&](Transaction& transaction) -> absl::Status {
    texts.clear();
    ASSIGN_OR_RETURN(const std::vector<Row> rows, transaction.Execute(query, {}));
    for (const Row& row : rows) texts.push_back(row.Text(0));
    return absl::OkStatus();
  });
  RETURN_IF_ERROR(read.status);
  return texts;
}

}  // namespace

absl::Status CheckRights(Database& database, const Report& report) {
  const Dialect& dialect = database.dialect();
  if (dialect.missing_rights.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> missing, TextsOf(database, dialect.missing_rights));
  if (!missing.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the role of --ledger lacks rights: ", absl::StrJoin(missing, ", "),
                     ": grant it curator_application, or use another role (OPERATING, PostgreSQL)"));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> excessive, TextsOf(database, dialect.excessive_rights));
  for (const std::string& finding : excessive) {
    Notify(
        report, "role_may_too_much",
        absl::StrCat(finding, ": a server needs no more than curator_application (OPERATING, PostgreSQL)"));
  }
  return absl::OkStatus();
}

}  // namespace curator::ledger::sql
