// T1 and T2: the charge before the draw, the release after it; and who may read a release.
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/admission.h"
#include "ledger/sql/charge_steps.h"
#include "ledger/sql/datasets.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

absl::Status TakenOver() {
  return absl::AbortedError("another attempt has taken over this charge: its outcome counts");
}

absl::Status CheckToken(const StoredCharge& stored, const Attempt& attempt) {
  const bool is_current = !attempt.token.empty() && stored.attempt_token == attempt.token;
  return is_current ? absl::OkStatus() : TakenOver();
}

// Each share adds rows for good and is free, so a release has a bounded number of them.
absl::Status CheckSharedWithFew(Transaction& transaction, const std::string& release_id) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute("SELECT 1 FROM release_shares WHERE release_id = $1 LIMIT $2",
                                       {release_id, kMostShares + 1}));
  if (static_cast<int64_t>(rows.size()) <= kMostShares) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("this release is shared with ", kMostShares,
                                                    " principals, which is the most for one release"));
}

// Lists the release for `reader`, and lets that reader find it by its measures.
absl::Status ListFor(Transaction& transaction, std::string_view reader, const std::string& dataset_id,
                     int64_t number, const std::vector<Measure>& measures) {
  RETURN_IF_ERROR(transaction
                      .Execute("INSERT INTO release_readers (dataset_id, reader, number) VALUES ($1, $2, $3) "
                               "ON CONFLICT (dataset_id, reader, number) DO NOTHING",
                               {dataset_id, std::string(reader), number})
                      .status());
  std::vector<Parameters> rows;
  for (const Measure& measure : measures) {
    rows.push_back({dataset_id, std::string(reader), Bytes{measure}, number});
  }
  if (rows.empty()) return absl::OkStatus();
  return transaction
      .ExecuteEach(
          "INSERT INTO release_measures (dataset_id, reader, measure, number) VALUES ($1, $2, $3, "
          "$4) ON CONFLICT (dataset_id, reader, measure, number) DO NOTHING",
          rows)
      .status();
}

}  // namespace

ChargeCombiner::BatchResult SqlLedger::ChargeTogether(std::vector<ProposedCharge>& proposed) {
  if (auto result = ChargeOptimistically(proposed); result.has_value()) return *std::move(result);
  return ChargeUnderLocks(proposed);
}

ChargeCombiner::BatchResult SqlLedger::ChargeUnderLocks(const std::vector<ProposedCharge>& proposed) {
  ChargeCombiner::Results results;
  absl::StatusOr<int64_t> point = WriteToStore([&](WriteSet& change) -> absl::Status {
    ASSIGN_OR_RETURN(results, DecideBatch(change, proposed));
    return absl::OkStatus();
  });
  return {std::move(results), std::move(point)};
}

std::optional<ChargeCombiner::BatchResult> SqlLedger::ChargeOptimistically(
    std::vector<ProposedCharge>& proposed) {
  const LockSet locks = LocksFor(proposed);
  const std::optional<CachedHeads> cached = head_cache_.Find(locks.dataset_ids, locks.account_ids);
  if (!cached.has_value() || !CheckWritable().ok() || !anchor_->Refresh().ok()) return std::nullopt;
  for (const auto& [id, dataset] : cached->datasets) {
    const DamageSite site{.dataset_id = id, .dataset_name = dataset.name, .lineage_id = dataset.lineage_id};
    if (!damage_.CheckLineage(site).ok()) return std::nullopt;
  }
  ChargeCombiner::Results results;
  std::unique_ptr<WriteSet> change;
  const Outcome outcome = database_->Write([&](Transaction& transaction) -> absl::Status {
    change = std::make_unique<WriteSet>(transaction, database_->dialect(), *anchor_, schema_, &damage_);
    RETURN_IF_ERROR(change->StartFromCache(*cached));
    ASSIGN_OR_RETURN(results, DecideOptimistically(*change, proposed));
    return change->Flush();
  });
  if (outcome.ending == Ending::kDone) {
    head_cache_.RecordHit(locks.dataset_ids);
    return ChargeCombiner::BatchResult{std::move(results), NoteCommitted(*change)};
  }
  // A batch that was refused before anything was sent has cost no round trip. A conflict is about a key that
  // was charged before, and says nothing about heads: under locks that charge is found, and the others are
  // made.
  const bool is_miss = outcome.ending != Ending::kRefused && outcome.ending != Ending::kConflict;
  if (is_miss) head_cache_.RecordMiss(locks.dataset_ids);
  const bool cannot_write = outcome.ending == Ending::kFailed && absl::IsUnavailable(outcome.status);
  if (!cannot_write) return std::nullopt;
  return ChargeCombiner::BatchResult{{}, outcome.status};
}

absl::StatusOr<Attempt> SqlLedger::DecideRepeated(const ProposedCharge& proposed, StoredCharge stored) {
  if (stored.charge.state != ChargeState::kStarted) return Resume(std::move(stored), proposed);
  // It takes a new token, which needs its chain's lock but no place in a batch.
  ASSIGN_OR_RETURN(const std::string lane, LaneOf(proposed.request->dataset_id));
  ChargeCombiner::BatchResult alone;
  {
    ASSIGN_OR_RETURN(const WriterPlaces::Place place, EnterLane(lane));
    alone = ChargeUnderLocks({proposed});
  }
  RETURN_IF_ERROR(alone.anchor_point.status());
  RETURN_IF_ERROR(anchor_->MakeDurable(*alone.anchor_point));
  return std::move(alone.results.front());
}

absl::StatusOr<Attempt> SqlLedger::Decide(ProposedCharge proposed) {
  const std::string principal = proposed.request->principal.name();
  if (repeating_.Contains(principal)) {
    std::vector<StoredCharge> found;
    RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
      ASSIGN_OR_RETURN(found, ReadCharges(transaction, "c.principal = $1 AND c.request_id = $2",
                                          {principal, proposed.request->request_id}));
      return absl::OkStatus();
    }));
    if (!found.empty()) {
      repeating_.Add(principal);
      return DecideRepeated(proposed, std::move(found.front()));
    }
  }
  ASSIGN_OR_RETURN(const std::string lane, LaneOf(proposed.request->dataset_id));
  absl::StatusOr<Attempt> decided = combiner_.Charge(lane, std::move(proposed));
  const bool may_be_repeated =
      decided.ok() ? !decided->newly_charged
                   : absl::IsAlreadyExists(decided.status()) || absl::IsFailedPrecondition(decided.status());
  if (may_be_repeated) repeating_.Add(principal);
  return decided;
}

absl::StatusOr<Attempt> SqlLedger::Begin(const ChargeRequest& request) {
  RETURN_IF_ERROR(CheckChargeRequest(request));
  // On the caller's thread: what a read-only dataset costs delays no batch, which has charges of others.
  if (const absl::Status refusal = damage_.CheckDataset(request.dataset_id); !refusal.ok()) {
    AskForPassIfGrown(refusal);
    return ReplayOnly(request, refusal);
  }
  const ChargeIdentity identity{.id = NewChargeId(), .token = NewUuid(), .deadline_us = 0};
  absl::StatusOr<Attempt> decided =
      Decide({.request = &request, .identity = identity, .encoded = Encode(request, identity)});
  if (IsDatasetReadOnly(decided.status())) return ReplayOnly(request, decided.status());
  RETURN_IF_ERROR(decided.status());
  Attempt attempt = CompleteNewAttempt(*std::move(decided), request, identity);
  if (!attempt.charge.release_id.empty()) {
    ASSIGN_OR_RETURN(attempt.release, GetRelease(attempt.charge.release_id));
  }
  return attempt;
}

absl::StatusOr<Release> SqlLedger::Store(const Attempt& attempt, std::string_view payload,
                                         const std::vector<Measure>& measures) {
  const std::string new_id = NewUuid();
  const std::string payload_hash = Sha256(payload);
  std::string release_id;
  RETURN_IF_ERROR(Write(attempt.charge.dataset_id, [&](WriteSet& change) -> absl::Status {
    change.MarkChargesOnly();
    RETURN_IF_ERROR(change.LockChains({attempt.charge.dataset_id}));
    ASSIGN_OR_RETURN(const StoredCharge stored, ReadCharge(change.transaction(), attempt.charge.id));
    release_id = stored.charge.release_id;
    if (!release_id.empty()) return absl::OkStatus();
    if (stored.charge.state != ChargeState::kStarted) {
      return absl::FailedPreconditionError(
          absl::StrCat("a ", std::string(StateName(stored.charge.state)), " charge takes no release"));
    }
    RETURN_IF_ERROR(CheckToken(stored, attempt));
    if (stored.entry_seq == 0) {
      return DamageAt({.dataset_id = stored.charge.dataset_id}, "a charge does not name its entry");
    }
    release_id = new_id;
    const std::string& charge_id = stored.charge.id;
    RETURN_IF_ERROR(
        change.transaction()
            .Execute("INSERT INTO releases (id, charge_id, dataset_id, payload, payload_hash, "
                     "payload_size, created_at_us, number) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                     {release_id, charge_id, stored.charge.dataset_id, Bytes{std::string(payload)},
                      Bytes{payload_hash}, static_cast<int64_t>(payload.size()), change.now_us(),
                      stored.entry_seq})
            .status());
    RETURN_IF_ERROR(ListFor(change.transaction(), stored.charge.principal, stored.charge.dataset_id,
                            stored.entry_seq, measures));
    EndCharge(change, stored, ChargeState::kCommitted, "");
    change.Append(
        {.dataset_id = stored.charge.dataset_id,
         .kind = kCommitted,
         .charge_id = charge_id,
         .payload = EncodePayload(ChargeChanged{.release_id = release_id, .payload_hash = payload_hash}),
         .actor = stored.charge.principal});
    return absl::OkStatus();
  }));
  // The answer is what was read back from the store.
  return GetRelease(release_id);
}

absl::Status SqlLedger::Forfeit(const Attempt& attempt, std::string_view reason) {
  RETURN_IF_ERROR(CheckText("reason", reason));
  return Write(attempt.charge.dataset_id, [&](WriteSet& change) -> absl::Status {
    change.MarkChargesOnly();
    RETURN_IF_ERROR(change.LockChains({attempt.charge.dataset_id}));
    ASSIGN_OR_RETURN(const StoredCharge stored, ReadCharge(change.transaction(), attempt.charge.id));
    if (stored.charge.state == ChargeState::kForfeited) return absl::OkStatus();
    if (!stored.charge.release_id.empty()) return TakenOver();
    if (stored.charge.state != ChargeState::kStarted) {
      return absl::FailedPreconditionError(
          absl::StrCat("a ", std::string(StateName(stored.charge.state)), " charge cannot be forfeited"));
    }
    RETURN_IF_ERROR(CheckToken(stored, attempt));
    EndCharge(change, stored, ChargeState::kForfeited, reason);
    change.Append({.dataset_id = stored.charge.dataset_id,
                   .kind = kForfeited,
                   .charge_id = stored.charge.id,
                   .payload = EncodePayload(ChargeChanged{.reason = std::string(reason), .deadline_us = 0}),
                   .actor = stored.charge.principal});
    return absl::OkStatus();
  });
}

absl::Status SqlLedger::ShareRelease(std::string_view release_id, std::string_view grantee,
                                     const std::vector<Measure>& measures, const Principal& actor) {
  RETURN_IF_ERROR(CheckText("grantee", grantee));
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  ASSIGN_OR_RETURN(const Release release, GetRelease(release_id));
  return Write(release.dataset_id, [&](WriteSet& change) -> absl::Status {
    RETURN_IF_ERROR(change.LockChains({release.dataset_id}));
    ASSIGN_OR_RETURN(const std::vector<Row> shared,
                     change.transaction().Execute(
                         "INSERT INTO release_shares (release_id, grantee, shared_by, shared_at_us) VALUES "
                         "($1, $2, $3, $4) "
                         "ON CONFLICT (release_id, grantee) DO NOTHING RETURNING grantee",
                         {release.id, std::string(grantee), actor.name(), change.now_us()}));
    if (!shared.empty()) {
      RETURN_IF_ERROR(CheckSharedWithFew(change.transaction(), release.id));
      RETURN_IF_ERROR(ListFor(change.transaction(), grantee, release.dataset_id, release.number, measures));
      AppendNote(change, release.dataset_id, kReleaseShared,
                 absl::StrCat(release.id, " ", std::string(grantee)), actor.name());
    }
    return absl::OkStatus();
  });
}

}  // namespace curator::ledger::sql
