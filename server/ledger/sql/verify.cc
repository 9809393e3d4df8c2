#include "ledger/sql/verify.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "ledger/history/hash_chain.h"
#include "ledger/history/recount.h"
#include "ledger/sql/rows.h"
#include "ledger/sql/sql_ledger.h"
#include "ledger/sql/write_set.h"

namespace curator::ledger::sql {
namespace {

constexpr int64_t kRowsAtOnce = 1000;
using Findings = std::vector<std::string>;

absl::Status AddEntries(Transaction& transaction, const std::string& dataset_id, Recount& recount) {
  int64_t seq = 0;
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<Entry> entries,
                     ReadEntries(transaction, dataset_id, seq, kRowsAtOnce));
    if (entries.empty()) return absl::OkStatus();
    for (const Entry& entry : entries) recount.Add(entry);
    seq = entries.back().seq;
  }
}

absl::StatusOr<Findings> CompareHeads(Transaction& transaction, const std::vector<std::string>& dataset_ids,
                                      const Recount& recount, const AnchorState& anchored) {
  Findings findings;
  for (const std::string& dataset_id : dataset_ids) {
    const auto counted = recount.heads().find(dataset_id);
    const ChainHead reached = counted == recount.heads().end() ? ChainHead() : counted->second;
    ASSIGN_OR_RETURN(
        const std::vector<Row> rows,
        transaction.Execute("SELECT seq, hash FROM chain_heads WHERE dataset_id = $1", {dataset_id}));
    if (rows.empty() || rows.front().Integer(0) != reached.seq || rows.front().Blob(1) != reached.hash) {
      findings.push_back(
          absl::StrCat("dataset ", dataset_id, ": the stored head is not the last entry, ", reached.seq));
    }
    const auto anchor = anchored.heads.find(dataset_id);
    if (anchor == anchored.heads.end()) continue;
    const ChainHead& expected = anchor->second;
    if (expected.seq > reached.seq) {
      findings.push_back(absl::StrCat("dataset ", dataset_id, ": the history ends with entry ", reached.seq,
                                      ", and the anchor knows entry ", expected.seq));
      continue;
    }
    ASSIGN_OR_RETURN(const std::vector<Entry> entries,
                     ReadEntries(transaction, dataset_id, expected.seq - 1, 1));
    if (entries.empty() || EntryHash(entries.front()) != expected.hash) {
      findings.push_back(absl::StrCat("dataset ", dataset_id, ": entry ", expected.seq,
                                      " is not the one that the anchor knows"));
    }
  }
  return findings;
}

// Compares the accounts' scopes, members and rules.
Findings CompareAccounts(const std::vector<Account>& accounts, const Recount& recount) {
  Findings findings;
  for (const Account& stored : accounts) {
    const auto opened = recount.accounts().find(stored.id);
    if (opened == recount.accounts().end()) continue;  // CompareCounters() reports it
    const AccountSpec& expected = opened->second;
    if (stored.scope_type != expected.scope_type || stored.scope_key != expected.scope_key ||
        stored.rule != expected.rule || stored.members != expected.members) {
      findings.push_back(absl::StrCat("account ", stored.id,
                                      ": its scope, its members or its rule are not those in the entries"));
    }
  }
  return findings;
}

Findings CompareCounters(const std::vector<Account>& accounts, const Recount& recount,
                         const AnchorState& anchored) {
  Findings findings;
  size_t compared = 0;
  for (const Account& account : accounts) {
    for (const CounterBalance& stored : account.counters) {
      const CounterKey key(account.id, stored.counter);
      const std::string name = absl::StrCat("account ", account.id, ", counter ", stored.counter);
      const auto counted = recount.counters().find(key);
      if (counted == recount.counters().end()) {
        findings.push_back(absl::StrCat(name, ": no entry opened it"));
        continue;
      }
      ++compared;
      const RecountedCounter expected = counted->second;
      if (expected != RecountedCounter{stored.spent, stored.held, stored.limit}) {
        findings.push_back(absl::StrCat(name, ": the table says spent ", stored.spent, ", held ", stored.held,
                                        ", limit ", stored.limit, "; the entries say spent ", expected.spent,
                                        ", held ", expected.held, ", limit ", expected.limit));
      }
      const auto anchor = anchored.spent.find(key);
      if (anchor != anchored.spent.end() && stored.spent < anchor->second) {
        findings.push_back(absl::StrCat(name, ": the table says spent ", stored.spent,
                                        ", and the anchor knows of ", anchor->second));
      }
    }
  }
  if (compared != recount.counters().size()) {
    findings.push_back("the entries opened accounts that the tables do not have");
  }
  return findings;
}

// Compares the parts, their bins, and the versions and contents with which they were sealed.
absl::StatusOr<Findings> CompareParts(Transaction& transaction, const std::vector<std::string>& dataset_ids,
                                      const Recount& recount) {
  Findings findings;
  for (const std::string& dataset_id : dataset_ids) {
    ASSIGN_OR_RETURN(const std::vector<Part> stored, ReadParts(transaction, dataset_id));
    const auto found = recount.parts().find(dataset_id);
    const std::vector<RecountedPart> counted =
        found == recount.parts().end() ? std::vector<RecountedPart>() : found->second;
    if (stored.size() != counted.size()) {
      findings.push_back(absl::StrCat("dataset ", dataset_id, ": the entries have another number of parts"));
      continue;
    }
    for (size_t i = 0; i < stored.size(); ++i) {
      Part without_content = stored[i];
      without_content.content_hash.clear();
      const std::string commitment = stored[i].sealed_version == 0
                                         ? std::string()
                                         : ContentCommitment(dataset_id, stored[i].content_hash);
      if (without_content == counted[i].part && commitment == counted[i].content_commitment) continue;
      findings.push_back(absl::StrCat("dataset ", dataset_id, ", part ", stored[i].number,
                                      ": the entries say otherwise about it"));
    }
  }
  return findings;
}

std::string Difference(const StoredCharge& stored, const RecountedCharge& counted) {
  if (stored.charge.state != counted.state) return "its state";
  if (RequestKey(stored.charge.principal, stored.charge.request_id) != counted.request_key)
    return "its request id";
  if (stored.charge.fingerprint != counted.fingerprint) return "its fingerprint";
  if (stored.charge.draw_identity != counted.draw_identity) return "its draw identity";
  if (stored.charge.release_id != counted.release_id) return "its release";
  if (Ascending(stored.charge.postings) != Ascending(counted.postings)) return "its postings";
  return {};
}

absl::StatusOr<Findings> CompareCharges(Transaction& transaction, const std::vector<std::string>& dataset_ids,
                                        const Recount& recount) {
  Findings findings;
  size_t compared = 0;
  for (const std::string& dataset_id : dataset_ids) {
    std::string last_principal;
    int64_t last_number = 0;
    while (true) {
      ASSIGN_OR_RETURN(const std::vector<StoredCharge> charges,
                       ReadCharges(transaction,
                                   "c.dataset_id = $1 AND (c.principal, c.number) > ($2, $3) "
                                   "ORDER BY c.principal, c.number LIMIT $4",
                                   {dataset_id, last_principal, last_number, kRowsAtOnce}));
      if (charges.empty()) break;
      last_principal = charges.back().charge.principal;
      last_number = charges.back().number;
      for (const StoredCharge& stored : charges) {
        const auto counted = recount.charges().find(stored.charge.id);
        if (counted == recount.charges().end()) {
          findings.push_back(absl::StrCat("charge ", stored.charge.id, ": no entry made it"));
          continue;
        }
        ++compared;
        const std::string difference = Difference(stored, counted->second);
        if (!difference.empty()) {
          findings.push_back(
              absl::StrCat("charge ", stored.charge.id, ": the entries say otherwise about ", difference));
        }
      }
    }
  }
  if (compared != recount.charges().size())
    findings.push_back("the entries made charges that the tables do not have");
  return findings;
}

absl::StatusOr<Findings> CompareReleases(Transaction& transaction,
                                         const std::vector<std::string>& dataset_ids,
                                         const Recount& recount) {
  Findings findings;
  for (const std::string& dataset_id : dataset_ids) {
    ASSIGN_OR_RETURN(const std::vector<Release> releases,
                     ReadReleasesWithoutPayloads(transaction, dataset_id));
    for (const Release& release : releases) {
      const auto counted = recount.charges().find(release.charge_id);
      const bool is_known = counted != recount.charges().end() && counted->second.release_id == release.id &&
                            counted->second.payload_hash == release.payload_hash;
      if (!is_known || !ReadRelease(transaction, release.id).ok()) {
        findings.push_back(absl::StrCat("release ", release.id, ": is not the one in the entries"));
      }
    }
  }
  return findings;
}

}  // namespace

absl::StatusOr<Verification> VerifyDataset(Transaction& transaction, const AnchorState& anchored,
                                           std::string_view dataset_id) {
  Verification result;
  const auto take = [&result](absl::StatusOr<Findings> findings) -> absl::Status {
    RETURN_IF_ERROR(findings.status());
    result.findings.insert(result.findings.end(), findings->begin(), findings->end());
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(const Dataset dataset, ReadDataset(transaction, dataset_id));
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute("SELECT id FROM datasets WHERE lineage_id = $1 "
                          "ORDER BY CASE WHEN successor_of = '' THEN 0 ELSE 1 END, created_at_us, id",
                          {dataset.lineage_id}));
  std::vector<std::string> dataset_ids;
  for (const Row& row : rows) dataset_ids.push_back(row.Text(0));
  Recount recount(dataset_ids.size());
  for (const std::string& id : dataset_ids) RETURN_IF_ERROR(AddEntries(transaction, id, recount));
  recount.Finish();
  result.findings = recount.findings();
  result.entries_checked = recount.entries();
  const auto head = recount.heads().find(dataset.id);
  if (head != recount.heads().end()) result.head_hash = head->second.hash;
  const auto anchor = anchored.heads.find(dataset.id);
  result.anchored_seq = anchor == anchored.heads.end() ? 0 : anchor->second.seq;
  RETURN_IF_ERROR(take(CompareHeads(transaction, dataset_ids, recount, anchored)));
  ASSIGN_OR_RETURN(const std::vector<Account> accounts, ReadAccounts(transaction, dataset.lineage_id));
  RETURN_IF_ERROR(take(CompareAccounts(accounts, recount)));
  RETURN_IF_ERROR(take(CompareCounters(accounts, recount, anchored)));
  RETURN_IF_ERROR(take(CompareParts(transaction, dataset_ids, recount)));
  RETURN_IF_ERROR(take(CompareCharges(transaction, dataset_ids, recount)));
  RETURN_IF_ERROR(take(CompareReleases(transaction, dataset_ids, recount)));
  result.ok = result.findings.empty();
  return result;
}

absl::StatusOr<Verification> SqlLedger::Verify(std::string_view dataset_id) {
  // The anchor is read first: the store can only be further.
  ASSIGN_OR_RETURN(const AnchorState anchored, anchor_->Read());
  return VerifyAgainst(dataset_id, anchored);
}

absl::StatusOr<Verification> SqlLedger::VerifyAgainst(std::string_view dataset_id,
                                                      const AnchorState& anchored) {
  Verification result;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(result, VerifyDataset(transaction, anchored, dataset_id));
    return absl::OkStatus();
  }));
  return result;
}

absl::StatusOr<std::vector<std::string>> VerifyEveryHistory(Database& database, const AnchorState& anchored,
                                                            const Report& report) {
  std::vector<std::string> lineages;
  const auto read = [&](Transaction& transaction) -> absl::Status {
    lineages.clear();
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.Execute("SELECT id FROM datasets WHERE id = lineage_id ORDER BY id", {}));
    for (const Row& row : rows) lineages.push_back(row.Text(0));
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(database.Read(read).status);
  std::vector<std::string> findings;
  for (size_t i = 0; i < lineages.size(); ++i) {
    Verification verified;
    const Outcome outcome = database.Read([&](Transaction& transaction) -> absl::Status {
      ASSIGN_OR_RETURN(verified, VerifyDataset(transaction, anchored, lineages[i]));
      return absl::OkStatus();
    });
    if (absl::IsDataLoss(outcome.status)) {
      verified.findings.push_back(
          absl::StrCat("dataset ", lineages[i], ": ", std::string(outcome.status.message())));
    } else {
      RETURN_IF_ERROR(outcome.status);
    }
    Notify(report, "history_verified",
           absl::StrCat(i + 1, " of ", lineages.size(), ": ", verified.entries_checked, " entries, ",
                        verified.findings.size(), " findings"));
    findings.insert(findings.end(), verified.findings.begin(), verified.findings.end());
  }
  return findings;
}

absl::Status UnsoundAfterUpgrade(const std::vector<std::string>& findings) {
  constexpr size_t kMostNamed = 3;
  const size_t named = std::min(findings.size(), kMostNamed);
  return absl::DataLossError(absl::StrCat(
      "the ledger's schema was upgraded, and its histories contradict its tables in ", findings.size(),
      " places, so nothing is charged: ",
      absl::StrJoin(findings.begin(), findings.begin() + static_cast<std::ptrdiff_t>(named), "; "),
      ". `curatord check-ledger` names all of them"));
}

absl::Status SqlLedger::VerifyAfterUpgrade() {
  ASSIGN_OR_RETURN(const AnchorState anchored, anchor_->Read());
  ASSIGN_OR_RETURN(const std::vector<std::string> findings,
                   VerifyEveryHistory(*database_, anchored, report_));
  if (!findings.empty()) TurnReadOnly(UnsoundAfterUpgrade(findings)).IgnoreError();
  return absl::OkStatus();
}

// ---- The store against the anchor

namespace {

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
                     ReadEntries(transaction, dataset_id, reached.seq, kRowsAtOnce));
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
  // With few counters or many entries, reading all counters of the lineage costs less than finding out which
  // ones moved; the cost never grows with the length of the history.
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
    // If the account is gone, so is the entry that opened it, and its chain is reported as behind.
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
