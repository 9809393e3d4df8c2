// How many charges had each event. The counts up to one entry of each history are stored, so that a reader
// counts only what came later; a server moves that entry forward in the background. For information: no
// charge is admitted or refused by these counts.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

// A reader counts at most this many entries itself; a step in the background as many.
constexpr int64_t kMostEntries = 1000;
// From how many on they are left to the background.
constexpr int64_t kMostUncounted = 256;
// Counts of one principal, or of all.
constexpr char kAll[] = "";

// By principal (or kAll) and event: how many charges more.
using Counts = std::map<std::pair<std::string, std::string>, int64_t>;

struct Counted {
  Counts counts;
  int64_t upto = 0;     // the seq of the last entry that was read
  int64_t entries = 0;  // that were read
};

absl::StatusOr<int64_t> CountedUpTo(Transaction& transaction, const std::string& dataset_id) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute("SELECT counted_seq FROM event_counts_upto WHERE dataset_id = $1", {dataset_id}));
  return rows.empty() ? 0 : rows.front().Integer(0);
}

// The next entries of the history: charges that were made, and reservations that were cancelled.
absl::StatusOr<Counted> CountAfter(Transaction& transaction, const std::string& dataset_id, int64_t seq) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute("SELECT e.seq, e.kind, c.principal, c.event FROM entries e LEFT JOIN charges c ON "
                          "c.id = e.charge_id WHERE e.dataset_id = $1 AND e.seq > $2 ORDER BY e.seq LIMIT $3",
                          {dataset_id, seq, kMostEntries}));
  Counted counted{.counts = {}, .upto = seq, .entries = static_cast<int64_t>(rows.size())};
  for (const Row& row : rows) {
    counted.upto = row.Integer(0);
    const std::string& kind = row.Text(1);
    const int64_t change = kind == kCharged || kind == kReserved ? 1 : kind == kCancelled ? -1 : 0;
    if (change == 0 || row.IsNull(2)) continue;
    for (const std::string& principal : {row.Text(2), std::string(kAll)}) {
      counted.counts[{principal, row.Blob(3)}] += change;
    }
  }
  return counted;
}

absl::Status AddCounts(Transaction& transaction, const std::string& dataset_id, const Counts& counts) {
  for (const auto& [key, change] : counts) {
    const auto& [principal, event] = key;
    if (change == 0) continue;
    const Bytes hash{Sha256(event)};
    ASSIGN_OR_RETURN(
        const std::vector<Row> updated,
        transaction.Execute("UPDATE event_counts SET charges = charges + $4 WHERE dataset_id = $1 "
                            "AND principal = $2 AND event_hash = $3 RETURNING charges",
                            {dataset_id, principal, hash, change}));
    if (!updated.empty()) continue;
    RETURN_IF_ERROR(
        transaction
            .Execute("INSERT INTO event_counts (dataset_id, principal, event_hash, event, charges) "
                     "VALUES ($1, $2, $3, $4, $5)",
                     {dataset_id, principal, hash, Bytes{event}, change})
            .status());
  }
  return absl::OkStatus();
}

// As a lock of a chain does (Dialect::fence), and without one: no row has this key.
absl::Status WaitForMigration(Transaction& transaction, const Dialect& dialect) {
  return transaction
      .Execute(absl::StrCat("SELECT h.dataset_id FROM chain_heads h WHERE h.dataset_id = ''",
                            LockingRowsOf(dialect, "h")),
               {})
      .status();
}

// Adds the next entries of one dataset to its stored counts, and returns how many there were.
absl::StatusOr<int64_t> Advance(Transaction& transaction, const Dialect& dialect,
                                const std::string& dataset_id) {
  RETURN_IF_ERROR(transaction
                      .Execute("INSERT INTO event_counts_upto (dataset_id, counted_seq) VALUES ($1, 0) "
                               "ON CONFLICT (dataset_id) DO NOTHING",
                               {dataset_id})
                      .status());
  // Locked, so that two servers do not count the same entries.
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute(absl::StrCat("SELECT u.counted_seq FROM event_counts_upto u WHERE "
                                                    "u.dataset_id = $1",
                                                    LockingRowsOf(dialect, "u")),
                                       {dataset_id}));
  ASSIGN_OR_RETURN(const Counted counted, CountAfter(transaction, dataset_id, rows.at(0).Integer(0)));
  RETURN_IF_ERROR(AddCounts(transaction, dataset_id, counted.counts));
  RETURN_IF_ERROR(transaction
                      .Execute("UPDATE event_counts_upto SET counted_seq = $2 WHERE dataset_id = $1",
                               {dataset_id, counted.upto})
                      .status());
  return counted.entries;
}

// The counts of one principal, or of all; at most `most` that are stored, and those of newer entries.
class CountsOfOne {
 public:
  CountsOfOne(std::string principal, int64_t most) : principal_(std::move(principal)), most_(most) {}

  absl::Status AddDataset(Transaction& transaction, const std::string& dataset_id) {
    ASSIGN_OR_RETURN(const int64_t upto, CountedUpTo(transaction, dataset_id));
    ASSIGN_OR_RETURN(const Counted newer, CountAfter(transaction, dataset_id, upto));
    if (newer.entries > kMostUncounted) behind_.insert(dataset_id);
    if (newer.entries == kMostEntries) has_too_many_ = true;
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.Execute("SELECT event, charges FROM event_counts WHERE dataset_id = $1 AND "
                                         "principal = $2 LIMIT $3",
                                         {dataset_id, principal_, most_}));
    for (const Row& row : rows) counts_[row.Blob(0)] += row.Integer(1);
    for (const auto& [key, change] : newer.counts) {
      if (key.first == principal_) counts_[key.second] += change;
    }
    return absl::OkStatus();
  }

  // The datasets whose counts the background has to bring forward.
  const std::set<std::string>& behind() const { return behind_; }
  // Whether there were more new entries than a reader counts.
  bool has_too_many() const { return has_too_many_; }

  std::vector<EventCount> Take() && {
    std::vector<EventCount> counts;
    for (auto& [event, charges] : counts_) {
      if (charges > 0 && static_cast<int64_t>(counts.size()) < most_) counts.push_back({event, charges});
    }
    return counts;
  }

 private:
  const std::string principal_;
  const int64_t most_;
  std::map<std::string, int64_t> counts_;
  std::set<std::string> behind_;
  bool has_too_many_ = false;
};

}  // namespace

absl::StatusOr<std::vector<EventCount>> SqlLedger::CountEvents(std::string_view dataset_id,
                                                               std::string_view principal, int64_t most) {
  if (most < 1) return InvalidField("most", "is less than 1");
  std::optional<CountsOfOne> counts;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::string lineage, ReadLineageId(transaction, dataset_id));
    ASSIGN_OR_RETURN(const std::vector<Row> datasets,
                     transaction.Execute("SELECT id FROM datasets WHERE lineage_id = $1", {lineage}));
    counts.emplace(std::string(principal), most);
    for (const Row& row : datasets) RETURN_IF_ERROR(counts->AddDataset(transaction, row.Text(0)));
    return absl::OkStatus();
  }));
  {
    const std::lock_guard lock(uncounted_mutex_);
    uncounted_.insert(counts->behind().begin(), counts->behind().end());
  }
  if (counts->has_too_many()) {
    return absl::UnavailableError("the charges so far are still being counted: ask again in a minute");
  }
  return std::move(*counts).Take();
}

absl::StatusOr<bool> SqlLedger::AdvanceCounts() {
  RETURN_IF_ERROR(CheckWritable());
  std::string dataset_id;
  {
    const std::lock_guard lock(uncounted_mutex_);
    if (uncounted_.empty()) return false;
    dataset_id = *uncounted_.begin();
  }
  int64_t entries = 0;
  // No entry and no counter changes, so the chains are not locked and the anchor has nothing to cover.
  const Outcome outcome = database_->Write([&](Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(WaitForMigration(transaction, database_->dialect()));
    RETURN_IF_ERROR(CheckSchemaIs(transaction, schema_));
    ASSIGN_OR_RETURN(entries, Advance(transaction, database_->dialect(), dataset_id));
    return absl::OkStatus();
  });
  if (IsOutdated(outcome.status)) return RefuseChanges(outcome.status);
  const std::lock_guard lock(uncounted_mutex_);
  // A dataset whose step fails stops the counts of no other: the next CountEvents() adds it again.
  if (!outcome.status.ok() || entries < kMostEntries) uncounted_.erase(dataset_id);
  RETURN_IF_ERROR(outcome.status);
  return !uncounted_.empty();
}

}  // namespace curator::ledger::sql
