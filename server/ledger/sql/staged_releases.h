// Large payloads, which are written in pieces before the transaction that ends their charge (T2): no other
// change waits for their bytes, and T2 shares a batch as that of a small payload does.
//
// A staged payload belongs to one attempt at one charge. Nothing reads it before T2 makes it the payload of
// the charge's release. It is deleted when another attempt takes over, when the charge is forfeited, and by
// SqlLedger::SweepStaged() when it was abandoned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/sql/database.h"
#include "ledger/sql/write_set.h"
#include "ledger/types.h"

namespace curator::ledger::sql {

// A payload above this is staged, and each of its pieces has at most as much: a transaction with more would
// hold up others for longer than a commit takes.
inline constexpr size_t kMostPieceBytes = size_t{1} << 20;
// The payloads of one principal that are staged at a time. Others are stored by T2 itself.
inline constexpr int64_t kStagingPlaces = 4;

struct StagedPayload {
  std::string charge_id;
  std::string attempt_token;
  std::string payload_hash;
};
StagedPayload StagedPayloadOf(const Attempt& attempt, std::string_view payload_hash);

enum class StagingPlace {
  kTaken,
  kNoneFree,
  kStaleAttempt,  // the attempt may not end its charge any more: T2 finds out why
};
// Gives the payload a place of its principal, or finds its own. A payload with another hash that the same
// attempt had staged is deleted.
absl::StatusOr<StagingPlace> TakeStagingPlace(WriteSet& change, const StagedPayload& staged,
                                              const std::string& principal);
// Writes a piece (0, 1, ...) unless it is there. False when the payload has no place any more.
absl::StatusOr<bool> StagePiece(WriteSet& change, const StagedPayload& staged, int64_t position,
                                std::string_view piece);
// Whether KeepStaged() would find it, which then stays so until the transaction ends.
absl::StatusOr<bool> LockStagingPlace(WriteSet& change, const StagedPayload& staged);
// Queues that its pieces are those of a release from now on. Flush() fails when it has no place any more.
void KeepStaged(WriteSet& change, const StagedPayload& staged);

// Deletes what attempts at this charge, whose chain is locked, have staged.
absl::Status DiscardStaged(WriteSet& change, const std::string& charge_id);

// At most `most` that no T2 can keep, because their attempt may not end the charge any more, or whose last
// piece was written before `before_us`.
absl::StatusOr<std::vector<StagedPayload>> FindAbandoned(Transaction& transaction, int64_t before_us,
                                                         int64_t most);
// Deletes it if that is still so. Whether it has.
absl::StatusOr<bool> DiscardAbandoned(WriteSet& change, const StagedPayload& staged, int64_t before_us);

// The pieces that this attempt staged, together. Pieces beyond `expected_bytes` may be left out: the caller
// compares the hash.
absl::StatusOr<std::string> ReadPieces(Transaction& transaction, const std::string& charge_id,
                                       const std::string& attempt_token, int64_t expected_bytes);

}  // namespace curator::ledger::sql
