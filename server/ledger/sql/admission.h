// The decision whether a charge fits its accounts, and the rows that make it durable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "ledger/ledger.h"
#include "ledger/sql/write_set.h"

namespace curator::ledger::sql {

// The values that the ledger assigns to a new charge.
struct ChargeIdentity {
  std::string id;
  std::string token;
  int64_t deadline_us = 0;  // 0: the charge starts at once; else it is reserved until then
};

// OK when every posting of `request` fits. Its dataset's chain and its counters are locked. Errors:
//   RESOURCE_EXHAUSTED   names every full account
//   FAILED_PRECONDITION  not sealed, archived, or another version
//   INVALID_ARGUMENT     an account of another dataset, or a private dataset without a posting
//   ABORTED              an account that applies to the principal is missing among the postings, or the
//                        refusal rules are not those that let the request pass
absl::Status CheckAdmission(WriteSet& change, const ChargeRequest& request);

// OK when the dataset of `request`, whose chain is locked, is sealed in the version that the request names
// and all accounts that apply to its principal are among its postings. Errors: those of CheckAdmission().
absl::Status CheckStillAdmissible(WriteSet& change, const ChargeRequest& request);

// The size of a request in bytes. The charge's rows are about twice as large, because its entry repeats most
// of the request.
size_t BytesOf(const ChargeRequest& request);

// A charge's rows without its time and its place in the chain, so that the caller's thread can encode them
// before the batch is decided.
struct EncodedCharge {
  Parameters row;
  Parameters open_row;
  Entry entry;
};
EncodedCharge Encode(const ChargeRequest& request, const ChargeIdentity& identity);

// Queues these admitted charges, which are open, and their entries in `change`. The caller moves the
// counters. Returns the places of the entries.
std::vector<EntryPlace> InsertCharges(WriteSet& change, std::vector<EncodedCharge> charges);

// The charge as GetCharge() returns it once it is inserted.
Charge ChargeOf(const ChargeRequest& request, const ChargeIdentity& identity, int64_t created_at_us);

}  // namespace curator::ledger::sql
