// The points of counters, which triggers of the store write (migration 22).
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

constexpr std::string_view kLastPoint =
    "SELECT second, limit_value, spent, held FROM counter_points WHERE account_id = $1 AND counter = $2 AND "
    "second <= $3 ORDER BY second DESC LIMIT 1";

absl::Status CheckQuery(const PointsQuery& query) {
  if (query.most < 1 || query.most > kMostPoints) {
    return InvalidField("most", absl::StrCat("must be from 1 to ", kMostPoints));
  }
  if (query.from_second && query.to_second && *query.to_second < *query.from_second) {
    return InvalidField("to_second", "lies before the first second");
  }
  if (query.step_seconds < 1) return InvalidField("step_seconds", "must be positive");
  return absl::OkStatus();
}

// A query with both of its ends.
struct Stretch {
  const PointsQuery& query;
  int64_t first = 0;
  int64_t last = 0;
  int64_t newest = 0;  // the second of the counter's newest point
};

CounterPoint PointOf(const Row& row) {
  return {.second = row.Integer(0), .limit = row.Integer(1), .spent = row.Integer(2), .held = row.Integer(3)};
}

// The last point up to each of these seconds, which ascend, each point once.
absl::StatusOr<std::vector<CounterPoint>> LastPoints(Transaction& transaction, const PointsQuery& query,
                                                     const std::vector<int64_t>& seconds) {
  Statement look_up{.text = kLastPoint,
                    .each = {},
                    .key_types = {ColumnType::kInteger, ColumnType::kText, ColumnType::kInteger}};
  for (const int64_t second : seconds) look_up.each.push_back({query.account_id, query.counter, second});
  ASSIGN_OR_RETURN(const std::vector<Answers> found, transaction.ExecuteTogether({look_up}));
  std::vector<CounterPoint> points;
  for (const std::vector<Row>& rows : found.at(0)) {
    if (rows.empty()) continue;
    const CounterPoint point = PointOf(rows.front());
    if (points.empty() || points.back().second != point.second) points.push_back(point);
  }
  return points;
}

// The last seconds of at most so many parts of about equal length, each of whole steps.
std::vector<int64_t> EndsOfParts(const Stretch& stretch, int64_t most) {
  const int64_t steps = (stretch.last - stretch.first + 1) / stretch.query.step_seconds;
  const int64_t parts = std::min(most, steps);
  std::vector<int64_t> ends;
  for (int64_t i = 1; i <= parts; ++i) {
    const int64_t steps_before = steps / parts * i + steps % parts * i / parts;
    ends.push_back(stretch.first - 1 + steps_before * stretch.query.step_seconds);
  }
  return ends;
}

// The last second of the step before the one of `second`.
int64_t EndOfStepBefore(int64_t second, int64_t step) {
  const int64_t in_step = ((second % step) + step) % step;
  return second - in_step - 1;
}

bool HaveEqualAmounts(const CounterPoint& one, const CounterPoint& other) {
  return one.limit == other.limit && one.spent == other.spent && one.held == other.held;
}

// None where they are more than the query wants.
absl::StatusOr<std::optional<std::vector<CounterPoint>>> AllPoints(Transaction& transaction,
                                                                   const Stretch& stretch) {
  const PointsQuery& query = stretch.query;
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute("SELECT second, limit_value, spent, held FROM counter_points WHERE account_id = $1 "
                          "AND counter = $2 AND second >= $3 AND second <= $4 ORDER BY second LIMIT $5",
                          {query.account_id, query.counter, stretch.first, stretch.last, query.most + 1}));
  if (static_cast<int64_t>(rows.size()) > query.most) return std::nullopt;
  std::vector<CounterPoint> points;
  for (const Row& row : rows) points.push_back(PointOf(row));
  return points;
}

// None for a counter without points, or whose first one comes after the query's end.
absl::StatusOr<std::optional<Stretch>> StretchOf(Transaction& transaction, const PointsQuery& query) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute(
          "SELECT (SELECT MIN(second) FROM counter_points WHERE account_id = $1 AND counter = $2), "
          "(SELECT MAX(second) FROM counter_points WHERE account_id = $1 AND counter = $2)",
          {query.account_id, query.counter}));
  if (rows.at(0).IsNull(0)) return std::nullopt;
  const int64_t first = query.from_second.value_or(rows.at(0).Integer(0));
  const int64_t newest = rows.at(0).Integer(1);
  if (query.to_second.has_value() && *query.to_second < first) return std::nullopt;
  const int64_t last = query.to_second.value_or(newest);
  return Stretch{.query = query, .first = first, .last = std::max(first, last), .newest = newest};
}

absl::StatusOr<std::vector<CounterPoint>> PointsOf(Transaction& transaction, const Stretch& stretch) {
  ASSIGN_OR_RETURN(const std::optional<std::vector<CounterPoint>> all, AllPoints(transaction, stretch));
  std::vector<int64_t> ends = {stretch.first - 1};
  if (!all.has_value()) {
    const std::vector<int64_t> of_parts = EndsOfParts(stretch, stretch.query.most);
    ends.insert(ends.end(), of_parts.begin(), of_parts.end());
  }
  ASSIGN_OR_RETURN(std::vector<CounterPoint> points, LastPoints(transaction, stretch.query, ends));
  if (all.has_value()) points.insert(points.end(), all->begin(), all->end());
  return points;
}

// What is known of the counter without the seconds of its points: of steps that have passed by the database's
// clock, `now` in seconds, and of now.
absl::StatusOr<std::vector<CounterPoint>> PointsOfSteps(Transaction& transaction, const Stretch& asked,
                                                        int64_t now) {
  const PointsQuery& query = asked.query;
  const int64_t step = query.step_seconds;
  Stretch stretch = asked;
  stretch.first = EndOfStepBefore(asked.first, step) + 1;
  stretch.last = EndOfStepBefore(now, step);
  if (!query.to_second) stretch.last = std::min(stretch.last, EndOfStepBefore(asked.newest, step) + step);
  if (query.to_second && *query.to_second < now) stretch.last = EndOfStepBefore(*query.to_second + 1, step);
  const bool ends_now = !query.to_second || *query.to_second >= now;
  std::vector<int64_t> ends = {stretch.first - 1};
  if (stretch.last >= stretch.first) {
    const std::vector<int64_t> of_parts = EndsOfParts(stretch, query.most - (ends_now ? 1 : 0));
    ends.insert(ends.end(), of_parts.begin(), of_parts.end());
  }
  if (ends_now) ends.push_back(std::max(now, stretch.newest));
  ASSIGN_OR_RETURN(const std::vector<CounterPoint> found, LastPoints(transaction, query, ends));
  std::vector<CounterPoint> points;
  for (CounterPoint point : found) {
    // A change that was taken back in its step is not shown.
    if (!points.empty() && HaveEqualAmounts(points.back(), point)) continue;
    // The end of its own step; of the newest one, which has not ended, now.
    const int64_t end = EndOfStepBefore(point.second, step) + step;
    point.second = end < now ? end : now;
    points.push_back(point);
  }
  return points;
}

}  // namespace

absl::StatusOr<std::vector<CounterPoint>> SqlLedger::CounterPoints(const PointsQuery& query) {
  RETURN_IF_ERROR(CheckQuery(query));
  std::vector<CounterPoint> points;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    points.clear();
    ASSIGN_OR_RETURN(const std::optional<Stretch> stretch, StretchOf(transaction, query));
    if (!stretch.has_value()) return absl::OkStatus();
    if (query.step_seconds == 1) {
      ASSIGN_OR_RETURN(points, PointsOf(transaction, *stretch));
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const int64_t now_us, ReadClock(transaction, database_->dialect()));
    ASSIGN_OR_RETURN(points, PointsOfSteps(transaction, *stretch, now_us / 1'000'000));
    return absl::OkStatus();
  }));
  return points;
}

}  // namespace curator::ledger::sql
