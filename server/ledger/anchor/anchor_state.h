// What an anchor vouches for, and the text it is written as.
//
//   curator-anchor 1
//   ledger <uuid of the ledger>
//   head <dataset id> <seq> <hash, 64 hex digits>          one line for each dataset, by id
//   spent <account id> <counter> <spent>                   one line for each counter, by account id and
//   counter end <SHA-256 of all lines above with their line ends, 64 hex digits>
//
// The last line tells a torn or damaged file from a whole one; it is no signature.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/history/hash_chain.h"
#include "ledger/history/recount.h"

namespace curator::ledger {

struct AnchorState {
  std::map<std::string, ChainHead> heads;  // by dataset id
  std::map<CounterKey, int64_t> spent;     // the highest value seen; it never falls
  bool operator==(const AnchorState&) const = default;
};

// Raises `state` to the maximum of both. DATA_LOSS, with `state` half raised, when the two vouch for
// different histories: the same dataset and seq with different hashes.
absl::Status Raise(AnchorState& state, const AnchorState& other);

std::string AnchorText(std::string_view ledger_uuid, const AnchorState& state);
// DATA_LOSS for a text that AnchorText() would not write for this ledger.
absl::StatusOr<AnchorState> ParseAnchorText(std::string_view ledger_uuid, std::string_view text);

}  // namespace curator::ledger
