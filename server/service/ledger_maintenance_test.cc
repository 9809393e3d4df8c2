#include "service/ledger_maintenance.h"

#include <sqlite3.h>

#include <string>

#include "service/charges/accountant.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

class LedgerMaintenanceTest : public ServiceTest {
 protected:
  LedgerMaintenanceTest() : census_(MakeSealed(People("census"))) {}

  void Reserve() {
    const ReservationRequest request{.request_id = NewRequestId(),
                                     .dataset = DatasetName("census"),
                                     .event = dp::Event{dp::PureEvent{EpsilonOf(100)}},
                                     .summary = "one count",
                                     .lifetime = absl::Hours(1)};
    ASSERT_TRUE(ReserveBudget(services_, TestPrincipal("owner"), {request}, Intent::kDo).ok());
  }
  ledger::CounterBalance Balance() const {
    return ledger_->ListAccounts(census_.record.id)->at(0).counters.at(0);
  }

  // How far the stored counts have come.
  int64_t CountedSeq() const {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open((folder_.path() + "/ledger.db").c_str(), &database), SQLITE_OK);
    int64_t seq = 0;
    const auto take = [](void* out, int, char** values, char**) {
      *static_cast<int64_t*>(out) = values[0] == nullptr ? 0 : std::stoll(values[0]);
      return 0;
    };
    sqlite3_exec(database, "SELECT MAX(counted_seq) FROM event_counts_upto", take, &seq, nullptr);
    sqlite3_close(database);
    return seq;
  }

  const DatasetView census_;
};

TEST_F(LedgerMaintenanceTest, AnOverdueReservationIsSpentWithoutACallThatConcernsIt) {
  Reserve();
  const int64_t held = Balance().held;
  ASSERT_GT(held, 0);
  Corrupt("UPDATE open_charges SET deadline_us = 1");
  const LedgerMaintenance maintenance(*ledger_, absl::Milliseconds(1));
  while (Balance().held > 0) {
  }
  EXPECT_EQ(Balance().spent, held);
}

TEST_F(LedgerMaintenanceTest, BringsCountsForwardThatAReaderFoundBehind) {
  constexpr int kCharges = 300;
  std::vector<ReservationRequest> batch;
  for (int i = 0; i < kCharges; ++i) {
    batch.push_back({.request_id = NewRequestId(),
                     .dataset = DatasetName("census"),
                     .event = dp::Event{dp::PureEvent{EpsilonOf(1)}},
                     .summary = "one count",
                     .lifetime = absl::Hours(1)});
  }
  ASSERT_TRUE(ReserveBudget(services_, TestPrincipal("owner"), batch, Intent::kDo).ok());
  EXPECT_EQ(ledger_->CountEvents(census_.record.id, "", 10)->at(0).charges, kCharges);
  ASSERT_EQ(CountedSeq(), 0);
  {
    const LedgerMaintenance maintenance(*ledger_, absl::Milliseconds(1));
    while (CountedSeq() < kCharges) {
    }
  }
  EXPECT_EQ(ledger_->CountEvents(census_.record.id, "", 10)->at(0).charges, kCharges);
}

TEST_F(LedgerMaintenanceTest, WhatWasUsedOfQuotasIsForgottenAfterTheNextDay) {
  const int64_t today = absl::ToUnixSeconds(absl::Now()) / 86'400;
  const auto use = [&](int64_t day) {
    const ledger::DailyUse one{.principal = "ana", .quota = "seconds", .day = day, .amount = 5};
    ASSERT_TRUE(ledger_->UseQuota(one, 10).value());
  };
  for (const int64_t day : {today - 3, today - 1, today}) use(day);
  {
    const LedgerMaintenance maintenance(*ledger_, absl::Milliseconds(1));
    while (ledger_->QuotaUsed("ana", "seconds", today - 3).value() > 0) {
    }
  }
  EXPECT_EQ(ledger_->QuotaUsed("ana", "seconds", today - 1).value(), 5);
  EXPECT_EQ(ledger_->QuotaUsed("ana", "seconds", today).value(), 5);
}

TEST_F(LedgerMaintenanceTest, EndsAtOnceWhileItWaits) {
  Reserve();
  const absl::Time before = absl::Now();
  { const LedgerMaintenance maintenance(*ledger_, absl::Hours(10)); }
  EXPECT_LT(absl::Now() - before, absl::Hours(1));
  EXPECT_GT(Balance().held, 0);
}

}  // namespace
}  // namespace curator::service
