// The content of an anchor file: an append-only log of raised heads and counters. A crash may truncate its
// last record; damage anywhere else is detected.
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
// The first record, with the two lines above it, is a whole state and is written when the file is created;
// each further record holds the changes since and is written over the zero bytes. A record ends with its
// number and a checksum: SHA-256 of the previous checksum and of its own lines. So no record but the last can
// be changed, dropped or moved unnoticed. A last record that did not reach the disk whole has zero bytes in
// place of the rest: it is ignored, because no caller was answered before it was durable. The checksum
// detects damage; it is not a signature.
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
  // An empty log; the first record that it appends starts a file.
  explicit AnchorLog(std::string_view ledger_uuid);
  // Reads a whole file. DATA_LOSS, with the reason, for bytes that neither Append() nor a crash would leave.
  static absl::StatusOr<AnchorLog> Parse(std::string_view ledger_uuid, std::string_view file);

  // The record of `change`, to be written at the previous end(); from now on it counts as written.
  std::string Append(const AnchorState& change);
  // Reads the records that another process has appended: `bytes` is the rest of the file from end() on.
  absl::Status Extend(std::string_view bytes);

  const AnchorState& state() const { return state_; }
  // The size of all records in bytes.
  size_t end() const { return end_; }

 private:
  struct Record {
    std::string text;
    std::string checksum;
  };

  absl::Status ParseVersion1(std::string_view ledger_uuid, std::string_view file);
  // The next record, if it holds `change`.
  Record Next(const AnchorState& change) const;
  void Take(const AnchorState& change, const Record& record);
  absl::Status ParseRecord(std::string_view text);

  AnchorState state_;
  std::string first_lines_;  // above the first record
  std::string checksum_;     // of the last record
  int64_t number_ = 0;       // of the last record
  size_t end_ = 0;
};

}  // namespace curator::ledger
