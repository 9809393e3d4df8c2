// One step of one charge that was held: its start, its commit, its cancellation, its extension, as a change
// that shares a transaction with others.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ledger/sql/combined_change.h"
#include "ledger/types.h"

namespace curator::ledger::sql {

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
  StoredCharge TakeCharge() && { return std::move(stored_); }

 private:
  const StoredCharge found_;
  const Step step_;
  const IsOverdue is_overdue_;
  const Reads reads_;
  StoredCharge stored_;
  absl::Status verdict_;
};

}  // namespace curator::ledger::sql
