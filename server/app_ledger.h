// The subcommands of curatord that look after the ledger while no server needs to run.
//
// Each returns the exit status: 0 done and sound, 1 could not be done, 3 the ledger contradicts itself or its
// anchor.
#pragma once

#include <ostream>
#include <string>

namespace curator {

struct LedgerCommandOptions {
  std::string ledger;
  std::string anchor_directory;  // empty: below `data_directory`, as for a server
  std::string data_directory;
};

enum class MigrateMode { kApply, kPrint };

// Applies the schema steps that are missing, or prints their SQL for whoever applies it.
int RunMigrate(const std::string& ledger, MigrateMode mode, std::ostream& out, std::ostream& error);

// Recounts every history and compares it with the tables and the anchor.
int RunCheckLedger(const LedgerCommandOptions& options, std::ostream& out, std::ostream& error);

// Says what a backup must hold, and how far every history has come: to be kept with the backup and apart from
// it.
int RunBackupNote(const LedgerCommandOptions& options, std::ostream& out, std::ostream& error);

}  // namespace curator
