// Receipts: signed statements that a charge was made, for whoever paid it to keep.
//
// A receipt names the entry that made the charge by its number and hash. Whoever holds it can show that a
// history which lacks this entry is not the one that was charged; the hash chain ties it to all that came
// before. Thread-safe: pure functions over the ledger.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "host/server_key.h"
#include "ledger/ledger.h"
#include "service/access.h"

namespace curator::service {

struct Receipt {
  std::string statement;  // one JSON object; see Receipt in budget.proto
  std::string signature;  // of exactly these bytes
  std::string public_key;
};

// The same bytes whenever it is asked for. Errors: NOT_FOUND; DATA_LOSS when the charge has no entry.
absl::StatusOr<Receipt> ReceiptOf(ledger::Ledger& ledger, const host::ReceiptSigner& signer,
                                  std::string_view charge_id);

// The charge that a receipt of this ledger tells of. Errors: INVALID_ARGUMENT when this server has not signed
// it, or when it is of another ledger.
absl::StatusOr<ledger::LostCharge> ChargeOfReceipt(ledger::Ledger& ledger, const host::ReceiptSigner& signer,
                                                   const Receipt& receipt);

// After a restored backup: what is spent is raised to what the anchor and receipts know.
//
// Thread-safe.

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
