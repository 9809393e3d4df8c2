#include "ledger/history/hash_chain.h"

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "ledger/history/entry_payload.h"

namespace curator::ledger {

std::string EntryHash(const Entry& entry) {
  CanonicalWriter writer("curator.ledger.entry", 1);
  writer.Text(entry.dataset_id);
  writer.Integer(entry.seq);
  writer.Text(entry.kind);
  writer.Text(entry.charge_id);
  writer.Text(entry.payload);
  writer.Text(entry.actor);
  writer.Integer(entry.created_at_us);
  writer.Text(entry.prev_hash);
  return Sha256(std::move(writer).Take());
}

ChainHead Append(const ChainHead& head, Entry& entry) {
  entry.seq = head.seq + 1;
  entry.prev_hash = head.hash;
  entry.hash = EntryHash(entry);
  return {entry.seq, entry.hash};
}

std::vector<std::string> BrokenLinks(const ChainHead& head, const Entry& entry) {
  std::vector<std::string> findings;
  // A repair skips the numbers of lost entries, which its payload states.
  const bool is_next = entry.kind == kRepaired ? entry.seq > head.seq : entry.seq == head.seq + 1;
  if (!is_next) {
    findings.push_back(
        absl::StrCat("entry ", head.seq + 1, " is missing; the next one found is ", entry.seq));
  } else if (entry.prev_hash != head.hash) {
    findings.push_back(absl::StrCat("entry ", entry.seq, " does not continue the entry before it"));
  }
  if (entry.hash != EntryHash(entry)) {
    findings.push_back(absl::StrCat("entry ", entry.seq, " was edited: its content does not have its hash"));
  }
  return findings;
}

}  // namespace curator::ledger
