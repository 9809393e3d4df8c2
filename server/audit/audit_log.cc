#include "audit/audit_log.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace curator::audit {
namespace {

constexpr int64_t kHourUs = int64_t{3600} * 1'000'000;
// Without any call, counts of refusals are written this late at most.
constexpr absl::Duration kLongestPause = absl::Minutes(1);

// How many calls a record stands for.
int64_t CallsOf(const AuditRecord& record) {
  if (record.kind == RecordKind::kCall) return 1;
  return record.kind == RecordKind::kRefusals ? record.count : 0;
}

template <typename Records>
int64_t CallsIn(const Records& records) {
  int64_t calls = 0;
  for (const AuditRecord& record : records) calls += CallsOf(record);
  return calls;
}

}  // namespace

AuditLog::AuditLog(AuditStore& store, Options options)
    : store_(store),
      options_(std::move(options)),
      bound_(options_.refusals_a_day),
      counted_hour_(options_.now_us() / kHourUs) {
  {
    const absl::MutexLock lock(&mutex_);
    Queue({.kind = RecordKind::kStarted, .time_us = options_.now_us()});
  }
  writer_ = std::thread([this] { Run(); });
}

AuditLog::~AuditLog() {
  {
    const absl::MutexLock lock(&mutex_);
    QueueCountsOfRefusals(options_.now_us());
    Queue({.kind = RecordKind::kStopped, .time_us = options_.now_us()});
  }
  Flush(options_.longest_flush);
  {
    const absl::MutexLock lock(&mutex_);
    is_ending_ = true;
    Drop(CallsIn(queue_), options_.now_us());
    queue_.clear();
  }
  writer_.join();
  const absl::MutexLock lock(&mutex_);
  if (missing_.count > 0) {
    options_.on_error(absl::DataLossError(
        absl::StrCat("the audit ends without ", missing_.count, " records, and no gap says so")));
  }
}

void AuditLog::Add(AuditRecord record) noexcept {
  const int64_t now_us = options_.now_us();
  const absl::MutexLock lock(&mutex_);
  try {
    const bool is_refusal = record.decision == Decision::kRefused;
    if (is_refusal && !bound_.Admit(record.principal, now_us)) return;
    if (queue_.size() < options_.most_queued) return Queue(std::move(record));
  } catch (const std::exception&) {
    // Short of memory: dropped as where the queue is full.
  }
  Drop(1, now_us);
}

bool AuditLog::Flush(absl::Duration patience) {
  const absl::MutexLock lock(&mutex_);
  const int64_t last = queued_;
  const auto is_done = [this, last]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return done_ >= last; };
  ++flushes_;
  const bool is_flushed = mutex_.AwaitWithTimeout(absl::Condition(&is_done), patience);
  --flushes_;
  return is_flushed;
}

void AuditLog::Queue(AuditRecord record) {
  record.server = options_.server;
  queue_.push_back(Bounded(std::move(record)));
  ++queued_;
}

AuditLog::Missing AuditLog::MissingIn(const std::vector<AuditRecord>& rows) {
  const AuditRecord& first = rows.front();
  return first.kind == RecordKind::kGap ? Missing{first.count, first.since_us} : Missing();
}

void AuditLog::Miss(const Missing& missing) {
  if (missing.count == 0) return;
  missing_.since_us = missing_.count == 0 ? missing.since_us : std::min(missing_.since_us, missing.since_us);
  missing_.count += missing.count;
}

void AuditLog::Drop(int64_t count, int64_t now_us) {
  dropped_ += count;
  Miss({.count = count, .since_us = now_us});
}

void AuditLog::QueueCountsOfRefusals(int64_t now_us) {
  counted_hour_ = now_us / kHourUs;
  for (RefusalBound::Count& count : bound_.TakeCounts()) {
    Queue({.kind = RecordKind::kRefusals,
           .time_us = now_us,
           .principal = std::move(count.principal),
           .decision = Decision::kRefused,
           .count = count.count,
           .since_us = count.since_us});
  }
}

void AuditLog::TakeBatch(int64_t now_us, std::vector<AuditRecord>& rows) {
  if (now_us / kHourUs != counted_hour_) QueueCountsOfRefusals(now_us);
  if (queue_.empty()) return;
  if (missing_.count > 0) {
    rows.push_back({.kind = RecordKind::kGap,
                    .time_us = now_us,
                    .server = options_.server,
                    .count = missing_.count,
                    .since_us = missing_.since_us});
    missing_ = {};
  }
  const auto size = static_cast<std::ptrdiff_t>(std::min(queue_.size(), options_.most_in_batch));
  std::move(queue_.begin(), queue_.begin() + size, std::back_inserter(rows));
  queue_.erase(queue_.begin(), queue_.begin() + size);
}

void AuditLog::Run() {
  while (true) {
    {
      const absl::MutexLock lock(&mutex_);
      mutex_.AwaitWithTimeout(absl::Condition(this, &AuditLog::HasWork), kLongestPause);
      if (is_ending_) return;
      if (HasWork()) {
        mutex_.AwaitWithTimeout(absl::Condition(this, &AuditLog::IsBatchDue), options_.longest_delay);
      }
    }
    try {
      WriteBatch();
    } catch (const std::exception&) {
      // Short of memory: what is queued waits for the next attempt.
      continue;
    }
  }
}

void AuditLog::WriteBatch() {
  const int64_t now_us = options_.now_us();
  std::vector<AuditRecord> rows;
  rows.reserve(options_.most_in_batch + 1);  // so that what leaves the queue is always kept
  {
    const absl::MutexLock lock(&mutex_);
    TakeBatch(now_us, rows);
  }
  if (rows.empty()) return;
  const Missing missing = MissingIn(rows);
  const absl::Status written = WriteRows(rows);
  Report(written, missing);  // before Flush() returns for this batch
  const absl::MutexLock lock(&mutex_);
  done_ += static_cast<int64_t>(rows.size()) - (missing.count > 0 ? 1 : 0);
  if (written.ok()) return;
  Miss(missing);
  Drop(CallsIn(rows), now_us);
}

absl::Status AuditLog::WriteRows(const std::vector<AuditRecord>& rows) {
  try {
    for (const AuditRecord& row : rows) options_.on_record(row);
    return store_.Append(rows);
  } catch (const std::exception& error) {
    return absl::UnavailableError(absl::StrCat("the audit was not written: ", error.what()));
  }
}

void AuditLog::Report(const absl::Status& written, const Missing& missing) {
  try {
    if (written.ok() && missing.count > 0) {
      options_.on_error(absl::DataLossError(
          absl::StrCat("the audit lacks ", missing.count, " records: a record GAP stands in their place")));
    }
    if (!written.ok() && written != last_written_) options_.on_error(written);
    last_written_ = written;
  } catch (const std::exception&) {
    // Short of memory: the counts say it as well.
    return;
  }
}

}  // namespace curator::audit
