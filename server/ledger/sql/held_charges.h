// Charges whose cost is held, not spent: reservations and queued draws. How they are made, and each step of
// one, as changes that share a transaction with others.
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
  std::vector<Charge> TakeCharges() { return std::move(charges_); }
  ReserveEffect TakeEffect() { return std::move(effect_); }

 private:
  absl::Status HoldNew(WriteSet& change, const std::vector<size_t>& new_requests);

  const std::vector<ChargeRequest>& requests_;
  const std::vector<std::string> charge_ids_;
  const int64_t lifetime_us_;
  const Check check_known_;
  const size_t bytes_;
  std::vector<Charge> charges_;
  ReserveEffect effect_;
};

// One step of one charge that was held: its start, its commit, its cancellation, its extension.
class ReservationChange final : public CombinedChange {
 public:
  // Refuses, or queues what is to be written and leaves the charge in `stored` as it is then.
  using Step = std::function<absl::Status(WriteSet& change, StoredCharge& stored)>;
  // Whether the charge is overdue at this time by the database's clock.
  using IsOverdue = std::function<bool(const Charge& charge, int64_t now_us)>;
  enum class Reads {
    kNothing,  // the step decides by what it is given
    kMore,     // it reads in the transaction, or has to be decided by the database's own clock
  };

  // `found` is the charge as it was read a moment ago.
  ReservationChange(StoredCharge found, Step step, IsOverdue is_overdue, Reads reads)
      : found_(std::move(found)), step_(std::move(step)), is_overdue_(std::move(is_overdue)), reads_(reads) {}

  const std::string& dataset_id() const override { return found_.charge.dataset_id; }
  size_t bytes() const override;
  std::vector<ChargeKey> keys() const override { return {ChargeKeyOf(found_.charge)}; }
  void AddNeeds(Needs& needs) const override;
  // An expiry is written even if the step is then refused: see verdict().
  absl::Status Decide(WriteSet& change, const FoundCharges& found) override;
  absl::Status DecideOptimistically(WriteSet& change) override;

  // OK, or the refusal of the step after an expiry.
  const absl::Status& verdict() const { return verdict_; }
  // Whether it was overdue, and has ended by that.
  bool has_expired() const { return has_expired_; }
  const std::string& kind() const { return found_.charge.kind; }
  StoredCharge TakeCharge() && { return std::move(stored_); }

 private:
  const StoredCharge found_;
  const Step step_;
  const IsOverdue is_overdue_;
  const Reads reads_;
  StoredCharge stored_;
  absl::Status verdict_;
  bool has_expired_ = false;
};

}  // namespace curator::ledger::sql
