// T1 as a change that shares a transaction with others.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ledger/sql/admission.h"
#include "ledger/sql/combined_change.h"
#include "ledger/types.h"

namespace curator::ledger::sql {

// The attempt of a request whose key exists: a COMMITTED charge without its release, which only its id names;
// a STARTED one with its sealed key, under the token of `identity`. Errors: ALREADY_EXISTS (another request),
// FAILED_PRECONDITION (a reservation, or forfeited).
absl::StatusOr<Attempt> Resume(const StoredCharge& stored, const ChargeRequest& request,
                               const ChargeIdentity& identity);

class NewCharge final : public CombinedChange {
 public:
  // `request` outlives it.
  NewCharge(const ChargeRequest& request, ChargeIdentity identity);

  const std::string& dataset_id() const override { return request_.dataset_id; }
  size_t bytes() const override { return bytes_; }
  std::vector<ChargeKey> keys() const override { return {ChargeKeyOf(request_)}; }
  void AddNeeds(Needs& needs) const override;
  absl::Status Decide(WriteSet& change, const FoundCharges& found) override;
  // Assumes that the charge is new and fits: stale values are no reason to refuse it, and the store's unique
  // key refuses a known one.
  absl::Status DecideOptimistically(WriteSet& change) override;

  // What was decided; as Resume() for a charge that exists.
  Attempt TakeAttempt() &&;

 private:
  absl::Status Admit(WriteSet& change);

  const ChargeRequest& request_;
  const ChargeIdentity identity_;
  const size_t bytes_;
  EncodedCharge encoded_;  // until a run writes it; empty: encoded when needed
  Attempt attempt_;
};

}  // namespace curator::ledger::sql
