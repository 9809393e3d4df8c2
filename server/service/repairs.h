// After a restored backup: what is spent is raised to what the anchor and receipts know.
//
// Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "host/server_key.h"
#include "ledger/ledger.h"
#include "service/datasets.h"
#include "service/receipts.h"

namespace curator::service {

struct RepairRequest {
  std::string request_id;
  std::string principal;
  std::string dataset;
  std::string reason;
  std::vector<Receipt> receipts;
};

struct RepairView {
  ledger::RepairReport report;
  std::vector<std::string> accounts;  // the name of each of report.raised
};

// For the owner. Errors: those of Ledger::RaiseToAnchor(); INVALID_ARGUMENT (reason, receipts[i]).
absl::StatusOr<RepairView> RepairLedger(ledger::Ledger& ledger, const host::ReceiptSigner& signer,
                                        const RepairRequest& request, Intent intent);

}  // namespace curator::service
