// A ledger looked at from outside, while no server needs to run: its schema, and whether it contradicts
// itself or its anchor. Nothing is written but by MigrateLedger().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/anchor/anchor_state.h"
#include "ledger/ledger.h"

namespace curator::ledger {

struct SchemaStep {
  int64_t version = 0;
  std::string name;
  std::string script;
};

// The steps that MigrateLedger() would take. Errors as of OpenLedger(); FAILED_PRECONDITION for a schema of
// another program.
absl::StatusOr<std::vector<SchemaStep>> PendingSteps(std::string_view url);

// Brings the schema up to date and returns the steps that were taken.
absl::StatusOr<std::vector<SchemaStep>> MigrateLedger(std::string_view url);

struct InspectedDataset {
  std::string name;
  std::string id;
  Verification verification;
};

struct Inspection {
  std::string ledger_uuid;  // empty: no server has opened this ledger yet
  AnchorState anchored;     // the maximum over all anchor files of this ledger
  std::vector<InspectedDataset> datasets;
  std::vector<std::string> findings;  // that concern no dataset, or one that only the anchor knows

  bool ok() const;
};

// Recounts every history and compares it with the tables and the anchor. Errors: those of OpenLedger(), and
// FAILED_PRECONDITION for a schema that is not up to date. Contradictions are findings, not errors; so is a
// damaged anchor.
absl::StatusOr<Inspection> InspectLedger(std::string_view url, std::string_view anchor_dir);

}  // namespace curator::ledger
