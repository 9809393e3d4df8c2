#include "ledger/sql/staged_releases.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

Parameters KeyOf(const StagedPayload& staged) {
  return {staged.charge_id, staged.attempt_token};
}

Parameters KeyAndHashOf(const StagedPayload& staged) {
  return {staged.charge_id, staged.attempt_token, Bytes{staged.payload_hash}};
}

absl::Status DeletePieces(WriteSet& change, const StagedPayload& staged) {
  return change.transaction()
      .Execute("DELETE FROM release_pieces WHERE charge_id = $1 AND attempt_token = $2", KeyOf(staged))
      .status();
}

// Makes its row, or one of the same attempt, that of `staged`: locked, and touched now. False without a row.
absl::StatusOr<bool> RenewStagingPlace(WriteSet& change, const StagedPayload& staged) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   change.transaction().Execute("SELECT payload_hash FROM staged_releases "
                                                "WHERE charge_id = $1 AND attempt_token = $2",
                                                KeyOf(staged)));
  if (rows.empty()) return false;
  ASSIGN_OR_RETURN(const std::vector<Row> renewed,
                   change.transaction().Execute(
                       absl::StrCat("UPDATE staged_releases SET payload_hash = $3, touched_at_us = ",
                                    std::string(change.dialect().now_us),
                                    " WHERE charge_id = $1 AND attempt_token = $2 RETURNING place"),
                       KeyAndHashOf(staged)));
  if (renewed.empty()) return false;
  if (rows.front().Blob(0) != staged.payload_hash) RETURN_IF_ERROR(DeletePieces(change, staged));
  return true;
}

}  // namespace

StagedPayload StagedPayloadOf(const Attempt& attempt, std::string_view payload_hash) {
  return {.charge_id = attempt.charge.id,
          .attempt_token = attempt.token,
          .payload_hash = std::string(payload_hash)};
}

absl::StatusOr<StagingPlace> TakeStagingPlace(WriteSet& change, const StagedPayload& staged,
                                              const std::string& principal) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> open,
      change.transaction().Execute(
          "SELECT state FROM open_charges WHERE charge_id = $1 AND attempt_token = $2", KeyOf(staged)));
  if (open.empty()) return StagingPlace::kStaleAttempt;
  ASSIGN_OR_RETURN(const bool has_place, RenewStagingPlace(change, staged));
  if (has_place) return StagingPlace::kTaken;
  ASSIGN_OR_RETURN(const std::vector<Row> taken,
                   change.transaction().Execute(
                       "SELECT place FROM staged_releases WHERE principal = $1 ORDER BY place", {principal}));
  int64_t place = 0;
  for (const Row& row : taken) place += row.Integer(0) == place ? 1 : 0;
  if (place >= kStagingPlaces) return StagingPlace::kNoneFree;
  // Two that choose the same place conflict, and the one that loses chooses again.
  RETURN_IF_ERROR(
      change.transaction()
          .Execute(absl::StrCat("INSERT INTO staged_releases (charge_id, attempt_token, payload_hash, "
                                "principal, place, touched_at_us) VALUES ($1, $2, $3, $4, $5, ",
                                std::string(change.dialect().now_us), ")"),
                   {staged.charge_id, staged.attempt_token, Bytes{staged.payload_hash}, principal, place})
          .status());
  return StagingPlace::kTaken;
}

absl::StatusOr<bool> StagePiece(WriteSet& change, const StagedPayload& staged, int64_t position,
                                std::string_view piece) {
  // Who deletes the place waits for this transaction, and deletes its piece, too.
  ASSIGN_OR_RETURN(
      const std::vector<Row> touched,
      change.transaction().Execute(
          absl::StrCat("UPDATE staged_releases SET touched_at_us = ", std::string(change.dialect().now_us),
                       " WHERE charge_id = $1 AND attempt_token = $2 AND payload_hash = $3 "
                       "RETURNING place"),
          KeyAndHashOf(staged)));
  if (touched.empty()) return false;
  RETURN_IF_ERROR(
      change.transaction()
          .Execute("INSERT INTO release_pieces (charge_id, attempt_token, position, piece) VALUES ($1, $2, "
                   "$3, $4) ON CONFLICT (charge_id, attempt_token, position) DO NOTHING",
                   {staged.charge_id, staged.attempt_token, position, Bytes{std::string(piece)}})
          .status());
  return true;
}

absl::StatusOr<bool> LockStagingPlace(WriteSet& change, const StagedPayload& staged) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   change.transaction().Execute(
                       absl::StrCat("SELECT s.place FROM staged_releases s WHERE s.charge_id = $1 AND "
                                    "s.attempt_token = $2 AND s.payload_hash = $3",
                                    LockingRowsOf(change.dialect(), "s")),
                       KeyAndHashOf(staged)));
  return !rows.empty();
}

void KeepStaged(WriteSet& change, const StagedPayload& staged) {
  static const Deletion kPlace = {.table = "staged_releases",
                                  .where = "charge_id = $1 AND attempt_token = $2 AND payload_hash = $3",
                                  .types = {ColumnType::kText, ColumnType::kText, ColumnType::kBytes},
                                  .rows = {}};
  change.DeleteRow(kPlace, KeyAndHashOf(staged));
}

absl::Status DiscardStaged(WriteSet& change, const std::string& charge_id) {
  // First the places, for whose locks a piece that is being written is waited for.
  RETURN_IF_ERROR(
      change.transaction().Execute("DELETE FROM staged_releases WHERE charge_id = $1", {charge_id}).status());
  return change.transaction()
      .Execute("DELETE FROM release_pieces WHERE charge_id = $1", {charge_id})
      .status();
}

absl::StatusOr<std::vector<StagedPayload>> FindAbandoned(Transaction& transaction, int64_t before_us,
                                                         int64_t most) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute("SELECT s.charge_id, s.attempt_token, s.payload_hash FROM staged_releases s "
                          "WHERE s.touched_at_us < $1 OR NOT EXISTS (SELECT 1 FROM open_charges o WHERE "
                          "o.charge_id = s.charge_id AND o.attempt_token = s.attempt_token) "
                          "ORDER BY s.principal, s.place LIMIT $2",
                          {before_us, most}));
  std::vector<StagedPayload> found;
  for (const Row& row : rows) {
    found.push_back({.charge_id = row.Text(0), .attempt_token = row.Text(1), .payload_hash = row.Blob(2)});
  }
  return found;
}

absl::StatusOr<bool> DiscardAbandoned(WriteSet& change, const StagedPayload& staged, int64_t before_us) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> deleted,
      change.transaction().Execute(
          "DELETE FROM staged_releases WHERE charge_id = $1 AND attempt_token = $2 AND (touched_at_us < $3 "
          "OR NOT EXISTS (SELECT 1 FROM open_charges o WHERE o.charge_id = $1 AND o.attempt_token = $2)) "
          "RETURNING place",
          {staged.charge_id, staged.attempt_token, before_us}));
  // The pieces of a payload without a place may be those of a release.
  if (deleted.empty()) return false;
  RETURN_IF_ERROR(DeletePieces(change, staged));
  return true;
}

absl::StatusOr<std::string> ReadPieces(Transaction& transaction, const std::string& charge_id,
                                       const std::string& attempt_token, int64_t expected_bytes) {
  // A payload on its way needs several times its bytes.
  constexpr int64_t kPiecesAtOnce = 8;
  std::string payload;
  // The stored size may be wrong.
  payload.reserve(static_cast<size_t>(std::clamp(expected_bytes, int64_t{0}, int64_t{256} << 20)));
  for (int64_t first = 0; std::ssize(payload) < expected_bytes; first += kPiecesAtOnce) {
    ASSIGN_OR_RETURN(
        const std::vector<Row> rows,
        transaction.Execute("SELECT piece FROM release_pieces WHERE charge_id = $1 AND attempt_token = $2 "
                            "AND position >= $3 AND position < $4 ORDER BY position",
                            {charge_id, attempt_token, first, first + kPiecesAtOnce}));
    for (const Row& row : rows) payload += row.Blob(0);
    if (std::ssize(rows) < kPiecesAtOnce) break;
  }
  return payload;
}

// ---- The ledger's part

absl::Status SqlLedger::WriteStaged(const WriteBody& body) {
  // A staged payload is of no history: its writers wait for each other, and not for a lineage.
  return WriteInLane(HasOneWriter(database_->dialect()) ? "" : "staged", body);
}

absl::StatusOr<bool> SqlLedger::Stage(const Attempt& attempt, std::string_view payload,
                                      std::string_view payload_hash) {
  RETURN_IF_ERROR(damage_.CheckDataset(attempt.charge.dataset_id));
  const StagedPayload staged = StagedPayloadOf(attempt, payload_hash);
  StagingPlace place = StagingPlace::kNoneFree;
  RETURN_IF_ERROR(WriteStaged([&](WriteSet& change) -> absl::Status {
    ASSIGN_OR_RETURN(place, TakeStagingPlace(change, staged, attempt.charge.principal));
    return absl::OkStatus();
  }));
  if (place != StagingPlace::kTaken) return place == StagingPlace::kStaleAttempt;
  bool has_place = true;
  for (size_t start = 0; has_place && start < payload.size(); start += kMostPieceBytes) {
    RETURN_IF_ERROR(WriteStaged([&](WriteSet& change) -> absl::Status {
      ASSIGN_OR_RETURN(has_place, StagePiece(change, staged, static_cast<int64_t>(start / kMostPieceBytes),
                                             payload.substr(start, kMostPieceBytes)));
      return absl::OkStatus();
    }));
  }
  return true;
}

absl::StatusOr<int64_t> SqlLedger::SweepStaged() {
  constexpr int64_t kMostAtOnce = 1000;
  RETURN_IF_ERROR(CheckWritable());
  std::vector<StagedPayload> abandoned;
  int64_t before_us = 0;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const int64_t now_us, ReadClock(transaction, database_->dialect()));
    before_us = now_us - std::chrono::microseconds(options_.staged_for).count();
    ASSIGN_OR_RETURN(abandoned, FindAbandoned(transaction, before_us, kMostAtOnce));
    return absl::OkStatus();
  }));
  int64_t discarded = 0;
  for (const StagedPayload& each : abandoned) {
    bool is_discarded = false;
    RETURN_IF_ERROR(WriteStaged([&](WriteSet& change) -> absl::Status {
      ASSIGN_OR_RETURN(is_discarded, DiscardAbandoned(change, each, before_us));
      return absl::OkStatus();
    }));
    discarded += is_discarded ? 1 : 0;
  }
  return discarded;
}

}  // namespace curator::ledger::sql
