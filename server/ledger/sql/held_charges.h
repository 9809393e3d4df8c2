// Charges whose cost is held, not spent: reservations and queued draws, as one change that shares a
// transaction with others.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ledger/sql/combined_change.h"
#include "ledger/types.h"

namespace curator::ledger::sql {

class HeldCharges final : public CombinedChange {
 public:
  // Whether the charge that exists under the key of a request stands for it.
  using Check = std::function<absl::Status(const Charge& charge, const ChargeRequest& request)>;

  // requests[i] gets charge_ids[i], and is held for `lifetime_us`. `requests` outlive it.
  HeldCharges(const std::vector<ChargeRequest>& requests, std::vector<std::string> charge_ids,
              int64_t lifetime_us, Check check_known);

  // Of the first request: the others may name other datasets where the change is made alone.
  const std::string& dataset_id() const override { return requests_.front().dataset_id; }
  size_t bytes() const override { return bytes_; }
  std::vector<ChargeKey> keys() const override;
  void AddNeeds(Needs& needs) const override;
  // All that are new, or none.
  absl::Status Decide(WriteSet& change, const FoundCharges& found) override;
  absl::Status DecideOptimistically(WriteSet& change) override;

  // In the order of the requests; those that existed as they were found.
  std::vector<Charge> TakeCharges() && { return std::move(charges_); }

 private:
  absl::Status HoldNew(WriteSet& change, const std::vector<size_t>& new_requests);

  const std::vector<ChargeRequest>& requests_;
  const std::vector<std::string> charge_ids_;
  const int64_t lifetime_us_;
  const Check check_known_;
  const size_t bytes_;
  std::vector<Charge> charges_;
};

}  // namespace curator::ledger::sql
