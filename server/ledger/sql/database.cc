#include "ledger/sql/database.h"

#include "absl/strings/str_cat.h"

namespace curator::ledger::sql {

std::string LockingRowsOf(const Dialect& dialect, std::string_view alias) {
  if (dialect.for_update_of.empty()) return {};
  return absl::StrCat(std::string(dialect.for_update_of), " ", std::string(alias));
}

}  // namespace curator::ledger::sql
