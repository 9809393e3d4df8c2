// The decision whether a charge fits, and the rows that make it durable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "ledger/ledger.h"
#include "ledger/sql/change.h"

namespace curator::ledger::sql {

// What the ledger itself gives to a new charge.
struct ChargeIdentity {
  std::string id;
  std::string token;
  int64_t deadline_us = 0;  // 0: it starts at once; else it is reserved until then
};

// Whether every posting of `request` fits, with its dataset's chain and its counters locked. Errors:
// RESOURCE_EXHAUSTED naming every full account, FAILED_PRECONDITION (not sealed, archived, another version),
// INVALID_ARGUMENT (an account of another dataset, a private dataset without a posting), ABORTED (an account
// that concerns the principal is missing among the postings).
absl::Status CheckAdmission(Change& change, const ChargeRequest& request);

// What of a charge grows with its request, in bytes. Its rows are about twice as large, because its entry
// repeats most of it.
size_t BytesOf(const ChargeRequest& request);

// A charge's rows but for its time and its place in the chain: made before a batch is decided, by whoever
// asks.
struct EncodedCharge {
  Parameters row;
  Entry entry;
};
EncodedCharge Encode(const ChargeRequest& request, const ChargeIdentity& identity);

// Has `change` write these charges, which were found to fit, and their entries. The counters are the caller's
// to move.
void InsertCharges(Change& change, std::vector<EncodedCharge> charges);

// The charge as GetCharge() will show it once it is inserted.
Charge ChargeOf(const ChargeRequest& request, const ChargeIdentity& identity, int64_t created_at_us);

// Moves a charge into its last state and erases the draw's key. Its entry is the caller's to append.
absl::Status EndCharge(Change& change, const Charge& charge, ChargeState state, std::string_view reason);

}  // namespace curator::ledger::sql
