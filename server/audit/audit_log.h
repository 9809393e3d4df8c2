// Takes the records of calls that ended, and writes them behind the calls' backs: one line of the log each,
// and rows of the store in batches.
//
// A call never waits for its record and never fails with it. When records come faster than they are written,
// or the store fails, they are dropped and counted, and the next batch that the store takes begins with a
// record GAP that says how many are missing. A batch whose connection broke while it was committed counts as
// dropped and may be there nevertheless.
//
// The first record of a log is STARTED, and the last one STOPPED. A server that has neither stopped nor runs
// ended without writing its last records: at most those of one batch's delay, unless there was more to do.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "audit/audit_record.h"
#include "audit/audit_store.h"
#include "audit/refusal_bound.h"

namespace curator::audit {

class AuditLog {
 public:
  struct Options {
    std::string server;                                 // AuditRecord::server of all records
    std::function<int64_t()> now_us;                    // microseconds since 1970; thread-safe
    std::function<void(const AuditRecord&)> on_record;  // for the log; called on the thread that writes
    // Called on that thread when the store begins to fail in another way than before, and when records were
    // dropped. The message is for operators.
    std::function<void(const absl::Status&)> on_error;
    size_t most_queued = 10'000;
    size_t most_in_batch = 500;
    absl::Duration longest_delay = absl::Milliseconds(200);  // of a batch that is not full
    absl::Duration longest_flush = absl::Seconds(5);         // when the log is destroyed
    int64_t refusals_a_day = RefusalBound::kADay;
  };

  // `store` must outlive the log.
  AuditLog(AuditStore& store, Options options);
  // Writes what is queued, for at most `longest_flush`, and waits for the end of a write that has begun. What
  // is left is dropped; a store that failed to the end has no record STOPPED.
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // Queues a record of a call, drops it, or counts it as a refusal beyond the principal's bound. Does not
  // block, and does not throw.
  void Add(AuditRecord record) noexcept;

  // Waits until everything that was added before has been written or dropped. False when `patience` ended
  // before that.
  bool Flush(absl::Duration patience);

  // How many records of calls were dropped since the log was made.
  int64_t dropped() const { return dropped_; }

 private:
  // What is missing since the last record GAP.
  struct Missing {
    int64_t count = 0;
    int64_t since_us = 0;
  };

  // What a gap at the beginning of the rows says.
  static Missing MissingIn(const std::vector<AuditRecord>& rows);
  void Run();
  void WriteBatch();
  absl::Status WriteRows(const std::vector<AuditRecord>& rows);
  // Moves what is due into `rows`, which has room for it: a gap, if there is one, and a batch.
  void TakeBatch(int64_t now_us, std::vector<AuditRecord>& rows) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void QueueCountsOfRefusals(int64_t now_us) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Queue(AuditRecord record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Miss(const Missing& missing) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Drop(int64_t count, int64_t now_us) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Report(const absl::Status& written, const Missing& missing);
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return !queue_.empty() || is_ending_; }
  bool IsBatchDue() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return queue_.size() >= options_.most_in_batch || flushes_ > 0 || is_ending_;
  }

  AuditStore& store_;
  const Options options_;
  std::atomic<int64_t> dropped_ = 0;
  absl::Status last_written_;  // of the writing thread
  absl::Mutex mutex_;
  std::deque<AuditRecord> queue_ ABSL_GUARDED_BY(mutex_);
  RefusalBound bound_ ABSL_GUARDED_BY(mutex_);
  Missing missing_ ABSL_GUARDED_BY(mutex_);
  int64_t counted_hour_ ABSL_GUARDED_BY(mutex_);  // in which counts of refusals were last queued
  int64_t queued_ ABSL_GUARDED_BY(mutex_) = 0;    // records that ever were in the queue
  int64_t done_ ABSL_GUARDED_BY(mutex_) = 0;      // of these, those that were written or dropped
  int flushes_ ABSL_GUARDED_BY(mutex_) = 0;       // that wait
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread writer_;  // the last member: it uses the others
};

}  // namespace curator::audit
