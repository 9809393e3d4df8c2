// Receipts: signed statements that a charge was made, kept by the principal who paid; and the repair of a
// restored ledger with them.
//
// A receipt names the entry that made the charge by its number and hash. Its holder can show that a history
// without this entry is not the one that was charged; the hash chain ties the entry to all earlier ones.
// Thread-safe: functions over the ledger.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "host/server_key.h"
#include "ledger/ledger.h"
#include "service/access.h"

namespace curator::service {

struct Receipt {
  std::string statement;  // one JSON object; see Receipt in budget.proto
  std::string signature;  // of exactly these bytes
  std::string public_key;
};

// The receipt of a charge; the same bytes each time. Errors: NOT_FOUND; DATA_LOSS when the charge has no
// entry.
absl::StatusOr<Receipt> ReceiptOf(ledger::Ledger& ledger, const host::ReceiptSigner& signer,
                                  std::string_view charge_id);

// The same of the charge that `entry` recorded, without reading.
absl::StatusOr<Receipt> ReceiptOf(ledger::Ledger& ledger, const host::ReceiptSigner& signer,
                                  const ledger::Entry& entry);

// The same of a charge that was made a moment ago, at `entry` and with these postings, in the order in which
// they were asked for.
Receipt ReceiptOf(ledger::Ledger& ledger, const host::ReceiptSigner& signer, const ledger::Charge& charge,
                  const ledger::EntryPlace& entry, const std::vector<ledger::Posting>& postings);

// The charge that a receipt of this ledger states. Errors: INVALID_ARGUMENT when this server has not signed
// the receipt, or when it is of another ledger.
absl::StatusOr<ledger::LostCharge> ChargeOfReceipt(ledger::Ledger& ledger, const host::ReceiptSigner& signer,
                                                   const Receipt& receipt);

struct RepairRequest {
  RequestId request_id;
  Principal principal;
  DatasetName dataset;
  std::string reason;
  std::vector<Receipt> receipts;
};

struct RepairView {
  ledger::RepairReport report;
  std::vector<std::string> accounts;  // AccountName() of each entry of report.raised
};

// For the owner, after a backup was restored: raises what is spent to what the anchor and the receipts state.
// Errors: those of Ledger::RaiseToAnchor(); INVALID_ARGUMENT (reason, receipts[i]).
absl::StatusOr<RepairView> RepairLedger(const Access& access, const host::ReceiptSigner& signer,
                                        const RepairRequest& request, Intent intent);

}  // namespace curator::service
