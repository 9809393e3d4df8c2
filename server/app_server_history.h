// The subcommands of curatord for the server's own history, of principals, credentials and roles. Each
// returns the exit status of app_ledger.h.
#pragma once

#include <ostream>
#include <string>

#include "app_ledger.h"

namespace curator {

// Prints every entry: its number, time, actor, kind and what it says. It contains no secrets.
int RunServerHistory(const LedgerCommandOptions& options, std::ostream& out, std::ostream& error);

// Continues a history whose newest entries are lost for good (ledger/ledger.h, RepairServerHistory()). Stop
// every server first.
int RunRepairServer(const LedgerCommandOptions& options, const std::string& reason, std::ostream& out,
                    std::ostream& error);

}  // namespace curator
