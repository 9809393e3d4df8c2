// Receipts: signed statements that a charge was made, kept by the principal who paid.
//
// A receipt names the entry that made the charge by its number and hash. Its holder can show that a history
// without this entry is not the one that was charged; the hash chain ties the entry to all earlier ones.
// Thread-safe: functions over the ledger.
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

// The receipt of a charge; the same bytes each time. It states single custody at its time, and the facts of
// its version (ledger::DatasetFacts). Errors: NOT_FOUND; DATA_LOSS where it has no entry; the directory's.
absl::StatusOr<Receipt> ReceiptOf(const Access& access, const host::ReceiptSigner& signer,
                                  std::string_view charge_id);

// The same of the charge on `dataset` that `entry` recorded, without reading.
absl::StatusOr<Receipt> ReceiptOf(const Access& access, const host::ReceiptSigner& signer,
                                  const ledger::Dataset& dataset, const ledger::Entry& entry);

// The same of a charge that was made a moment ago, at `entry` and with these postings, in the order in which
// they were asked for.
absl::StatusOr<Receipt> ReceiptOf(const Access& access, const host::ReceiptSigner& signer,
                                  const ledger::Dataset& dataset, const ledger::Charge& charge,
                                  const ledger::EntryPlace& entry,
                                  const std::vector<ledger::Posting>& postings);

// The charge that a receipt of this ledger states. Errors: INVALID_ARGUMENT when this server has not signed
// the receipt, or when it is of another ledger.
absl::StatusOr<ledger::LostCharge> ChargeOfReceipt(ledger::Ledger& ledger, const host::ReceiptSigner& signer,
                                                   const Receipt& receipt);

}  // namespace curator::service
