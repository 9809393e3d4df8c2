// What principals use of their daily quotas: one sum for each principal, day and quota.
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

absl::Status CheckDailyUse(const DailyUse& use) {
  RETURN_IF_ERROR(CheckText("principal", use.principal));
  if (use.quota.empty()) return InvalidField("quota", "must name a quota");
  if (use.amount < 0) return InvalidField("amount", "must not be negative");
  return absl::OkStatus();
}

// Sums are of no history: their writers wait for each other, and for no lineage.
std::string LaneOfQuotas(const Dialect& dialect) {
  return HasOneWriter(dialect) ? "" : "quotas";
}

}  // namespace

absl::StatusOr<bool> SqlLedger::UseQuota(const DailyUse& use, int64_t most) {
  RETURN_IF_ERROR(CheckDailyUse(use));
  if (use.amount > most) return false;
  bool is_added = false;
  RETURN_IF_ERROR(WriteInLane(LaneOfQuotas(database_->dialect()), [&](WriteSet& change) -> absl::Status {
    // What is left is compared, because a sum might exceed an integer.
    ASSIGN_OR_RETURN(
        const std::vector<Row> added,
        change.transaction().Execute(
            "INSERT INTO quota_use (principal, day, quota, used) VALUES ($1, $2, $3, $4) ON CONFLICT "
            "(principal, day, quota) DO UPDATE SET used = quota_use.used + excluded.used "
            "WHERE quota_use.used <= $5 RETURNING used",
            {use.principal, use.day, use.quota, use.amount, most - use.amount}));
    is_added = !added.empty();
    return absl::OkStatus();
  }));
  return is_added;
}

absl::Status SqlLedger::ReturnQuota(const DailyUse& use) {
  RETURN_IF_ERROR(CheckDailyUse(use));
  return WriteInLane(LaneOfQuotas(database_->dialect()), [&](WriteSet& change) -> absl::Status {
    return change.transaction()
        .Execute(
            "UPDATE quota_use SET used = CASE WHEN used > $4 THEN used - $4 ELSE 0 END "
            "WHERE principal = $1 AND day = $2 AND quota = $3",
            {use.principal, use.day, use.quota, use.amount})
        .status();
  });
}

absl::StatusOr<int64_t> SqlLedger::QuotaUsed(std::string_view principal, std::string_view quota,
                                             int64_t day) {
  int64_t used = 0;
  RETURN_IF_ERROR(ReadOnce([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(
        const std::vector<Row> rows,
        transaction.Execute("SELECT used FROM quota_use WHERE principal = $1 AND day = $2 AND quota = $3",
                            {std::string(principal), day, std::string(quota)}));
    used = rows.empty() ? 0 : rows.front().Integer(0);
    return absl::OkStatus();
  }));
  return used;
}

absl::StatusOr<int64_t> SqlLedger::SweepQuotaUse(int64_t before_day) {
  constexpr int64_t kMostAtOnce = 1000;
  std::vector<Parameters> old;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.Execute(
                         "SELECT principal, day, quota FROM quota_use WHERE day < $1 ORDER BY day LIMIT $2",
                         {before_day, kMostAtOnce}));
    old.clear();
    for (const Row& row : rows) old.push_back({row.Text(0), row.Integer(1), row.Text(2)});
    return absl::OkStatus();
  }));
  if (old.empty()) return 0;
  RETURN_IF_ERROR(WriteInLane(LaneOfQuotas(database_->dialect()), [&](WriteSet& change) -> absl::Status {
    return change.transaction()
        .ExecuteEach("DELETE FROM quota_use WHERE principal = $1 AND day = $2 AND quota = $3", old)
        .status();
  }));
  return static_cast<int64_t>(old.size());
}

}  // namespace curator::ledger::sql
