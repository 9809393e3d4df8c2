// Reservations that are refused for what they say, and leave nothing behind.
#include "service/charges/accountant.h"

#include <limits>

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

  absl::Status Refusal(const std::vector<ReservationRequest>& requests) {
    return ReserveBudget(services_, TestPrincipal("owner"), requests, Intent::kDo).status();
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

TEST_F(AccountantTest, ASummaryThatATerminalWouldObeyIsRefusedByItsPublicPath) {
  for (const std::string& text : {std::string("two\nlines"), std::string("\x1b]0;title\x07"),
                                  std::string("\u202Etxt"), std::string("a\0b", 3)}) {
    ReservationRequest request = Reservation();
    request.summary = text;
    EXPECT_EQ(FieldOf(Refusal({request})), "summary");
    EXPECT_EQ(FieldOf(Refusal({Reservation(), request})), "requests[1].summary");
  }
  EXPECT_EQ(Balance().held, 0);
}

TEST_F(AccountantTest, WhatIsNotStartedIsNotCommitted) {
  const auto reserved = ReserveBudget(services_, TestPrincipal("owner"), {Reservation()}, Intent::kDo);
  const std::string id = reserved->front().charge.id;
  EXPECT_EQ(CommitBudget(*ledger_, TestPrincipal("owner"), id).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_GT(Balance().held, 0) << "it is still held";
  ASSERT_TRUE(StartCharge(*ledger_, TestPrincipal("owner"), id, std::nullopt).ok());
  EXPECT_TRUE(CommitBudget(*ledger_, TestPrincipal("owner"), id).ok());
}

TEST_F(AccountantTest, ACostThatNoCounterCanHoldIsRefusedInWords) {
  ReservationRequest huge = Reservation();
  huge.event = {dp::LaplaceEvent{{1, std::numeric_limits<int64_t>::max()}, {1, 1}}};
  const absl::Status refused = Refusal({huge});
  EXPECT_EQ(refused.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("more than a counter"));
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
  const auto reserved = ReserveBudget(services_, TestPrincipal("owner"), {Reservation()}, Intent::kDo);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  const std::string id = reserved->at(0).charge.id;
  EXPECT_EQ(FieldOf(CancelReservation(*ledger_, TestPrincipal("owner"), id, std::string(201, 'a')).status()),
            "reason");
  EXPECT_EQ(ledger_->GetCharge(id)->state, ledger::ChargeState::kReserved);
  EXPECT_EQ(Balance().held, EpsilonOf(100).units());
  EXPECT_EQ(CancelReservation(*ledger_, TestPrincipal("owner"), id, std::string(200, 'a'))->charge.state,
            ledger::ChargeState::kCancelled);
}

TEST_F(AccountantTest, MoreNewReservationsThanADayAllowsAreRefusedAndEarlierOnesAreFound) {
  const std::vector<ReservationRequest> first = {Reservation(), Reservation()};
  ASSERT_TRUE(Refusal(first).ok());
  daily_.Add(TestPrincipal("owner"), kMostChargesADay - 3);
  const absl::Status refused = Refusal({Reservation(), Reservation()});
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
  EXPECT_TRUE(FullAccountsOf(refused).empty()) << "no account is full";
  EXPECT_TRUE(Refusal(first).ok());
}

}  // namespace
}  // namespace curator::service
