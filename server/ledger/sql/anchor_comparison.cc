#include "ledger/sql/anchor_comparison.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "ledger/history/hash_chain.h"
#include "ledger/sql/change.h"
#include "ledger/sql/rows.h"

namespace curator::ledger::sql {
namespace {

constexpr int64_t kEntriesAtOnce = 1000;

// Follows the chain from the anchored entry (or from its start) to the head.
absl::StatusOr<std::vector<std::string>> CheckContinuation(Transaction& transaction,
                                                           const std::string& dataset_id,
                                                           const ChainHead& head, const ChainHead& anchored) {
  std::vector<std::string> findings;
  if (head.seq < anchored.seq) {
    findings.push_back(absl::StrCat("the history of dataset ", dataset_id, " ends with entry ", head.seq,
                                    ", and the anchor knows entry ", anchored.seq));
    return findings;
  }
  ChainHead reached = anchored;
  if (anchored.seq > 0) {
    ASSIGN_OR_RETURN(const std::vector<Entry> entries,
                     ReadEntries(transaction, dataset_id, anchored.seq - 1, 1));
    if (entries.empty() || entries.front().seq != anchored.seq ||
        EntryHash(entries.front()) != anchored.hash) {
      findings.push_back(absl::StrCat("entry ", anchored.seq, " of dataset ", dataset_id,
                                      " is not the one that the anchor knows"));
      return findings;
    }
  }
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<Entry> entries,
                     ReadEntries(transaction, dataset_id, reached.seq, kEntriesAtOnce));
    if (entries.empty()) break;
    for (const Entry& entry : entries) {
      for (std::string& finding : BrokenLinks(reached, entry)) findings.push_back(std::move(finding));
      reached = {entry.seq, entry.hash};
    }
  }
  if (!(reached == head)) {
    findings.push_back(absl::StrCat("the head of dataset ", dataset_id, " is not its last entry"));
  }
  return findings;
}

}  // namespace

absl::StatusOr<std::map<CounterKey, int64_t>> SpentBy(Transaction& transaction, const EntriesAfter& entries) {
  // Where a lineage has few counters, or there are many entries, to read all counters costs less than to find
  // out which; and never more the longer the history is.
  constexpr int64_t kFewCounters = 64;
  constexpr int64_t kFewEntries = 256;
  constexpr char kOfLineage[] =
      "SELECT c.account_id, c.counter, c.spent FROM accounts a "
      "JOIN account_counters c ON c.account_id = a.id WHERE a.lineage_id = $1 LIMIT $2";
  // A charge moves what it posts to, a repair anything.
  constexpr char kOfEntries[] =
      "SELECT c.account_id, c.counter, c.spent FROM account_counters c WHERE c.account_id IN ("
      "SELECT p.account_id FROM entries e JOIN postings p ON p.charge_id = e.charge_id "
      "WHERE e.dataset_id = $1 AND e.seq > $2 UNION "
      "SELECT a.id FROM accounts a WHERE a.lineage_id = $3 AND EXISTS (SELECT 1 FROM entries e "
      "WHERE e.dataset_id = $1 AND e.seq > $2 AND e.kind = 'REPAIRED'))";
  const bool are_few = entries.head - entries.seq <= kFewEntries;
  const int64_t most = are_few ? kFewCounters + 1 : std::numeric_limits<int64_t>::max();
  ASSIGN_OR_RETURN(std::vector<Row> rows, transaction.Execute(kOfLineage, {entries.lineage_id, most}));
  if (are_few && rows.size() > static_cast<size_t>(kFewCounters)) {
    ASSIGN_OR_RETURN(rows,
                     transaction.Execute(kOfEntries, {entries.dataset_id, entries.seq, entries.lineage_id}));
  }
  std::map<CounterKey, int64_t> spent;
  for (const Row& row : rows) spent.emplace(CounterKey(row.Integer(0), row.Text(1)), row.Integer(2));
  return spent;
}

absl::StatusOr<AnchorState> CompareWithStore(Transaction& transaction, const AnchorState& anchored) {
  AnchorState reached;
  std::vector<std::string> findings;
  ASSIGN_OR_RETURN(
      const std::vector<Row> heads,
      transaction.Execute("SELECT dataset_id, seq, hash FROM chain_heads ORDER BY dataset_id", {}));
  for (const Row& row : heads) reached.heads[row.Text(0)] = {row.Integer(1), row.Blob(2)};
  for (const auto& [dataset_id, head] : reached.heads) {
    const auto known = anchored.heads.find(dataset_id);
    ASSIGN_OR_RETURN(const std::vector<std::string> found,
                     CheckContinuation(transaction, dataset_id, head,
                                       known == anchored.heads.end() ? ChainHead() : known->second));
    findings.insert(findings.end(), found.begin(), found.end());
  }
  for (const auto& [dataset_id, head] : anchored.heads) {
    if (reached.heads.count(dataset_id) == 0) {
      findings.push_back(absl::StrCat("the anchor knows ", head.seq, " entries of dataset ", dataset_id,
                                      ", which the database does not have"));
    }
  }
  ASSIGN_OR_RETURN(const std::vector<Row> counters,
                   transaction.Execute("SELECT account_id, counter, spent FROM account_counters", {}));
  for (const Row& row : counters) reached.spent[{row.Integer(0), row.Text(1)}] = row.Integer(2);
  for (const auto& [key, spent] : anchored.spent) {
    const auto stored = reached.spent.find(key);
    // The entry that opened an account which is gone lies in a chain, and that chain is behind.
    if (stored == reached.spent.end()) continue;
    if (stored->second < spent) {
      findings.push_back(absl::StrCat("account ", key.first, " has spent ", stored->second, " of ",
                                      key.second, ", and the anchor knows of ", spent));
    }
  }
  if (!findings.empty()) return BehindAnchor(absl::StrJoin(findings, "; "));
  return reached;
}

}  // namespace curator::ledger::sql
