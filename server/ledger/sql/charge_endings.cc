#include "ledger/sql/charge_endings.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/charge_steps.h"
#include "ledger/sql/damage.h"
#include "ledger/sql/staged_releases.h"

namespace curator::ledger::sql {
namespace {

absl::Status NotFound() {
  return absl::NotFoundError("there is no such charge");
}

absl::Status TakenOver() {
  return absl::AbortedError("another attempt has taken over this charge: its outcome counts");
}

// OK when `attempt` may end the charge.
absl::Status CheckMayEnd(const StoredCharge& stored, const Attempt& attempt, std::string_view refusal) {
  if (stored.charge.state != ChargeState::kStarted) {
    return absl::FailedPreconditionError(
        absl::StrCat("a ", std::string(StateName(stored.charge.state)), " charge ", std::string(refusal)));
  }
  const bool is_current = !attempt.token.empty() && stored.attempt_token == attempt.token;
  return is_current ? absl::OkStatus() : TakenOver();
}

// What the attempt knows of its charge.
OpenCharge OpenChargeOf(const Attempt& attempt) {
  return {.charge_id = attempt.charge.id, .state = ChargeState::kStarted, .attempt_token = attempt.token};
}

void AddNeedsOf(const Attempt& attempt, Needs& needs) {
  needs.dataset_ids.insert(attempt.charge.dataset_id);
  needs.charge_ids.insert(attempt.charge.id);
}

absl::Status UnknownWithoutLookUp() {
  return absl::AbortedError("what the attempt knows of its charge does not suffice");
}

// Lists the release for its principal, who finds it by its measures, as those do who may read all.
void List(WriteSet& change, const Charge& charge, int64_t number, const std::vector<Measure>& measures) {
  static const std::vector<Column> kReaderColumns = {
      {"dataset_id", ColumnType::kText}, {"reader", ColumnType::kText}, {"number", ColumnType::kInteger}};
  static const std::vector<Column> kMeasureColumns = {{"dataset_id", ColumnType::kText},
                                                      {"reader", ColumnType::kText},
                                                      {"measure", ColumnType::kBytes},
                                                      {"number", ColumnType::kInteger}};
  change.Insert("release_readers", kReaderColumns, {{charge.dataset_id, charge.principal, number}});
  std::vector<Parameters> rows;
  rows.reserve(2 * measures.size());
  for (const Measure& measure : measures) {
    rows.push_back({charge.dataset_id, charge.principal, Bytes{measure}, number});
    rows.push_back({charge.dataset_id, std::string(kAllReleases), Bytes{measure}, number});
  }
  if (!rows.empty()) change.Insert("release_measures", kMeasureColumns, std::move(rows));
}

std::vector<Measure> Distinct(std::vector<Measure> measures) {
  std::ranges::sort(measures);
  const auto repeated = std::ranges::unique(measures);
  measures.erase(repeated.begin(), repeated.end());
  return measures;
}

}  // namespace

// ---- With a release

StoredRelease::StoredRelease(const Attempt& attempt, std::string_view payload, std::string payload_hash,
                             const std::vector<Measure>& measures, std::string release_id, Payload place)
    : attempt_(attempt),
      payload_(payload),
      measures_(Distinct(measures)),
      payload_hash_(std::move(payload_hash)),
      release_id_(std::move(release_id)),
      place_(place) {}

size_t StoredRelease::bytes() const {
  constexpr size_t kBytesOfMeasure = 200;  // two rows
  return (place_ == Payload::kInRow ? payload_.size() : 0) + measures_.size() * kBytesOfMeasure;
}

void StoredRelease::AddNeeds(Needs& needs) const {
  AddNeedsOf(attempt_, needs);
}

absl::Status StoredRelease::Decide(WriteSet& change, const FoundCharges& found) {
  const StoredCharge* const stored = found.ById(attempt_.charge.id);
  if (stored == nullptr) return NotFound();
  found_release_id_ = stored->charge.release_id;
  is_staging_lost_ = false;
  if (is_found()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckMayEnd(*stored, attempt_, "takes no release"));
  if (place_ == Payload::kStaged) RETURN_IF_ERROR(CheckStaged(change));
  if (stored->entry_seq == 0) {
    return DamageAt({.dataset_id = stored->charge.dataset_id}, "a charge does not name its entry");
  }
  Write(change, OpenChargeOf(*stored), stored->entry_seq);
  return absl::OkStatus();
}

absl::Status StoredRelease::DecideOptimistically(WriteSet& change) {
  if (attempt_.token.empty() || attempt_.entry_seq == 0) return UnknownWithoutLookUp();
  RETURN_IF_ERROR(change.FindDataset(dataset_id()).status());
  found_release_id_.clear();
  Write(change, OpenChargeOf(attempt_), attempt_.entry_seq);
  return absl::OkStatus();
}

absl::Status StoredRelease::CheckStaged(WriteSet& change) {
  ASSIGN_OR_RETURN(const bool is_staged, LockStagingPlace(change, StagedPayloadOf(attempt_, payload_hash_)));
  is_staging_lost_ = !is_staged;
  return is_staged ? absl::OkStatus() : absl::AbortedError("the payload is not staged any more");
}

void StoredRelease::Write(WriteSet& change, const OpenCharge& open, int64_t entry_seq) {
  static const std::vector<Column> kColumns = {{"created_at_us", ColumnType::kInteger},
                                               {"dataset_id", ColumnType::kText},
                                               {"id", ColumnType::kText},
                                               {"charge_id", ColumnType::kText},
                                               {"payload", ColumnType::kBytes},
                                               {"payload_hash", ColumnType::kBytes},
                                               {"payload_size", ColumnType::kInteger},
                                               {"number", ColumnType::kInteger},
                                               {"staged_by", ColumnType::kText}};
  const Charge& charge = attempt_.charge;
  number_ = entry_seq;
  created_at_us_ = change.now_us();
  const bool is_staged = place_ == Payload::kStaged;
  change.Insert(
      "releases", kColumns,
      {{created_at_us_, charge.dataset_id, release_id_, charge.id,
        Bytes{std::string(is_staged ? std::string_view() : payload_)}, Bytes{payload_hash_},
        static_cast<int64_t>(payload_.size()), number_, is_staged ? attempt_.token : std::string()}});
  if (is_staged) KeepStaged(change, StagedPayloadOf(attempt_, payload_hash_));
  List(change, charge, number_, measures_);
  EndCharge(change, open, ChargeState::kCommitted, "");
  AppendChange(change, charge, kCommitted, charge.principal,
               {.release_id = release_id_, .payload_hash = payload_hash_});
}

Release StoredRelease::TakeRelease() && {
  const Charge& charge = attempt_.charge;
  return {.id = release_id_,
          .number = number_,
          .charge_id = charge.id,
          .dataset_id = charge.dataset_id,
          .principal = charge.principal,
          .request_id = charge.request_id,
          .kind = charge.kind,
          .label = charge.label,
          .payload = std::string(payload_),
          .payload_hash = payload_hash_,
          .payload_size = static_cast<int64_t>(payload_.size()),
          .created_at_us = created_at_us_};
}

// ---- Without one

void ForfeitedCharge::AddNeeds(Needs& needs) const {
  AddNeedsOf(attempt_, needs);
}

absl::Status ForfeitedCharge::Decide(WriteSet& change, const FoundCharges& found) {
  const StoredCharge* const stored = found.ById(attempt_.charge.id);
  if (stored == nullptr) return NotFound();
  if (stored->charge.state == ChargeState::kForfeited) return absl::OkStatus();
  if (!stored->charge.release_id.empty()) return TakenOver();
  RETURN_IF_ERROR(CheckMayEnd(*stored, attempt_, "cannot be forfeited"));
  RETURN_IF_ERROR(DiscardStaged(change, attempt_.charge.id));
  EndCharge(change, *stored, ChargeState::kForfeited, reason_);
  AppendChange(change, attempt_.charge, kForfeited, attempt_.charge.principal, Because(reason_));
  return absl::OkStatus();
}

absl::Status ForfeitedCharge::DecideOptimistically(WriteSet&) {
  return absl::AbortedError("what was staged for the charge is deleted under its lock");
}

}  // namespace curator::ledger::sql
