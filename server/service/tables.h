// The tables of requests: obtained before anything is charged, and kept ready by a loader in the background.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/principal.h"
#include "ledger/ledger.h"
#include "records/dataset_store.h"
#include "service/access.h"
#include "service/charges/request_scope.h"

namespace curator::service {

// The table that a request reads, to be obtained before it is charged and moved into its draw: once it is
// here, nothing that is known before the draw can fail. None when the request has ended before: it is
// answered from the ledger, in any state of the tables. Never waits for a load, except for a started charge
// on an archived dataset, whose table is no longer kept: that request has paid, and waits for the load.
//
// Errors: those of ReadyTables::Find(): nothing was charged. A charge that another process or an earlier
// attempt has started stays as it is, and the error of the same code says so.
absl::StatusOr<std::optional<records::ReadyTable>> TableFor(
    ledger::Ledger& ledger, records::DatasetStore& store, const DatasetView& dataset,
    const RequestScope& scope, const Principal& principal, std::string_view request_id);

// The same for the owner, who may know how long a load takes: loads what is not ready.
absl::StatusOr<records::ReadyTable> TableForOwner(records::DatasetStore& store,
                                                  const std::vector<records::SealedId>& tables);

// Keeps the tables of all sealed datasets ready: loads, in the order of their names, those that are in the
// ledger and not ready, and forgets those of archived datasets. Every `period` it does so again, for what
// other processes have sealed and for what could not be read. What was wrong with a table goes to the log.
//
// What has been loaded is published in steps, `kFirstStep` after a pass began, after twice that, four times,
// and so on. A client that asks until a table is ready thus learns the time of its load, together with that
// of the tables before it, to a factor of two only.
class TableLoader {
 public:
  static constexpr absl::Duration kFirstStep = absl::Milliseconds(50);

  // Both must outlive it.
  TableLoader(ledger::Ledger& ledger, records::DatasetStore& store, absl::Duration period);
  ~TableLoader();  // stops soon, also within a load
  TableLoader(const TableLoader&) = delete;
  TableLoader& operator=(const TableLoader&) = delete;

  // Waits until the first pass has published what it found, for at most `longest`.
  void AwaitFirstPass(absl::Duration longest);

 private:
  class Pass;
  void Run(const std::stop_token& stop);
  absl::Status RunPass(const std::stop_token& stop);
  // False when it was stopped.
  bool WaitUntil(std::chrono::steady_clock::time_point time, const std::stop_token& stop);

  ledger::Ledger& ledger_;
  records::DatasetStore& store_;
  const absl::Duration period_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::set<std::string> removed_;  // deleted datasets without records; of the thread alone
  bool is_first_pass_done_ ABSL_GUARDED_BY(mutex_) = false;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace curator::service
