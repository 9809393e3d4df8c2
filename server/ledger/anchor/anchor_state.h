// What an anchor vouches for.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "ledger/history/hash_chain.h"
#include "ledger/history/recount.h"

namespace curator::ledger {

struct AnchorState {
  std::map<std::string, ChainHead> heads;  // by dataset id
  std::map<CounterKey, int64_t> spent;     // the highest value seen; it never falls
  bool operator==(const AnchorState&) const = default;
};

// Raises `state` to the maximum of both, at a price proportional to `other`. DATA_LOSS, with `state` as it
// was, when the two vouch for different histories: the same dataset and seq with different hashes.
absl::Status Raise(AnchorState& state, const AnchorState& other);

// The part of `wanted` that `state` does not vouch for yet.
AnchorState Missing(const AnchorState& state, const AnchorState& wanted);

}  // namespace curator::ledger
