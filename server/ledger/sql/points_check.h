// The points of counters against the entries: what charts show of the past is what the entries give. Nothing
// is admitted by a point, so these findings stop no charge.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "ledger/history/recount.h"
#include "ledger/sql/database.h"
#include "ledger/types.h"

namespace curator::ledger::sql {

// In a lineage of one dataset the entries order all states of a counter, and its points must be some of them
// in that order. The second of a point is not compared: entries do not have it.
//
// Holds a few points of each counter, whatever the history.
class PointsCheck {
 public:
  // Takes the next changes of all counters, in the order of their entries.
  absl::Status Follow(Transaction& transaction, const std::vector<CounterChange>& changes);
  // After all changes: a finding for each counter with a point that none of them gives.
  absl::Status Finish(Transaction& transaction, const Recount& recount, RecountFindings& findings);

  // The part that the changes concern, to be tried in a transaction which may run again; Merge() keeps it.
  PointsCheck PartFor(const std::vector<CounterChange>& changes) const;
  void Merge(PointsCheck part);

 private:
  struct Walk {
    std::deque<CounterPoint> next;                            // the points after those that were found
    int64_t last_read = std::numeric_limits<int64_t>::min();  // the second of the last point in `next` so far
    bool is_at_end = false;                                   // there are no points after `next`
    RecountedCounter state;
  };
  static absl::Status ReadMore(Transaction& transaction, const CounterKey& key, Walk& walk);
  // Drops the next points as long as they are the walk's state.
  static absl::Status DropFound(Transaction& transaction, const CounterKey& key, Walk& walk);

  std::map<CounterKey, Walk> walks_;
};

// A finding for each counter of the lineage whose newest point is not what the counter has.
absl::Status CompareNewestPoints(Transaction& transaction, const std::string& lineage_id,
                                 const Recount& recount, RecountFindings& findings);

}  // namespace curator::ledger::sql
