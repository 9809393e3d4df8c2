#include "ledger/sql/server_history.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/history/hash_chain.h"
#include "ledger/history/recount.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

constexpr char kEntryColumns[] =
    "SELECT seq, kind, change_id, payload, actor, created_at_us, prev_hash, hash FROM server_entries ";

Entry ServerEntryOf(const Row& row) {
  return {.dataset_id = kServerHistory,
          .seq = row.Integer(0),
          .kind = row.Text(1),
          .charge_id = row.Text(2),
          .payload = row.Blob(3),
          .actor = row.Text(4),
          .created_at_us = row.Integer(5),
          .prev_hash = row.Blob(6),
          .hash = row.Blob(7)};
}

void QueueInsertion(WriteSet& change, const Entry& entry) {
  static const std::vector<Column> kColumns = {
      {"seq", ColumnType::kInteger},     {"kind", ColumnType::kText},
      {"change_id", ColumnType::kText},  {"payload", ColumnType::kBytes},
      {"actor", ColumnType::kText},      {"created_at_us", ColumnType::kInteger},
      {"prev_hash", ColumnType::kBytes}, {"hash", ColumnType::kBytes}};
  change.Insert("server_entries", kColumns,
                {RowOf(entry.seq, entry.kind, entry.charge_id, Bytes{entry.payload}, entry.actor,
                       entry.created_at_us, Bytes{entry.prev_hash}, Bytes{entry.hash})});
}

absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(absl::StrCat(
      "the history of the server, with its principals and credentials, is damaged: ", std::string(what),
      ". All calls are refused until the server's operator restores the newest copy of the database, or runs "
      "curatord repair-server"));
}

// Whether this entry REPAIRED says that the entry of the anchor is lost. Of a history that went on beside the
// lost one, only the anchor's last entry can be told from others.
absl::StatusOr<bool> AccountsFor(const Entry& entry, const ChainHead& anchored) {
  if (entry.kind != kRepaired || entry.seq <= anchored.seq) return false;
  ASSIGN_OR_RETURN(const Repair repair, ParseRepair(entry.payload));
  const bool is_last = anchored.seq == repair.anchored_seq && anchored.hash == repair.anchored_hash;
  return is_last || (anchored.seq > repair.last_kept_seq && anchored.seq < repair.anchored_seq);
}

absl::StatusOr<bool> IsKnownLoss(Transaction& transaction, const ChainHead& anchored) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute(absl::StrCat(kEntryColumns, "WHERE seq > $1 AND kind = $2 ORDER BY seq"),
                          {anchored.seq, std::string(kRepaired)}));
  for (const Row& row : rows) {
    ASSIGN_OR_RETURN(const bool is_known, AccountsFor(ServerEntryOf(row), anchored));
    if (is_known) return true;
  }
  return false;
}

// Of an entry REPAIRED that skips other numbers than it says.
absl::StatusOr<std::vector<std::string>> WrongRepairs(const ChainHead& before, const Entry& entry) {
  std::vector<std::string> findings;
  if (entry.kind != kRepaired) return findings;
  ASSIGN_OR_RETURN(const Repair repair, ParseRepair(entry.payload));
  const bool fits =
      repair.last_kept_seq == before.seq && entry.seq == std::max(before.seq, repair.anchored_seq) + 1;
  if (!fits) findings.push_back(absl::StrCat("entry ", entry.seq, " repairs another history than this one"));
  return findings;
}

// A migration waits for the locks of rows of this table, and blocks new ones.
absl::Status LockAgainstMigrations(WriteSet& change) {
  return change.transaction()
      .Execute(absl::StrCat("SELECT h.seq FROM chain_heads h WHERE h.dataset_id = $1",
                            LockingRowsOf(change.dialect(), "h")),
               {std::string(kServerHistory)})
      .status();
}

// Completes `entry` as the one after `head`, and queues it.
absl::Status QueueAfter(WriteSet& change, const ChainHead& head, int64_t head_created_at_us, Entry& entry) {
  ASSIGN_OR_RETURN(const int64_t now_us, ReadClock(change.transaction(), change.dialect()));
  entry.dataset_id = kServerHistory;
  entry.created_at_us = std::max(now_us, head_created_at_us);
  change.Reach(kServerHistory, Append(head, entry));
  QueueInsertion(change, entry);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EntryPlace> ReadServerHead(Transaction& transaction) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute(
                       "SELECT seq, hash, created_at_us FROM server_entries ORDER BY seq DESC LIMIT 1", {}));
  if (rows.empty()) return EntryPlace{.seq = 0, .hash = ChainHead().hash};
  const Row& row = rows.front();
  return EntryPlace{.seq = row.Integer(0), .hash = row.Blob(1), .created_at_us = row.Integer(2)};
}

absl::StatusOr<std::vector<Entry>> ReadServerEntries(Transaction& transaction, int64_t after_seq,
                                                     int64_t limit) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute(absl::StrCat(kEntryColumns, "WHERE seq > $1 ORDER BY seq LIMIT $2"),
                                       {after_seq, limit}));
  std::vector<Entry> entries;
  entries.reserve(rows.size());
  for (const Row& row : rows) entries.push_back(ServerEntryOf(row));
  return entries;
}

absl::Status CheckServerHead(Transaction& transaction, const EntryPlace& head, const AnchorView& anchored) {
  ASSIGN_OR_RETURN(const ChainHead expected, anchored.HeadOf(kServerHistory));
  if (expected.seq == 0 || (head.seq == expected.seq && head.hash == expected.hash)) return absl::OkStatus();
  if (head.seq < expected.seq) {
    return Damaged(
        absl::StrCat("it ends with entry ", head.seq, ", and the anchor knows entry ", expected.seq));
  }
  ASSIGN_OR_RETURN(const std::vector<Entry> entries, ReadServerEntries(transaction, expected.seq - 1, 1));
  if (!entries.empty() && entries.front().hash == expected.hash) return absl::OkStatus();
  ASSIGN_OR_RETURN(const bool is_known_loss, IsKnownLoss(transaction, expected));
  if (is_known_loss) return absl::OkStatus();
  return Damaged(absl::StrCat("it has another entry ", expected.seq, " than the anchor"));
}

absl::StatusOr<Verification> VerifyServerEntries(const ReadTransaction& read, const AnchorState& anchored) {
  constexpr int64_t kPage = 1000;
  RecountFindings findings;
  ChainHead head;
  int64_t count = 0;
  const auto anchor = anchored.heads.find(kServerHistory);
  const ChainHead expected = anchor == anchored.heads.end() ? ChainHead() : anchor->second;
  bool has_expected = expected.seq == 0;
  std::vector<Entry> entries;
  do {
    RETURN_IF_ERROR(read([&](Transaction& transaction) -> absl::Status {
      ASSIGN_OR_RETURN(entries, ReadServerEntries(transaction, head.seq, kPage));
      return absl::OkStatus();
    }));
    for (const Entry& entry : entries) {
      for (std::string& finding : BrokenLinks(head, entry)) findings.Add(std::move(finding));
      ASSIGN_OR_RETURN(std::vector<std::string> wrong, WrongRepairs(head, entry));
      for (std::string& finding : wrong) findings.Add(std::move(finding));
      head = {entry.seq, entry.hash};
      ASSIGN_OR_RETURN(const bool is_known_loss, AccountsFor(entry, expected));
      has_expected = has_expected || head == expected || is_known_loss;
      ++count;
    }
  } while (std::cmp_equal(entries.size(), kPage));
  if (!has_expected) {
    findings.Add(absl::StrCat("the history does not have entry ", expected.seq, " as the anchor knows it"));
  }
  return Verification{.ok = findings.count() == 0,
                      .entries_checked = count,
                      .head_hash = head.hash,
                      .anchored_seq = expected.seq,
                      .findings = findings.kept()};
}

// ---- SqlLedger

absl::StatusOr<EntryPlace> SqlLedger::ServerHead() {
  RETURN_IF_ERROR(CheckServerHistory());
  RETURN_IF_ERROR(anchor_->Refresh());
  EntryPlace head;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(head, ReadServerHead(transaction));
    return CheckServerHead(transaction, head, *anchor_);
  }));
  // The server that committed the entry may have died before its anchor did.
  if (head.seq == 0 || anchor_->IsDurable(kServerHistory, head.seq)) return head;
  AnchorState reached;
  reached.heads[kServerHistory] = {head.seq, head.hash};
  RETURN_IF_ERROR(anchor_->RaiseTo(reached));
  return head;
}

absl::StatusOr<Entry> SqlLedger::AppendServerEntry(const NewServerEntry& entry) {
  RETURN_IF_ERROR(CheckServerHistory());
  const std::string change_id = NewUuid();
  Entry appended;
  absl::Status damage;
  const absl::Status written = WriteInLane(kServerHistory, [&](WriteSet& change) -> absl::Status {
    Transaction& transaction = change.transaction();
    RETURN_IF_ERROR(LockAgainstMigrations(change));
    RETURN_IF_ERROR(CheckSchemaIs(transaction, schema_));
    ASSIGN_OR_RETURN(const EntryPlace head, ReadServerHead(transaction));
    damage = CheckServerHead(transaction, head, *anchor_);
    if (!damage.ok()) return absl::FailedPreconditionError(damage.message());
    if (head.seq > entry.after_seq) {
      ASSIGN_OR_RETURN(const std::vector<Entry> next, ReadServerEntries(transaction, entry.after_seq, 1));
      if (next.empty() || next.front().charge_id != change_id) {
        return absl::AbortedError("the server's history has grown meanwhile: ask again");
      }
      appended = next.front();
      change.Reach(kServerHistory, {head.seq, head.hash});
      return absl::OkStatus();
    }
    appended = Entry();
    appended.kind = entry.kind;
    appended.charge_id = change_id;
    appended.payload = entry.payload;
    appended.actor = entry.actor;
    return QueueAfter(change, {head.seq, head.hash}, head.created_at_us, appended);
  });
  RETURN_IF_ERROR(damage);
  RETURN_IF_ERROR(written);
  return appended;
}

absl::StatusOr<std::optional<Entry>> SqlLedger::RepairServerHistory(std::string_view actor,
                                                                    std::string_view reason) {
  RETURN_IF_ERROR(CheckText("reason", reason));
  ASSIGN_OR_RETURN(const Verification alone,
                   VerifyServerEntries([this](const Body& body) { return ReadLong(body); }, AnchorState()));
  if (!alone.ok) return Damaged(alone.findings.front());
  const std::string change_id = NewUuid();
  std::optional<Entry> appended;
  RETURN_IF_ERROR(WriteInLane(kServerHistory, [&](WriteSet& change) -> absl::Status {
    Transaction& transaction = change.transaction();
    RETURN_IF_ERROR(LockAgainstMigrations(change));
    RETURN_IF_ERROR(CheckSchemaIs(transaction, schema_));
    appended.reset();
    ASSIGN_OR_RETURN(const EntryPlace head, ReadServerHead(transaction));
    const absl::Status state = CheckServerHead(transaction, head, *anchor_);
    if (!state.ok() && !absl::IsDataLoss(state)) return state;
    if (state.ok()) {
      // An earlier attempt, whose connection was lost, may have been committed.
      ASSIGN_OR_RETURN(std::vector<Entry> newest, ReadServerEntries(transaction, head.seq - 1, 1));
      const bool is_mine = !newest.empty() && newest.front().charge_id == change_id;
      if (!is_mine) return absl::OkStatus();
      appended = std::move(newest.front());
      change.Reach(kServerHistory, {head.seq, head.hash});
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const ChainHead anchored, anchor_->HeadOf(kServerHistory));
    appended.emplace();
    appended->kind = kRepaired;
    appended->charge_id = change_id;
    appended->payload = EncodePayload(Repair{.reason = std::string(reason),
                                             .last_kept_seq = head.seq,
                                             .anchored_seq = anchored.seq,
                                             .anchored_hash = anchored.hash});
    appended->actor = std::string(actor);
    return QueueAfter(change, {std::max(head.seq, anchored.seq), head.hash}, head.created_at_us, *appended);
  }));
  RETURN_IF_ERROR(VerifyServerHistory().status());
  RETURN_IF_ERROR(CheckServerHistory());
  return appended;
}

absl::Status SqlLedger::CheckServerHistory() {
  const std::scoped_lock lock(mutex_);
  return server_damage_;
}

absl::StatusOr<std::vector<Entry>> SqlLedger::ListServerEntries(const Page& page) {
  std::vector<Entry> entries;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(entries, ReadServerEntries(transaction, page.after_seq, page.limit));
    return absl::OkStatus();
  }));
  return entries;
}

absl::StatusOr<bool> SqlLedger::KnowsPrincipal(std::string_view name) {
  bool is_known = false;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    for (const char* select : {"SELECT id FROM datasets WHERE owner = $1 LIMIT 1",
                               "SELECT dataset_id FROM grants WHERE grantee = $1 LIMIT 1",
                               "SELECT id FROM charges WHERE principal = $1 LIMIT 1"}) {
      ASSIGN_OR_RETURN(const std::vector<Row> rows, transaction.Execute(select, {std::string(name)}));
      is_known = is_known || !rows.empty();
    }
    return absl::OkStatus();
  }));
  return is_known;
}

absl::StatusOr<bool> SqlLedger::OwnsOpenDataset(std::string_view name) {
  bool owns = false;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(
        const std::vector<Row> rows,
        transaction.Execute("SELECT id FROM datasets WHERE owner = $1 AND state <> 'ARCHIVED' AND "
                            "name < '~' LIMIT 1",
                            {std::string(name)}));
    owns = !rows.empty();
    return absl::OkStatus();
  }));
  return owns;
}

absl::StatusOr<Verification> SqlLedger::VerifyServerHistory() {
  // The anchor is read first: the store can only be further.
  ASSIGN_OR_RETURN(const AnchorState anchored, anchor_->Read());
  ASSIGN_OR_RETURN(Verification verification,
                   VerifyServerEntries([this](const Body& body) { return ReadLong(body); }, anchored));
  for (const std::string& finding : verification.findings) {
    Notify(options_.report, "server_history_damaged", finding);
  }
  const std::scoped_lock lock(mutex_);
  server_damage_ = verification.ok ? absl::OkStatus() : Damaged(verification.findings.front());
  return verification;
}

}  // namespace curator::ledger::sql
