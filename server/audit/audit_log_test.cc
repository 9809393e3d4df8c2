// The log of calls in front of every backend: it never holds a call up, and what it loses it counts.
#include "audit/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "audit/testing/audit_conformance.h"
#include "ledger/conformance/faulty_database.h"
#include "ledger/inspect_ledger.h"
#include "tests/testing/postgres_cluster.h"

namespace curator::audit {
namespace {

using ledger::Fault;
using ledger::FaultyDatabase;
using ledger::Must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kForEver = absl::InfiniteDuration();
constexpr int64_t kHourUs = int64_t{3600} * 1'000'000;

AuditRecord CallNumber(int64_t number, Decision decision = Decision::kAllowed) {
  return {.time_us = number, .principal = "ana", .decision = decision};
}

// What a log writes, and what it reports of itself.
class Observed {
 public:
  AuditLog::Options Options() {
    return {.server = "db1-3fa2",
            .now_us = [this] { return now_us_.load(); },
            .on_record = [this](const AuditRecord& record) { lines_.push_back(record); },
            .on_error = [this](const absl::Status& error) { errors_.push_back(error); }};
  }
  void SetTime(int64_t now_us) { now_us_ = now_us; }
  // Of a log that is flushed, or gone.
  const std::vector<AuditRecord>& lines() const { return lines_; }
  const std::vector<absl::Status>& errors() const { return errors_; }

 private:
  std::atomic<int64_t> now_us_ = 1000;
  std::vector<AuditRecord> lines_;
  std::vector<absl::Status> errors_;
};

// Words for the records of a store: "STARTED", "call 7", "GAP of 3".
std::vector<std::string> Told(const std::vector<AuditRecord>& records) {
  std::vector<std::string> told;
  for (const AuditRecord& record : records) {
    std::string word(WordOf(record.kind));
    if (record.kind == RecordKind::kCall) word = absl::StrCat("call ", record.time_us);
    if (record.count > 0) absl::StrAppend(&word, " of ", record.count);
    told.push_back(word);
  }
  return told;
}

// The calls that records are of, and those that gaps and counts stand for.
int64_t CallsIn(const std::vector<AuditRecord>& records) {
  int64_t calls = 0;
  for (const AuditRecord& record : records) {
    calls += record.kind == RecordKind::kCall ? 1 : record.count;
  }
  return calls;
}

class AuditLogTest : public AuditConformance {
 protected:
  void SetUp() override {
    AuditConformance::SetUp();
    OpenAudit();  // makes the schema
    auto faulty = std::make_unique<FaultyDatabase>(OpenStoreOf(audit_url()));
    faulty_ = faulty.get();
    database_ = std::move(faulty);
  }
  // Its calls fail where faulty() is armed.
  AuditStore& store() { return store_; }
  FaultyDatabase& faulty() { return *faulty_; }

  std::vector<AuditRecord> Stored() { return Must(OpenAudit()->ReadAfter(0, 100'000)); }

  Observed observed_;

 private:
  FaultyDatabase* faulty_ = nullptr;
  std::unique_ptr<ledger::sql::Database> database_;
  AuditStore store_{[this] { return std::move(database_); }};
};

TEST_P(AuditLogTest, WritesEveryCallBetweenStartAndStop) {
  {
    AuditLog log(store(), observed_.Options());
    for (int i = 1; i <= 3; ++i) log.Add(CallNumber(i));
  }
  EXPECT_THAT(Told(Stored()), ElementsAre("STARTED", "call 1", "call 2", "call 3", "STOPPED"));
  EXPECT_THAT(Told(observed_.lines()), ElementsAre("STARTED", "call 1", "call 2", "call 3", "STOPPED"));
  EXPECT_EQ(Stored()[1].server, "db1-3fa2");
  EXPECT_THAT(observed_.errors(), IsEmpty());
}

TEST_P(AuditLogTest, WritesCallsOfManyThreadsInBatches) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 2'000;
  AuditLog log(store(), observed_.Options());
  const int64_t before = faulty().writes();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&log] {
      for (int call = 1; call <= kCalls; ++call) log.Add(CallNumber(call));
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(log.Flush(kForEver));
  EXPECT_EQ(CallsIn(Stored()), kThreads * kCalls);
  EXPECT_EQ(log.dropped(), 0);
  EXPECT_LT(faulty().writes() - before, kThreads * kCalls / 10);
}

// Were a call to wait for the store, this test would not end: the store waits for the last call.
TEST_P(AuditLogTest, ACallNeverWaitsForAStoreThatHangsAndWhatIsDroppedIsCounted) {
  absl::Notification hangs;
  absl::Notification goes_on;
  faulty().ArmPause(0, [&](FaultyDatabase::Moment) {
    hangs.Notify();
    goes_on.WaitForNotification();
  });
  AuditLog log(store(), observed_.Options());
  hangs.WaitForNotification();
  const int64_t most = static_cast<int64_t>(observed_.Options().most_queued);
  for (int64_t i = 1; i <= most + 7; ++i) log.Add(CallNumber(i));
  EXPECT_EQ(log.dropped(), 7);
  goes_on.Notify();
  ASSERT_TRUE(log.Flush(kForEver));
  const std::vector<AuditRecord> stored = Stored();
  ASSERT_THAT(stored, SizeIs(most + 2));
  EXPECT_THAT(Told({stored[0], stored[1], stored[2], stored.back()}),
              ElementsAre("STARTED", "GAP of 7", "call 1", absl::StrCat("call ", most)));
  EXPECT_EQ(stored[1].since_us, 1000);
  EXPECT_THAT(observed_.errors(), SizeIs(1));
}

// Its twin: what fits is not called a gap.
TEST_P(AuditLogTest, AQueueThatIsJustFullLosesNothing) {
  absl::Notification hangs;
  absl::Notification goes_on;
  faulty().ArmPause(0, [&](FaultyDatabase::Moment) {
    hangs.Notify();
    goes_on.WaitForNotification();
  });
  AuditLog::Options options = observed_.Options();
  options.most_queued = 3;
  AuditLog log(store(), options);
  hangs.WaitForNotification();
  for (int i = 1; i <= 3; ++i) log.Add(CallNumber(i));
  goes_on.Notify();
  ASSERT_TRUE(log.Flush(kForEver));
  EXPECT_THAT(Told(Stored()), ElementsAre("STARTED", "call 1", "call 2", "call 3"));
  EXPECT_EQ(log.dropped(), 0);
}

TEST_P(AuditLogTest, ABatchThatTheStoreRefusesIsAGapBeforeTheNextOne) {
  AuditLog log(store(), observed_.Options());
  ASSERT_TRUE(log.Flush(kForEver));
  observed_.SetTime(2000);
  faulty().Arm(Fault::kFail, 0);
  log.Add(CallNumber(1));
  log.Add(CallNumber(2));
  ASSERT_TRUE(log.Flush(kForEver));
  EXPECT_EQ(log.dropped(), 2);
  faulty().Disarm();
  observed_.SetTime(3000);
  log.Add(CallNumber(3));
  ASSERT_TRUE(log.Flush(kForEver));
  EXPECT_THAT(Told(Stored()), ElementsAre("STARTED", "GAP of 2", "call 3"));
  EXPECT_EQ(Stored()[1].since_us, 2000);
  EXPECT_EQ(Stored()[1].time_us, 3000);
  EXPECT_THAT(Told(observed_.lines()), ElementsAre("STARTED", "call 1", "call 2", "GAP of 2", "call 3"));
}

TEST_P(AuditLogTest, AGapThatCouldNotBeWrittenGrows) {
  AuditLog log(store(), observed_.Options());
  ASSERT_TRUE(log.Flush(kForEver));
  for (int i = 1; i <= 3; ++i) {
    observed_.SetTime(1000 * i);
    faulty().Arm(Fault::kFail, 0);
    log.Add(CallNumber(i));
    ASSERT_TRUE(log.Flush(kForEver));
  }
  faulty().Disarm();
  log.Add(CallNumber(4));
  ASSERT_TRUE(log.Flush(kForEver));
  EXPECT_THAT(Told(Stored()), ElementsAre("STARTED", "GAP of 3", "call 4"));
  EXPECT_EQ(Stored()[1].since_us, 1000);
  EXPECT_EQ(log.dropped(), 3);
}

TEST_P(AuditLogTest, AtWhateverStepTheStoreFailsEveryCallIsStoredOrCounted) {
  int64_t added = 0;
  AuditLog log(store(), observed_.Options());
  ASSERT_TRUE(log.Flush(kForEver));
  for (const Fault fault : {Fault::kFail, Fault::kConflict}) {
    for (int step = 0; step < 8; ++step) {
      faulty().Arm(fault, step);
      for (int i = 0; i < 3; ++i) log.Add(CallNumber(++added));
      ASSERT_TRUE(log.Flush(kForEver));
      faulty().Disarm();
    }
  }
  log.Add(CallNumber(++added));
  ASSERT_TRUE(log.Flush(kForEver));
  EXPECT_EQ(CallsIn(Stored()), added);
  EXPECT_GT(log.dropped(), 0);
}

TEST_P(AuditLogTest, ABatchWhoseConnectionBrokeAfterItsCommitIsThereAndCounted) {
  AuditLog log(store(), observed_.Options());
  ASSERT_TRUE(log.Flush(kForEver));
  faulty().ArmAt(Fault::kLost, FaultyDatabase::Moment::kAfterCommit);
  log.Add(CallNumber(1));
  ASSERT_TRUE(log.Flush(kForEver));
  faulty().Disarm();
  log.Add(CallNumber(2));
  ASSERT_TRUE(log.Flush(kForEver));
  EXPECT_THAT(Told(Stored()), ElementsAre("STARTED", "call 1", "GAP of 1", "call 2"));
}

TEST_P(AuditLogTest, AStoreThatFailsInTheSameWayIsReportedOnce) {
  AuditLog log(store(), observed_.Options());
  ASSERT_TRUE(log.Flush(kForEver));
  for (int i = 1; i <= 3; ++i) {
    faulty().Arm(Fault::kFail, 0);
    log.Add(CallNumber(i));
    ASSERT_TRUE(log.Flush(kForEver));
  }
  EXPECT_THAT(observed_.errors(), SizeIs(1));
  faulty().Disarm();
  log.Add(CallNumber(4));
  ASSERT_TRUE(log.Flush(kForEver));
  ASSERT_THAT(observed_.errors(), SizeIs(2));
  EXPECT_THAT(observed_.errors()[1].message(), HasSubstr("lacks 3 records"));
}

TEST_P(AuditLogTest, ALogThatEndsWithoutAStoreSaysWhatIsMissing) {
  {
    AuditLog log(store(), observed_.Options());
    ASSERT_TRUE(log.Flush(kForEver));
    faulty().Arm(Fault::kGone, 0);
    log.Add(CallNumber(1));
  }
  EXPECT_THAT(Told(Stored()), ElementsAre("STARTED"));
  EXPECT_THAT(observed_.errors().back().message(), HasSubstr("ends without 1 records"));
}

TEST_P(AuditLogTest, RefusalsBeyondTheBoundAreOneRecordWithTheirNumber) {
  AuditLog::Options options = observed_.Options();
  options.refusals_a_day = 2;
  AuditLog log(store(), options);
  for (int i = 1; i <= 5; ++i) log.Add(CallNumber(i, Decision::kRefused));
  log.Add(CallNumber(6));
  ASSERT_TRUE(log.Flush(kForEver));
  EXPECT_THAT(Told(Stored()), ElementsAre("STARTED", "call 1", "call 2", "call 6"));
  observed_.SetTime(kHourUs + 1000);
  log.Add(CallNumber(7));
  ASSERT_TRUE(log.Flush(kForEver));
  EXPECT_THAT(Told(Stored()),
              ElementsAre("STARTED", "call 1", "call 2", "call 6", "call 7", "REFUSALS of 3"));
  EXPECT_EQ(Stored().back().principal, "ana");
  EXPECT_EQ(log.dropped(), 0);
}

TEST_P(AuditLogTest, RefusalsThatWereOnlyCountedAreWrittenAtTheEnd) {
  AuditLog::Options options = observed_.Options();
  options.refusals_a_day = 0;
  {
    AuditLog log(store(), options);
    log.Add(CallNumber(1, Decision::kRefused));
  }
  EXPECT_THAT(Told(Stored()), ElementsAre("STARTED", "REFUSALS of 1", "STOPPED"));
}

TEST_P(AuditLogTest, NoNameThatAClientSendsFailsABatch) {
  AuditLog log(store(), observed_.Options());
  AuditRecord hostile = CallNumber(1);
  hostile.dataset = std::string("a\0b\xff", 4) + std::string(1'000'000, 'x');
  hostile.request_id = "'); DROP TABLE audit; --";
  hostile.principal = "\xed\xa0\x80";
  log.Add(hostile);
  log.Add(CallNumber(2));
  ASSERT_TRUE(log.Flush(kForEver));
  EXPECT_EQ(log.dropped(), 0);
  EXPECT_THAT(Told(Stored()), ElementsAre("STARTED", "call 1", "call 2"));
  EXPECT_THAT(Stored()[1].dataset, HasSubstr("a?b?xxx"));
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, AuditLogTest, ::testing::ValuesIn(ledger::LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

// A file that may not grow, as on a full disk: SQLite's own error, at the step where it comes.
class FullDisk final : public ledger::sql::Database {
 public:
  FullDisk(std::unique_ptr<ledger::sql::Database> real, const std::atomic<bool>& is_full)
      : real_(std::move(real)), is_full_(is_full) {}

  const ledger::sql::Dialect& dialect() const override { return real_->dialect(); }
  ledger::sql::Outcome Read(const ledger::sql::Body& body) override { return real_->Read(body); }
  ledger::sql::Outcome Write(const ledger::sql::Body& body) override {
    return real_->Write([&](ledger::sql::Transaction& transaction) -> absl::Status {
      // A limit below the present size is the present size.
      const absl::Status limited = transaction.ExecuteScript(is_full_ ? "PRAGMA max_page_count = 1"
                                                                      : "PRAGMA max_page_count = 100000");
      return limited.ok() ? body(transaction) : limited;
    });
  }

 private:
  const std::unique_ptr<ledger::sql::Database> real_;
  const std::atomic<bool>& is_full_;
};

class AuditOnAFullDiskTest : public AuditConformance {};

TEST_P(AuditOnAFullDiskTest, CallsGoOnAndTheGapIsCountedWhenThereIsSpaceAgain) {
  constexpr int kCalls = 5'000;
  OpenAudit();
  std::atomic<bool> is_full = true;
  AuditStore store([&] { return std::make_unique<FullDisk>(OpenStoreOf(audit_url()), is_full); });
  Observed observed;
  AuditLog log(store, observed.Options());
  for (int i = 1; i <= kCalls; ++i) log.Add(CallNumber(i));
  ASSERT_TRUE(log.Flush(kForEver));
  EXPECT_GT(log.dropped(), 0);
  ASSERT_FALSE(observed.errors().empty());
  EXPECT_EQ(observed.errors()[0].code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(observed.errors()[0].message(), HasSubstr("full"));
  is_full = false;
  log.Add(CallNumber(kCalls + 1));
  ASSERT_TRUE(log.Flush(kForEver));
  const std::vector<AuditRecord> stored = Must(store.ReadAfter(0, 100'000));
  EXPECT_EQ(Told(stored).back(), absl::StrCat("call ", kCalls + 1));
  EXPECT_EQ(CallsIn(stored), kCalls + 1);
}

INSTANTIATE_TEST_SUITE_P(Sqlite, AuditOnAFullDiskTest, ::testing::Values("sqlite"));

TEST(AuditWithoutPostgresTest, CallsGoOnAndWhatIsLostIsCounted) {
  const auto cluster = Must(testing::PostgresCluster::Start());
  const std::string url = cluster->CreateDatabase();
  ASSERT_TRUE(ledger::MigrateLedger(url).ok());
  const auto store = Must(AuditStore::Open(url, ""));
  Observed observed;
  AuditLog log(*store, observed.Options());
  log.Add(CallNumber(1));
  ASSERT_TRUE(log.Flush(kForEver));
  cluster->Crash();
  for (int i = 2; i <= 10; ++i) log.Add(CallNumber(i));
  ASSERT_TRUE(log.Flush(kForEver));
  EXPECT_EQ(log.dropped(), 9);
  ASSERT_FALSE(observed.errors().empty());
  EXPECT_EQ(observed.errors()[0].code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace curator::audit
