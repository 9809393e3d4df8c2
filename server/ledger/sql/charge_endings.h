// T2: the end of a draw, with a release or without one, as a change that shares a transaction with others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ledger/sql/charge_steps.h"
#include "ledger/sql/combined_change.h"
#include "ledger/types.h"

namespace curator::ledger::sql {

// Stores the release of an attempt.
class StoredRelease final : public CombinedChange {
 public:
  // Where the payload is: in the change itself, or written before (staged_releases.h).
  enum class Payload { kInRow, kStaged };

  // All arguments outlive it. `payload_hash` is that of `payload`.
  StoredRelease(const Attempt& attempt, std::string_view payload, std::string payload_hash,
                const std::vector<Measure>& measures, std::string release_id, Payload place);

  const std::string& dataset_id() const override { return attempt_.charge.dataset_id; }
  size_t bytes() const override;
  std::vector<ChargeKey> keys() const override { return {ChargeKeyOf(attempt_.charge)}; }
  void AddNeeds(Needs& needs) const override;
  absl::Status Decide(WriteSet& change, const FoundCharges& found) override;
  absl::Status DecideOptimistically(WriteSet& change) override;

  // Whether the charge had its release before: that of ReleaseId() is to be read.
  bool is_found() const { return !found_release_id_.empty(); }
  const std::string& found_release_id() const { return found_release_id_; }
  // Whether it was refused (ABORTED) because its staged payload is gone: swept, or replaced by another call
  // of the same attempt.
  bool is_staging_lost() const { return is_staging_lost_; }
  // The release that was stored, unless it was found.
  Release TakeRelease() &&;

 private:
  absl::Status CheckStaged(WriteSet& change);
  void Write(WriteSet& change, const OpenCharge& open, int64_t entry_seq);

  const Attempt& attempt_;
  const std::string_view payload_;
  const std::vector<Measure> measures_;  // each once
  const std::string payload_hash_;
  const std::string release_id_;
  const Payload place_;
  std::string found_release_id_;
  bool is_staging_lost_ = false;
  int64_t number_ = 0;
  int64_t created_at_us_ = 0;
};

// Ends an attempt without a release.
class ForfeitedCharge final : public CombinedChange {
 public:
  // All arguments outlive it.
  ForfeitedCharge(const Attempt& attempt, std::string_view reason) : attempt_(attempt), reason_(reason) {}

  const std::string& dataset_id() const override { return attempt_.charge.dataset_id; }
  size_t bytes() const override { return reason_.size(); }
  std::vector<ChargeKey> keys() const override { return {ChargeKeyOf(attempt_.charge)}; }
  void AddNeeds(Needs& needs) const override;
  absl::Status Decide(WriteSet& change, const FoundCharges& found) override;
  absl::Status DecideOptimistically(WriteSet& change) override;

 private:
  const Attempt& attempt_;
  const std::string_view reason_;
};

}  // namespace curator::ledger::sql
