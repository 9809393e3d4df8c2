#include "ledger/sql/points_check.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/status_macros.h"

namespace curator::ledger::sql {
namespace {

constexpr int64_t kPointsAtOnce = 64;

std::string NameOfCounter(const CounterKey& key, const Recount& recount) {
  return absl::StrCat(recount.NameOfAccount(key.first), ", counter ", key.second);
}

bool IsState(const CounterPoint& point, const RecountedCounter& state) {
  return point.spent == state.spent && point.held == state.held && point.limit == state.limit;
}

}  // namespace

absl::Status PointsCheck::ReadMore(Transaction& transaction, const CounterKey& key, Walk& walk) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute("SELECT second, limit_value, spent, held FROM counter_points WHERE account_id = $1 "
                          "AND counter = $2 AND second > $3 ORDER BY second LIMIT $4",
                          {key.first, key.second, walk.last_read, kPointsAtOnce}));
  for (const Row& row : rows) {
    walk.next.push_back(
        {.second = row.Integer(0), .limit = row.Integer(1), .spent = row.Integer(2), .held = row.Integer(3)});
    walk.last_read = row.Integer(0);
  }
  walk.is_at_end = static_cast<int64_t>(rows.size()) < kPointsAtOnce;
  return absl::OkStatus();
}

absl::Status PointsCheck::DropFound(Transaction& transaction, const CounterKey& key, Walk& walk) {
  while (true) {
    if (walk.next.empty() && !walk.is_at_end) RETURN_IF_ERROR(ReadMore(transaction, key, walk));
    if (walk.next.empty() || !IsState(walk.next.front(), walk.state)) return absl::OkStatus();
    walk.next.pop_front();
  }
}

absl::Status PointsCheck::Follow(Transaction& transaction, const std::vector<CounterChange>& changes) {
  for (const CounterChange& change : changes) {
    Walk& walk = walks_[change.key];
    walk.state = change.state;
    RETURN_IF_ERROR(DropFound(transaction, change.key, walk));
  }
  return absl::OkStatus();
}

absl::Status PointsCheck::Finish(Transaction& transaction, const Recount& recount,
                                 RecountFindings& findings) {
  for (auto& [key, walk] : walks_) {
    // Changes may have been committed since the walk found that there are no more points.
    walk.is_at_end = false;
    RETURN_IF_ERROR(DropFound(transaction, key, walk));
    if (walk.next.empty()) continue;
    findings.Add(
        absl::StrCat(NameOfCounter(key, recount), ": the entries do not give its point of ",
                     absl::FormatTime(absl::FromUnixSeconds(walk.next.front().second), absl::UTCTimeZone())));
  }
  return absl::OkStatus();
}

PointsCheck PointsCheck::PartFor(const std::vector<CounterChange>& changes) const {
  PointsCheck part;
  for (const CounterChange& change : changes) {
    const auto found = walks_.find(change.key);
    if (found != walks_.end()) part.walks_.insert(*found);
  }
  return part;
}

void PointsCheck::Merge(PointsCheck part) {
  for (auto& [key, walk] : part.walks_) walks_[key] = std::move(walk);
}

absl::Status CompareNewestPoints(Transaction& transaction, const std::string& lineage_id,
                                 const Recount& recount, RecountFindings& findings) {
  constexpr int64_t kMostNamed = 100;
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute(
          "SELECT c.account_id, c.counter FROM accounts a JOIN account_counters c ON c.account_id = a.id "
          "WHERE a.lineage_id = $1 AND NOT EXISTS (SELECT 1 FROM counter_points p WHERE p.account_id = "
          "c.account_id AND p.counter = c.counter AND p.spent = c.spent AND p.held = c.held AND "
          "p.limit_value = c.limit_value AND p.second = (SELECT MAX(n.second) FROM counter_points n WHERE "
          "n.account_id = c.account_id AND n.counter = c.counter)) LIMIT $2",
          {lineage_id, kMostNamed}));
  for (const Row& row : rows) {
    findings.Add(absl::StrCat(NameOfCounter({row.Integer(0), row.Text(1)}, recount),
                              ": its points do not end with what it has"));
  }
  return absl::OkStatus();
}

}  // namespace curator::ledger::sql
