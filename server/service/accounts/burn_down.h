// How an account came to what it has spent: points for a chart.
//
// Thread-safe: functions over the ledger.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "ledger/ledger.h"
#include "service/access.h"

namespace curator::service {

struct BurnDownQuery {
  DatasetName dataset;
  std::string account;  // its name (ledger::AccountName()); empty: the dataset's own
  // Seconds since 1970, both included. None: from the first point on; until the newest.
  std::optional<int64_t> from_second = {};
  std::optional<int64_t> to_second = {};
  int64_t most_points = 500;  // of each counter; 1 to ledger::kMostPoints
};

struct BurnDownCounter {
  std::string name;
  std::vector<ledger::CounterPoint> points;  // as of Ledger::CounterPoints()
};

struct BurnDown {
  std::string account;
  std::vector<BurnDownCounter> counters;  // in the order of the account's
};

// Who sees the account as a participant, neither as owner, approver or auditor of the dataset nor as the one
// who alone spends from it, gets what it had at the end of each hour that has passed, and what it has now
// (PointsQuery::step_seconds).
//
// What it costs grows with the number of points alone, whatever the history. Errors: INVALID_ARGUMENT
// (account) for one that there is not, or that is not the principal's to see; (points), (to).
absl::StatusOr<BurnDown> GetBurnDown(const Access& access, const Principal& principal,
                                     const BurnDownQuery& query);

}  // namespace curator::service
