// The hash chain of a dataset's entries.
//
//   hash = SHA-256 of the canonical document (base/canonical_bytes.h) tagged "curator.ledger.entry",
//          version 1, of
//          Text(dataset_id) Integer(seq) Text(kind) Text(charge_id) Text(payload) Text(actor)
//          Integer(created_at_us) Text(prev_hash)
//
// where Integer is 8 bytes big-endian two's complement and Text is its length as an Integer followed by its
// bytes; the document starts with Text(tag) Integer(version). Every field is preceded by its length, so no
// two entries share their bytes, and the tag keeps the hash apart from every other hash of this program. The
// first entry has seq 1 and a prev_hash of 32 zero bytes; entry n + 1 has the hash of entry n as its
// prev_hash. The only exception is an entry REPAIRED, which may skip the numbers of entries that the store
// has lost; its prev_hash is the hash of the last entry before the gap.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <vector>

#include "ledger/types.h"

namespace curator::ledger {

// The last link of a dataset's chain: seq 0 and 32 zero bytes before the first entry.
struct ChainHead {
  int64_t seq = 0;
  std::string hash = std::string(32, '\0');
  bool operator==(const ChainHead&) const = default;
};

// The hash of `entry` by the formula above; entry.hash itself is not read.
std::string EntryHash(const Entry& entry);

// Appends `entry` to `head`: sets its seq, prev_hash and hash, and returns the new head.
ChainHead Append(const ChainHead& head, Entry& entry);

// One sentence for each fault of `entry` as the link after `head`; empty when there is none.
std::vector<std::string> BrokenLinks(const ChainHead& head, const Entry& entry);

}  // namespace curator::ledger
