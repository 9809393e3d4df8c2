// A change of one dataset's charges that shares a transaction with others (change_combiner.h): a new charge,
// a reservation, the start or the end of one, a stored release.
//
// Belongs to the caller that waits for it; another thread may decide it meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/sql/rows.h"
#include "ledger/sql/write_set.h"

namespace curator::ledger::sql {

// The principal and the request id under which a charge is made.
using ChargeKey = std::pair<std::string, std::string>;
inline ChargeKey ChargeKeyOf(const ChargeRequest& request) {
  return {request.principal.name(), request.request_id};
}
inline ChargeKey ChargeKeyOf(const Charge& charge) {
  return {charge.principal, charge.request_id};
}

// What a transaction locks, and the charges that it looks up.
struct Needs {
  std::set<std::string> dataset_ids;
  std::set<int64_t> account_ids;
  std::set<ChargeKey> keys;
  std::set<std::string> charge_ids;
};

// The charges that were found, as they are under the locks.
class FoundCharges {
 public:
  // Null when there is none.
  const StoredCharge* ByKey(const ChargeKey& key) const;
  const StoredCharge* ById(const std::string& charge_id) const;

  void Add(StoredCharge stored);

 private:
  std::map<std::string, StoredCharge> by_id_;
  std::map<ChargeKey, std::string> ids_;
};

class CombinedChange {
 public:
  virtual ~CombinedChange() = default;

  virtual const std::string& dataset_id() const = 0;
  virtual size_t bytes() const = 0;
  // Of the charges that it makes or changes: a transaction has no two changes of one charge.
  virtual std::vector<ChargeKey> keys() const = 0;
  virtual void AddNeeds(Needs& needs) const = 0;

  // Decides under locks, and queues what is to be written. An error refuses this change alone, which has then
  // queued nothing. May run several times, in different transactions: what the last run has decided counts.
  virtual absl::Status Decide(WriteSet& change, const FoundCharges& found) = 0;
  // The same from cached heads, and from what the caller knows, without a look-up: an error means that it
  // cannot be decided so, and says nothing about the change.
  virtual absl::Status DecideOptimistically(WriteSet& change) = 0;
};

// Locks and looks up what `changes` need, and decides them in order. Returns what each was refused with, or
// OK. An error of the function itself is the store's, and then nothing was decided.
absl::StatusOr<std::vector<absl::Status>> DecideTogether(WriteSet& change,
                                                         const std::vector<CombinedChange*>& changes);

}  // namespace curator::ledger::sql
