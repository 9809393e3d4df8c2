// Whether the role of a server's connections may do what a server does, and no more.
//
// Thread-safe: pure functions.
#pragma once

#include "absl/status/status.h"
#include "ledger/report.h"
#include "ledger/sql/database.h"

namespace curator::ledger::sql {

// FAILED_PRECONDITION when the role may too little; the message lists what it lacks. Reports the event
// `role_may_too_much` for one that could change the history. The schema is this program's.
absl::Status CheckRights(Database& database, const Report& report);

}  // namespace curator::ledger::sql
