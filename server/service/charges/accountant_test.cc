// Reservations that are refused for what they say, and leave nothing behind.
#include "service/charges/accountant.h"

#include "service/testing/fixture.h"

namespace curator::service {
namespace {

class AccountantTest : public ServiceTest {
 protected:
  AccountantTest() : census_(MakeSealed(People("census"))) {}

  static ReservationRequest Reservation() {
    return {.request_id = NewRequestId(),
            .dataset = DatasetName("census"),
            .event = {dp::PureEvent{EpsilonOf(100)}},
            .summary = "one count",
            .lifetime = absl::Hours(1)};
  }

  absl::Status Refusal(const std::vector<ReservationRequest>& requests) const {
    return ReserveBudget(*ledger_, TestPrincipal("owner"), requests, Intent::kDo).status();
  }

  ledger::CounterBalance Balance() const {
    return ledger_->ListAccounts(census_.record.id)->at(0).counters.at(0);
  }

  const DatasetView census_;
};

TEST_F(AccountantTest, AReservationIsRefusedByTheFieldThatIsWrongAndHoldsNothing) {
  ReservationRequest endless = Reservation();
  endless.lifetime = kMaxReservationLifetime + absl::Nanoseconds(1);
  EXPECT_EQ(FieldOf(Refusal({endless})), "lifetime");
  ReservationRequest over = Reservation();
  over.lifetime = absl::ZeroDuration();
  EXPECT_EQ(FieldOf(Refusal({over})), "lifetime");
  ReservationRequest wordy = Reservation();
  wordy.summary = std::string(201, 'a');
  EXPECT_EQ(FieldOf(Refusal({wordy})), "summary");
  EXPECT_EQ(Balance().held, 0);

  wordy.summary.pop_back();
  wordy.lifetime = kMaxReservationLifetime;
  EXPECT_TRUE(Refusal({wordy}).ok());
}

TEST_F(AccountantTest, ABatchIsRefusedWhenItIsEmptyOrTooLargeOrOfDifferentLifetimes) {
  EXPECT_EQ(FieldOf(Refusal({})), "requests");
  EXPECT_EQ(FieldOf(Refusal(std::vector<ReservationRequest>(kMaxReservations + 1, Reservation()))),
            "requests");
  std::vector<ReservationRequest> batch = {Reservation(), Reservation()};
  batch[1].lifetime = absl::Hours(2);
  EXPECT_EQ(FieldOf(Refusal(batch)), "lifetime");
  EXPECT_EQ(Balance().held, 0);
}

TEST_F(AccountantTest, ACancelWithTooLongAReasonLeavesTheReservationAsItIs) {
  const auto reserved = ReserveBudget(*ledger_, TestPrincipal("owner"), {Reservation()}, Intent::kDo);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  const std::string id = reserved->at(0).charge.id;
  EXPECT_EQ(FieldOf(CancelReservation(*ledger_, TestPrincipal("owner"), id, std::string(201, 'a')).status()),
            "reason");
  EXPECT_EQ(ledger_->GetCharge(id)->state, ledger::ChargeState::kReserved);
  EXPECT_EQ(Balance().held, EpsilonOf(100).units());
  EXPECT_EQ(CancelReservation(*ledger_, TestPrincipal("owner"), id, std::string(200, 'a'))->charge.state,
            ledger::ChargeState::kCancelled);
}

}  // namespace
}  // namespace curator::service
