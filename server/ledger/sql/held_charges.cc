#include "ledger/sql/held_charges.h"

#include <numeric>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/admission.h"
#include "ledger/sql/charge_steps.h"

namespace curator::ledger::sql {
namespace {

size_t BytesOfAll(const std::vector<ChargeRequest>& requests) {
  size_t bytes = 0;
  for (const ChargeRequest& request : requests) bytes += BytesOf(request);
  return bytes;
}

void Hold(WriteSet& change, const ChargeRequest& request, int64_t sign) {
  for (const Posting& posting : request.postings) {
    change.AddHeld({posting.account_id, posting.counter}, sign * posting.cost);
  }
}

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

// ---- Made

HeldCharges::HeldCharges(const std::vector<ChargeRequest>& requests, std::vector<std::string> charge_ids,
                         int64_t lifetime_us, Check check_known)
    : requests_(requests),
      charge_ids_(std::move(charge_ids)),
      lifetime_us_(lifetime_us),
      check_known_(std::move(check_known)),
      bytes_(BytesOfAll(requests)) {}

std::vector<ChargeKey> HeldCharges::keys() const {
  std::vector<ChargeKey> keys;
  keys.reserve(requests_.size());
  for (const ChargeRequest& request : requests_) keys.push_back(ChargeKeyOf(request));
  return keys;
}

void HeldCharges::AddNeeds(Needs& needs) const {
  for (const ChargeRequest& request : requests_) {
    needs.dataset_ids.insert(request.dataset_id);
    for (const Posting& posting : request.postings) needs.account_ids.insert(posting.account_id);
    needs.keys.insert(ChargeKeyOf(request));
  }
}

absl::Status HeldCharges::Decide(WriteSet& change, const FoundCharges& found) {
  charges_.assign(requests_.size(), {});
  std::vector<size_t> new_requests;
  for (size_t i = 0; i < requests_.size(); ++i) {
    const ChargeRequest& request = requests_[i];
    const StoredCharge* const stored = found.ByKey(ChargeKeyOf(request));
    if (stored == nullptr) {
      new_requests.push_back(i);
      continue;
    }
    RETURN_IF_ERROR(check_known_(stored->charge, request));
    charges_[i] = stored->charge;
  }
  return HoldNew(change, new_requests);
}

absl::Status HeldCharges::DecideOptimistically(WriteSet& change) {
  charges_.assign(requests_.size(), {});
  std::vector<size_t> all(requests_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return HoldNew(change, all);
}

absl::Status HeldCharges::HoldNew(WriteSet& change, const std::vector<size_t>& new_requests) {
  for (size_t done = 0; done < new_requests.size(); ++done) {
    const ChargeRequest& request = requests_[new_requests[done]];
    const absl::Status fits = CheckAdmission(change, request);
    if (!fits.ok()) {
      for (size_t undone = 0; undone < done; ++undone) Hold(change, requests_[new_requests[undone]], -1);
      return fits;
    }
    Hold(change, request, 1);
  }
  std::vector<EncodedCharge> admitted;
  admitted.reserve(new_requests.size());
  for (const size_t i : new_requests) {
    const ChargeIdentity identity{.id = charge_ids_[i], .deadline_us = change.now_us() + lifetime_us_};
    admitted.push_back(Encode(requests_[i], identity));
    charges_[i] = ChargeOf(requests_[i], identity, change.now_us());
  }
  effect_ = {.entries = std::vector<std::optional<EntryPlace>>(requests_.size()), .moved = {}};
  if (admitted.empty()) return absl::OkStatus();
  std::vector<EntryPlace> entries = InsertCharges(change, std::move(admitted));
  std::set<CounterKey> moved;
  for (size_t i = 0; i < new_requests.size(); ++i) {
    effect_.entries[new_requests[i]] = std::move(entries[i]);
    for (const Posting& posting : requests_[new_requests[i]].postings) {
      moved.emplace(posting.account_id, posting.counter);
    }
  }
  for (const CounterKey& key : moved) {
    effect_.moved.push_back({key.first, change.counter(key)->Balance(key.second)});
  }
  return absl::OkStatus();
}

// ---- One step

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
  has_expired_ = is_overdue_(stored_.charge, change.now_us());
  if (!has_expired_) return step_(change, stored_);
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
  has_expired_ = false;
  return step_(change, stored_);
}

}  // namespace curator::ledger::sql
