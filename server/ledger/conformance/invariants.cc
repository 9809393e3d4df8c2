#include "ledger/conformance/invariants.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/history/hash_chain.h"
#include "ledger/history/recount.h"

namespace curator::ledger {
namespace {

using Findings = std::vector<std::string>;
using sql::Row;
using sql::Transaction;

struct Sums {
  int64_t spent = 0;
  int64_t held = 0;
};

// Of the postings that count, by account and counter.
absl::StatusOr<std::map<CounterKey, Sums>> SumPostings(Transaction& store) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   store.Execute("SELECT p.account_id, p.counter, s.state, CAST(SUM(p.cost) AS BIGINT) FROM "
                                 "postings p JOIN charge_states s ON s.charge_id = p.charge_id GROUP BY "
                                 "p.account_id, p.counter, s.state",
                                 {}));
  std::map<CounterKey, Sums> sums;
  for (const Row& row : rows) {
    Sums& sum = sums[{row.Integer(0), row.Text(1)}];
    ASSIGN_OR_RETURN(const ChargeState state, ChargeStateFromName(row.Text(2)));
    if (state == ChargeState::kCancelled) continue;
    (state == ChargeState::kReserved ? sum.held : sum.spent) += row.Integer(3);
  }
  return sums;
}

absl::Status CheckCounters(Transaction& store, Findings& findings) {
  ASSIGN_OR_RETURN(const auto sums, SumPostings(store));
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      store.Execute("SELECT account_id, counter, spent, held, limit_value FROM account_counters", {}));
  for (const Row& row : rows) {
    const std::string name = absl::StrCat("account ", row.Integer(0), ", counter ", row.Text(1));
    const int64_t spent = row.Integer(2);
    const int64_t held = row.Integer(3);
    const int64_t limit = row.Integer(4);
    if (spent < 0 || held < 0 || spent > limit - held) {
      findings.push_back(absl::StrCat(name, ": spent ", spent, " and held ", held, " of ", limit));
    }
    const auto found = sums.find({row.Integer(0), row.Text(1)});
    const Sums sum = found == sums.end() ? Sums() : found->second;
    if (spent != sum.spent || held != sum.held) {
      findings.push_back(absl::StrCat(name, ": spent ", spent, " and held ", held,
                                      ", and its postings add up to ", sum.spent, " and ", sum.held));
    }
  }
  return absl::OkStatus();
}

// Every row of `query` is a violation: `what`, and the row's text.
absl::Status CheckNone(Transaction& store, const char* what, const char* query, Findings& findings) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows, store.Execute(query, {}));
  for (const Row& row : rows) findings.push_back(absl::StrCat(what, ": ", row.Text(0)));
  return absl::OkStatus();
}

absl::Status CheckCharges(Transaction& store, Findings& findings) {
  RETURN_IF_ERROR(CheckNone(
      store, "several charges under one key",
      "SELECT request_id FROM charges GROUP BY principal, request_id HAVING COUNT(*) > 1", findings));
  RETURN_IF_ERROR(CheckNone(store, "several releases of one charge",
                            "SELECT charge_id FROM releases GROUP BY charge_id HAVING COUNT(*) > 1",
                            findings));
  RETURN_IF_ERROR(CheckNone(store, "a release of a charge that is not committed",
                            "SELECT r.charge_id FROM releases r LEFT JOIN charge_states s ON s.charge_id = "
                            "r.charge_id WHERE s.state IS NULL OR s.state <> 'COMMITTED'",
                            findings));
  RETURN_IF_ERROR(
      CheckNone(store, "a key lost before the draw",
                "SELECT c.request_id FROM open_charges o JOIN charges c ON c.id = o.charge_id "
                "WHERE length(o.sealed_key) = 0 AND o.state = 'STARTED' AND c.deadline_us IS NULL",
                findings));
  RETURN_IF_ERROR(
      CheckNone(store, "neither open nor ended, or both",
                "SELECT c.request_id FROM charges c LEFT JOIN open_charges o ON o.charge_id = c.id "
                "LEFT JOIN endings e ON e.charge_id = c.id "
                "WHERE (o.charge_id IS NULL) = (e.charge_id IS NULL)",
                findings));
  return CheckNone(store, "not exactly one entry that makes a charge",
                   "SELECT c.request_id FROM charges c LEFT JOIN entries e ON e.charge_id = c.id AND e.kind "
                   "IN ('CHARGED', 'RESERVED') GROUP BY c.number, c.request_id HAVING COUNT(e.seq) <> 1",
                   findings);
}

absl::Status CheckPieces(Transaction& store, Findings& findings) {
  RETURN_IF_ERROR(
      CheckNone(store, "a release in pieces, of which there are none",
                "SELECT r.charge_id FROM releases r WHERE r.staged_by <> '' AND NOT EXISTS (SELECT 1 FROM "
                "release_pieces p WHERE p.charge_id = r.charge_id AND p.attempt_token = r.staged_by)",
                findings));
  return CheckNone(
      store, "pieces that are of no release and have no place",
      "SELECT p.charge_id FROM release_pieces p WHERE NOT EXISTS (SELECT 1 FROM releases r WHERE "
      "r.charge_id = p.charge_id AND r.staged_by = p.attempt_token) AND NOT EXISTS (SELECT 1 FROM "
      "staged_releases s WHERE s.charge_id = p.charge_id AND s.attempt_token = p.attempt_token)",
      findings);
}

absl::Status CheckChains(Transaction& store, Findings& findings) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   store.Execute("SELECT dataset_id, seq, kind, charge_id, payload, actor, created_at_us, "
                                 "prev_hash, hash FROM entries ORDER BY dataset_id, seq",
                                 {}));
  std::map<std::string, ChainHead> ends;
  for (const Row& row : rows) {
    const Entry entry{.dataset_id = row.Text(0),
                      .seq = row.Integer(1),
                      .kind = row.Text(2),
                      .charge_id = row.Text(3),
                      .payload = row.Blob(4),
                      .actor = row.Text(5),
                      .created_at_us = row.Integer(6),
                      .prev_hash = row.Blob(7),
                      .hash = row.Blob(8)};
    ChainHead& end = ends[entry.dataset_id];
    // A repair leaves out the numbers of lost entries; nothing else may.
    const bool is_next = entry.seq == end.seq + 1 || (entry.kind == kRepaired && entry.seq > end.seq);
    if (!is_next || entry.prev_hash != end.hash || entry.hash != EntryHash(entry)) {
      findings.push_back(absl::StrCat("entry ", entry.seq, " is not chained to the one before it"));
    }
    end = {entry.seq, entry.hash};
  }
  ASSIGN_OR_RETURN(const std::vector<Row> heads,
                   store.Execute("SELECT dataset_id, seq, hash FROM chain_heads", {}));
  for (const Row& row : heads) {
    if (!(ends[row.Text(0)] == ChainHead{row.Integer(1), row.Blob(2)})) {
      findings.push_back(absl::StrCat("the head ", row.Integer(1), " is not the last entry"));
    }
  }
  if (heads.size() != ends.size()) findings.push_back("a history without a head");
  return absl::OkStatus();
}

bool MayBecome(ChargeState reported, ChargeState found) {
  switch (reported) {
    case ChargeState::kReserved:
      return true;
    case ChargeState::kStarted:
      return found != ChargeState::kReserved && found != ChargeState::kCancelled;
    default:
      return found == reported;
  }
}

absl::Status CheckAcknowledged(Transaction& store, const std::vector<Acknowledged>& acknowledged,
                               Findings& findings) {
  struct Found {
    ChargeState state = ChargeState::kReserved;
    std::string payload;
  };
  std::map<std::pair<std::string, std::string>, Found> found;
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      store.Execute(
          "SELECT c.principal, c.request_id, s.state, r.payload, r.payload_hash, c.id, r.staged_by FROM "
          "charges c JOIN charge_states s ON s.charge_id = c.id LEFT JOIN releases r ON r.charge_id = c.id",
          {}));
  for (const Row& row : rows) {
    Found& one = found[{row.Text(0), row.Text(1)}];
    ASSIGN_OR_RETURN(one.state, ChargeStateFromName(row.Text(2)));
    if (row.IsNull(3)) continue;
    one.payload = row.Blob(3);
    ASSIGN_OR_RETURN(const std::vector<Row> pieces,
                     store.Execute("SELECT piece FROM release_pieces WHERE charge_id = $1 AND attempt_token "
                                   "= $2 ORDER BY position",
                                   {row.Text(5), row.Text(6)}));
    for (const Row& piece : pieces) one.payload += piece.Blob(0);
    if (Sha256(one.payload) != row.Blob(4)) {
      findings.push_back(absl::StrCat("the release of ", row.Text(1), " is not what its hash says"));
    }
  }
  for (const Acknowledged& reported : acknowledged) {
    const std::string name(StateName(reported.state));
    const auto one = found.find({reported.principal, reported.request_id});
    if (one == found.end()) {
      findings.push_back(absl::StrCat("lost: ", reported.request_id, ", acknowledged as ", name));
    } else if (!MayBecome(reported.state, one->second.state)) {
      findings.push_back(absl::StrCat("undone: ", reported.request_id, ", acknowledged as ", name, ", is ",
                                      std::string(StateName(one->second.state))));
    } else if (!reported.payload.empty() && reported.payload != one->second.payload) {
      findings.push_back(absl::StrCat("another release of ", reported.request_id, " than was acknowledged"));
    }
  }
  return absl::OkStatus();
}

// The number of the first entry of `dataset_id` that is not before `seq`; 0 when there is none.
int64_t FirstSeqFrom(Ledger& ledger, const std::string& dataset_id, int64_t seq) {
  const absl::StatusOr<std::vector<Entry>> entries =
      ledger.ListEntries(dataset_id, {.after_seq = std::max<int64_t>(seq - 1, 0), .limit = 1});
  return entries.ok() && !entries->empty() ? entries->front().seq : 0;
}

}  // namespace

std::vector<std::string> ViolationsIn(sql::Database& store, const std::vector<Acknowledged>& acknowledged) {
  Findings findings;
  const sql::Outcome outcome = store.Read([&](Transaction& transaction) -> absl::Status {
    findings.clear();
    RETURN_IF_ERROR(CheckCounters(transaction, findings));
    RETURN_IF_ERROR(CheckCharges(transaction, findings));
    RETURN_IF_ERROR(CheckPieces(transaction, findings));
    RETURN_IF_ERROR(CheckChains(transaction, findings));
    return CheckAcknowledged(transaction, acknowledged, findings);
  });
  if (!outcome.status.ok()) findings.push_back(absl::StrCat("unreadable: ", outcome.status.ToString()));
  return findings;
}

std::vector<std::string> ViolationsIn(Ledger& ledger, sql::Database& store,
                                      const std::vector<Acknowledged>& acknowledged) {
  Findings findings = ViolationsIn(store, acknowledged);
  const absl::StatusOr<std::vector<Dataset>> datasets = ledger.ListDatasets();
  if (!datasets.ok()) findings.push_back(absl::StrCat("unreadable: ", datasets.status().ToString()));
  for (const Dataset& dataset : datasets.ok() ? *datasets : std::vector<Dataset>()) {
    const absl::StatusOr<Verification> verification = ledger.Verify(dataset.id);
    if (!verification.ok()) {
      findings.push_back(absl::StrCat("unverifiable: ", verification.status().ToString()));
      continue;
    }
    findings.insert(findings.end(), verification->findings.begin(), verification->findings.end());
    if (verification->anchored_seq > FirstSeqFrom(ledger, dataset.id, verification->anchored_seq)) {
      findings.push_back(absl::StrCat("the anchor of ", dataset.name, " is ahead of its history"));
    }
  }
  return findings;
}

}  // namespace curator::ledger
