// Steps that the changes of one charge have in common.
//
// Belongs to one transaction and one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/rows.h"
#include "ledger/sql/write_set.h"

namespace curator::ledger::sql {

// OK for 1 microsecond to 366 days; else INVALID_ARGUMENT ("lifetime").
absl::Status CheckReservationLifetime(int64_t lifetime_us);

// FAILED_PRECONDITION: "a charge that is COMMITTED (EXPIRED) cannot be " `action`.
absl::Status WrongState(const Charge& charge, std::string_view action);

// A change with this reason and nothing else.
ChargeChanged Because(std::string_view reason);

// The start of a reservation at this cost, in the order of the names of its accounts, whose counters are
// locked: stored postings are in the order of ids, which is random.
ChargeChanged StartedAt(const WriteSet& change, std::vector<Posting> postings, std::string_view reason = "");

// What the row of an open charge says. A change of it fails where it says otherwise.
struct OpenCharge {
  std::string charge_id;
  ChargeState state = ChargeState::kStarted;
  std::string attempt_token;
  int64_t deadline_us = 0;          // of a RESERVED charge; else 0
  std::string other_postings = {};  // as in StoredCharge
};
OpenCharge OpenChargeOf(const StoredCharge& stored);

// Queues the end of an open charge: its row is deleted, and the draw's key with it. The caller appends the
// entry.
void EndCharge(WriteSet& change, const OpenCharge& charge, ChargeState state, std::string_view reason);
void EndCharge(WriteSet& change, const StoredCharge& stored, ChargeState state, std::string_view reason);

// Queues a change of the open row of `stored` to what `changed` says: its state, token, key, deadline and
// other postings.
void ChangeOpenCharge(WriteSet& change, const StoredCharge& stored, const StoredCharge& changed);

// Queues the entry of a change of `charge`.
void AppendChange(WriteSet& change, const Charge& charge, const char* kind, std::string_view actor,
                  const ChargeChanged& document);

// Move locked counters by all of `postings`.
void FreeHeld(WriteSet& change, const std::vector<Posting>& postings);
void SpendPostings(WriteSet& change, const std::vector<Posting>& postings);

}  // namespace curator::ledger::sql
