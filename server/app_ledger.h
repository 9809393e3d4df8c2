// How curatord opens its ledger, and the subcommands that maintain one without a running server.
//
// Each subcommand returns the exit status: 0 done and sound, 1 failed, 3 the ledger contradicts itself or its
// anchor, 4 it has a history and no anchor (RunCheckLedger() only).
#pragma once

#include <ostream>
#include <string>

#include "ledger/open_ledger.h"

namespace curator {

struct LedgerCommandOptions {
  std::string ledger;
  std::string anchor_directory;  // empty: below `data_directory`, as for a server
  std::string data_directory;
};

// For ledger::OpenLedger(): of a server, or of a subcommand that changes the ledger of one.
ledger::LedgerOptions OpenOptionsOf(const LedgerCommandOptions& places);

enum class MigrateMode { kApply, kPrint };

// Applies the missing schema steps, or prints their SQL.
int RunMigrate(const std::string& ledger, MigrateMode mode, std::ostream& out, std::ostream& error);

// Recounts every history and compares it with the tables and the anchor.
int RunCheckLedger(const LedgerCommandOptions& options, std::ostream& out, std::ostream& error);

// Prints what a backup must contain, and the head of every history. Keep a copy with the backup, and one
// apart from it.
int RunBackupNote(const LedgerCommandOptions& options, std::ostream& out, std::ostream& error);

}  // namespace curator
