// The content of an anchor file: a log of what was raised, that a crash may cut short at its end and that
// cannot be damaged unnoticed anywhere else.
//
//   curator-anchor 2
//   ledger <uuid of the ledger>
//   head <dataset id> <seq> <hash, 64 hex digits>
//   spent <account id> <counter> <spent>
//   end 1 <checksum, 64 hex digits>
//   head ...
//   end 2 <checksum>
//   (zero bytes up to a multiple of kAnchorBlockBytes)
//
// The first record, with the two lines above it, is a whole state and is written together with its file; each
// further record holds what has changed since and is written into the zero bytes. A record ends with its
// number and a checksum: SHA-256 of the checksum before it and of its own lines. So no record can be changed,
// dropped or moved unless it is the last one, and a last record that did not get to the disk whole has zero
// bytes where the rest should be: it vouches for nothing, because nobody was answered before it was there.
// The checksum tells damage; it is no signature.
//
// Version 1, a whole state with one checksum at the end ("end <SHA-256 of all lines above>"), is still read.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/anchor/anchor_state.h"

namespace curator::ledger {

inline constexpr size_t kAnchorBlockBytes = 4096;

class AnchorLog {
 public:
  // A log that says nothing yet; the first record that it appends starts a file.
  explicit AnchorLog(std::string_view ledger_uuid);
  // Reads a whole file. DATA_LOSS, saying why, for what Append() and a crash would not leave.
  static absl::StatusOr<AnchorLog> Parse(std::string_view ledger_uuid, std::string_view file);

  // The bytes that say `change`, to be written where end() was before; from now on they count as written.
  std::string Append(const AnchorState& change);
  // Reads what somebody else has written at end() since: `bytes` is the rest of the file from there.
  absl::Status Extend(std::string_view bytes);

  const AnchorState& state() const { return state_; }
  // How many bytes its records take.
  size_t end() const { return end_; }

 private:
  struct Record {
    std::string text;
    std::string checksum;
  };

  absl::Status ParseVersion1(std::string_view ledger_uuid, std::string_view file);
  // The next record, if it says `change`.
  Record Next(const AnchorState& change) const;
  void Take(const AnchorState& change, const Record& record);
  absl::Status ParseRecord(std::string_view text);

  AnchorState state_;
  std::string first_lines_;  // what stands above the first record
  std::string checksum_;     // of the last record
  int64_t number_ = 0;       // of the last record
  size_t end_ = 0;
};

}  // namespace curator::ledger
