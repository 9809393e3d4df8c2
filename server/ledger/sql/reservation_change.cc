#include "ledger/sql/reservation_change.h"

#include <utility>

#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/charge_steps.h"

namespace curator::ledger::sql {
namespace {

// An outside mechanism may have published by its deadline, so its cost is spent. A queued draw has read
// nothing, so its cost is freed.
void EndOverdue(WriteSet& change, StoredCharge& stored) {
  Charge& charge = stored.charge;
  const bool is_queued = IsQueuedDraw(charge);
  const ChargeState end = is_queued ? ChargeState::kCancelled : ChargeState::kCommitted;
  FreeHeld(change, charge.postings);
  if (!is_queued) SpendPostings(change, charge.postings);
  EndCharge(change, stored, end, kExpiredReason);
  AppendChange(change, charge, is_queued ? kCancelled : kExpired, charge.principal, Because(kExpiredReason));
  charge.state = end;
  charge.reason = kExpiredReason;
}

}  // namespace

size_t ReservationChange::bytes() const {
  constexpr size_t kBytesOfPosting = 64;
  return 200 + found_.charge.postings.size() * kBytesOfPosting;
}

void ReservationChange::AddNeeds(Needs& needs) const {
  needs.dataset_ids.insert(found_.charge.dataset_id);
  needs.charge_ids.insert(found_.charge.id);
  for (const Posting& posting : found_.charge.postings) needs.account_ids.insert(posting.account_id);
}

absl::Status ReservationChange::Decide(WriteSet& change, const FoundCharges& found) {
  const StoredCharge* const stored = found.ById(found_.charge.id);
  if (stored == nullptr) return absl::NotFoundError("there is no such charge");
  RETURN_IF_ERROR(change.FindDataset(dataset_id()).status());
  stored_ = *stored;
  verdict_ = absl::OkStatus();
  if (!is_overdue_(stored_.charge, change.now_us())) return step_(change, stored_);
  EndOverdue(change, stored_);
  verdict_ = step_(change, stored_);
  return absl::OkStatus();
}

absl::Status ReservationChange::DecideOptimistically(WriteSet& change) {
  if (reads_ == Reads::kMore || is_overdue_(found_.charge, change.now_us())) {
    return absl::AbortedError("it is decided by more than what is cached");
  }
  RETURN_IF_ERROR(change.FindDataset(dataset_id()).status());
  stored_ = found_;
  verdict_ = absl::OkStatus();
  return step_(change, stored_);
}

}  // namespace curator::ledger::sql
