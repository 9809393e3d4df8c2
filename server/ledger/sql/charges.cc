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
#include "ledger/sql/charge_endings.h"
#include "ledger/sql/datasets.h"
#include "ledger/sql/new_charge.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/sql_ledger.h"
#include "ledger/sql/staged_releases.h"

namespace curator::ledger::sql {
namespace {

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

absl::StatusOr<Attempt> SqlLedger::DecideRepeated(const ChargeRequest& request,
                                                  const ChargeIdentity& identity,
                                                  const StoredCharge& stored) {
  if (stored.charge.state != ChargeState::kStarted) return Resume(stored, request, identity);
  // It takes a new token, which needs its chain's lock but no place in a batch.
  ASSIGN_OR_RETURN(const std::string lane, LaneOf(request.dataset_id));
  NewCharge charge(request, identity);
  RETURN_IF_ERROR(MakeAlone(lane, charge));
  return std::move(charge).TakeAttempt();
}

absl::StatusOr<Attempt> SqlLedger::Decide(const ChargeRequest& request, const ChargeIdentity& identity) {
  const std::string principal = request.principal.name();
  if (repeating_.Contains(principal)) {
    std::vector<StoredCharge> found;
    RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
      ASSIGN_OR_RETURN(found, ReadCharges(transaction, "c.principal = $1 AND c.request_id = $2",
                                          {principal, request.request_id}));
      return absl::OkStatus();
    }));
    if (!found.empty()) {
      repeating_.Add(principal);
      return DecideRepeated(request, identity, found.front());
    }
  }
  NewCharge charge(request, identity);
  const absl::Status made = MakeCombined(charge);
  absl::StatusOr<Attempt> decided;
  if (made.ok()) {
    decided = std::move(charge).TakeAttempt();
  } else {
    decided = made;
  }
  const bool may_be_repeated =
      made.ok() ? !decided->newly_charged : absl::IsAlreadyExists(made) || absl::IsFailedPrecondition(made);
  if (may_be_repeated) repeating_.Add(principal);
  return decided;
}

// A refusal for another cause than a full account is no outcome of a charge.
void SqlLedger::NoteDecided(const ChargeRequest& request, const absl::StatusOr<Attempt>& attempt) {
  if (attempt.ok()) {
    NoteCharge(request.dataset_id, request.kind,
               attempt->newly_charged ? ChargeOutcome::kAdmission : ChargeOutcome::kReplay);
  } else if (!FullAccountsOf(attempt.status()).empty()) {
    NoteCharge(request.dataset_id, request.kind, ChargeOutcome::kRefusal);
  }
}

absl::StatusOr<Attempt> SqlLedger::Begin(const ChargeRequest& request) {
  RETURN_IF_ERROR(CheckChargeRequest(request));
  // On the caller's thread: what a read-only dataset costs delays no batch, which has changes of others.
  if (const absl::Status refusal = damage_.CheckDataset(request.dataset_id); !refusal.ok()) {
    AskForPassIfGrown(refusal);
    return ReplayOnly(request, refusal);
  }
  const ChargeIdentity identity{.id = NewChargeId(), .token = NewUuid(), .deadline_us = 0};
  absl::StatusOr<Attempt> attempt = Decide(request, identity);
  NoteDecided(request, attempt);
  if (IsDatasetReadOnly(attempt.status())) return ReplayOnly(request, attempt.status());
  RETURN_IF_ERROR(attempt.status());
  if (!attempt->charge.release_id.empty()) {
    ASSIGN_OR_RETURN(attempt->release, GetRelease(attempt->charge.release_id));
  }
  return attempt;
}

absl::StatusOr<Release> SqlLedger::Store(const Attempt& attempt, std::string_view payload,
                                         const std::vector<Measure>& measures) {
  const std::string hash = Sha256(payload);
  // What is staged can be swept before its T2. At last the payload is stored without that.
  constexpr int kMostStagings = 2;
  for (int stagings = 0;; ++stagings) {
    bool is_staged = payload.size() > kMostPieceBytes && stagings < kMostStagings;
    if (is_staged) {
      ASSIGN_OR_RETURN(is_staged, Stage(attempt, payload, hash));
    }
    using Payload = StoredRelease::Payload;
    StoredRelease stored(attempt, payload, hash, measures, NewUuid(),
                         is_staged ? Payload::kStaged : Payload::kInRow);
    const absl::Status made = MakeCombined(stored);
    if (stored.is_staging_lost()) continue;
    RETURN_IF_ERROR(made);
    if (stored.is_found()) return GetRelease(stored.found_release_id());
    return std::move(stored).TakeRelease();
  }
}

absl::Status SqlLedger::Forfeit(const Attempt& attempt, std::string_view reason) {
  RETURN_IF_ERROR(CheckText("reason", reason));
  ForfeitedCharge forfeited(attempt, reason);
  RETURN_IF_ERROR(MakeCombined(forfeited));
  NoteCharge(attempt.charge.dataset_id, attempt.charge.kind, ChargeOutcome::kForfeit);
  return absl::OkStatus();
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
