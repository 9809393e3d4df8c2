// Inspects and migrates a ledger without a server: its schema, and whether it contradicts itself or its
// anchor. Only MigrateLedger() writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/anchor/anchor_state.h"
#include "ledger/history/recount.h"
#include "ledger/ledger.h"
#include "ledger/report.h"

namespace curator::ledger {

struct SchemaStep {
  int64_t version = 0;
  std::string name;
  std::string script;
};

// The steps that MigrateLedger() would take, in order. Errors as of OpenLedger().
absl::StatusOr<std::vector<SchemaStep>> PendingSteps(std::string_view url);

// Migrates the schema, recounts every history if there was something to migrate, and returns the steps that
// were taken. Errors as of OpenLedger(); DATA_LOSS when a history contradicts the tables, which is known only
// after the steps were taken.
absl::StatusOr<std::vector<SchemaStep>> MigrateLedger(std::string_view url, const Report& report = {});

struct InspectedDataset {
  std::string name;
  std::string id;
  Verification verification;
};

struct Inspection {
  std::string ledger_uuid;  // empty until a server has opened this ledger
  AnchorState anchored;     // the maximum over all anchor files of this ledger
  std::vector<InspectedDataset> datasets;
  Verification server_history;
  // About the whole ledger, the table of pseudonyms, or datasets that only the anchor has.
  std::vector<std::string> findings;

  bool ok() const;
};

// Recounts every history and compares it with the tables and the anchor. Errors: those of OpenLedger(), and
// FAILED_PRECONDITION for a schema that is not up to date. Contradictions are findings, not errors; so is a
// damaged anchor.
absl::StatusOr<Inspection> InspectLedger(std::string_view url, std::string_view anchor_dir,
                                         const AmountText& amount_text = IntegerText);

}  // namespace curator::ledger
