#include "service/charges/expiry_sweep.h"

#include "service/charges/accountant.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

class ExpirySweepTest : public ServiceTest {
 protected:
  ExpirySweepTest() : census_(MakeSealed(People("census"))) {}

  void Reserve() {
    const ReservationRequest request{.request_id = NewRequestId(),
                                     .dataset = DatasetName("census"),
                                     .event = {dp::PureEvent{EpsilonOf(100)}},
                                     .summary = "one count",
                                     .lifetime = absl::Hours(1)};
    ASSERT_TRUE(ReserveBudget(*ledger_, TestPrincipal("owner"), {request}, Intent::kDo).ok());
  }
  ledger::CounterBalance Balance() const {
    return ledger_->ListAccounts(census_.record.id)->at(0).counters.at(0);
  }

  const DatasetView census_;
};

TEST_F(ExpirySweepTest, AnOverdueReservationIsSpentWithoutACallThatConcernsIt) {
  Reserve();
  const int64_t held = Balance().held;
  ASSERT_GT(held, 0);
  Corrupt("UPDATE charges SET deadline_us = 1");
  const ExpirySweep sweep(*ledger_, absl::Milliseconds(1));
  while (Balance().held > 0) {
  }
  EXPECT_EQ(Balance().spent, held);
}

TEST_F(ExpirySweepTest, EndsAtOnceWhileItWaits) {
  Reserve();
  const absl::Time before = absl::Now();
  { const ExpirySweep sweep(*ledger_, absl::Hours(10)); }
  EXPECT_LT(absl::Now() - before, absl::Hours(1));
  EXPECT_GT(Balance().held, 0);
}

}  // namespace
}  // namespace curator::service
