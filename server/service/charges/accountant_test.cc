// Reservations that are refused for what they say, and leave nothing behind.
#include "service/charges/accountant.h"

#include <ctime>
#include <limits>

#include "base/errors.h"
#include "service/charges/certificates.h"
#include "service/testing/fixture.h"
#include "service/testing/wrapped_ledger.h"

namespace curator::service {
namespace {

class AccountantTest : public ServiceTest {
 protected:
  AccountantTest() : census_(MakeSealed(People("census"))) {}

  static ReservationRequest Reservation() {
    return {.request_id = NewRequestId(),
            .dataset = DatasetName("census"),
            .event = dp::Event{dp::PureEvent{EpsilonOf(100)}},
            .summary = "one count",
            .lifetime = absl::Hours(1)};
  }

  absl::Status Refusal(const std::vector<ReservationRequest>& requests) {
    return ReserveBudget(services_, TestPrincipal("owner"), requests, Intent::kDo).status();
  }

  // No two kinds alike.
  static dp::Event CertifiedLaplaces(int kinds, int64_t count) {
    dp::ComposedEvent schedule;
    for (int i = 0; i < kinds; ++i) {
      schedule.parts.push_back({dp::Event{dp::LaplaceEvent{.scale = {50'000 + 97 * i, 1000}}}, count});
    }
    return {dp::CertifiedEvent{{dp::Event{schedule}}, dp::Epsilon(0), dp::Delta(1'000'000'000'000)}};
  }

  static double ThreadSeconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
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
  EXPECT_EQ(CommitBudget(services_, TestPrincipal("owner"), id).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_GT(Balance().held, 0) << "it is still held";
  ASSERT_TRUE(StartCharge(services_, TestPrincipal("owner"), id, std::nullopt).ok());
  EXPECT_TRUE(CommitBudget(services_, TestPrincipal("owner"), id).ok());
}

TEST_F(AccountantTest, ACostThatNoCounterCanHoldIsRefusedInWords) {
  ReservationRequest huge = Reservation();
  huge.event = dp::Event{dp::LaplaceEvent{{1, std::numeric_limits<int64_t>::max()}, {1, 1}}};
  const absl::Status refused = Refusal({huge});
  EXPECT_EQ(refused.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("more than a counter"));
}

// Four minutes of processor, before it was bounded, and computed before access was checked.
TEST_F(AccountantTest, ACertificateOfHundredThousandsOfMechanismsIsComputedWithinBounds) {
  const dp::Event asked = CertifiedLaplaces(64, 100'000);
  const double before = ThreadSeconds();
  EXPECT_TRUE(
      absl::IsNotFound(EstimateCost(services_, TestPrincipal("owner"), DatasetName("none"), asked).status()));
  EXPECT_TRUE(absl::IsNotFound(
      EstimateCost(services_, TestPrincipal("stranger"), DatasetName("census"), asked).status()));
  EXPECT_LT(ThreadSeconds() - before, 0.5) << "nothing is computed for those who see nothing";
  const auto estimate = EstimateCost(services_, TestPrincipal("owner"), DatasetName("census"), asked);
  EXPECT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_LT(ThreadSeconds() - before, 15);
  EXPECT_EQ(memory_.taken(), 0);
}

TEST_F(AccountantTest, ACertificateTakesMemoryAndEndsWhenItsClientHasGone) {
  const dp::Event asked = CertifiedLaplaces(2, 3);
  const auto estimate = [&](const std::stop_token& stop) {
    return EstimateCost(services_, TestPrincipal("owner"), DatasetName("census"), asked, stop).status();
  };
  EXPECT_TRUE(estimate({}).ok());
  std::stop_source client;
  client.request_stop();
  EXPECT_TRUE(absl::IsCancelled(estimate(client.get_token())));
  const auto others = memory_.Take(TestPrincipal("other"), memory_.total());
  ASSERT_TRUE(others.ok()) << others.status();
  EXPECT_TRUE(absl::IsUnavailable(estimate({})));
}

TEST_F(AccountantTest, AnEventOfTooManyPartsIsRefusedWithWhatWouldFit) {
  dp::ComposedEvent many;
  many.parts.assign(kMostEventParts, {dp::Event{dp::PureEvent{dp::Epsilon(1'000'000)}}, 1});
  ReservationRequest request = Reservation();
  request.event = dp::Event{many};
  EXPECT_EQ(Refusal({request}).message(),
            "event: has 2049 parts; at most 2048 are priced as one event: state equal ones once, with their "
            "count, or ask for some of them at a time");
  EXPECT_EQ(
      FieldOf(EstimateCost(services_, TestPrincipal("owner"), DatasetName("census"), request.event).status()),
      "event");
  many.parts.pop_back();
  std::vector<ReservationRequest> batch(5, request);
  for (ReservationRequest& each : batch) {
    each.request_id = NewRequestId();
    each.event = dp::Event{many};
  }
  EXPECT_EQ(FieldOf(Refusal(batch)), "requests[4].event") << "10,000 parts in all";
  EXPECT_EQ(Balance().held, 0);
}

TEST_F(AccountantTest, AReservationThatIsRepeatedIsFoundAtItsPriceAndNothingIsComputed) {
  ReservationRequest request = Reservation();
  request.event = CertifiedLaplaces(2, 3);
  const auto first = ReserveBudget(services_, TestPrincipal("owner"), {request}, Intent::kDo);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto others = memory_.Take(TestPrincipal("other"), memory_.total());
  ASSERT_TRUE(others.ok()) << others.status();
  const auto again = ReserveBudget(services_, TestPrincipal("owner"), {request}, Intent::kDo);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->front().charge.id, first->front().charge.id);
  EXPECT_EQ(again->front().charge.event, first->front().charge.event);
  EXPECT_EQ(Balance().held, first->front().charge.postings.front().cost);
  request.event = CertifiedLaplaces(1, 3);
  EXPECT_FALSE(Refusal({request}).ok()) << "another event under the same id";
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
  EXPECT_EQ(FieldOf(CancelReservation(services_, TestPrincipal("owner"), id, std::string(201, 'a')).status()),
            "reason");
  EXPECT_EQ(ledger_->GetCharge(id)->state, ledger::ChargeState::kReserved);
  EXPECT_EQ(Balance().held, EpsilonOf(100).units());
  EXPECT_EQ(CancelReservation(services_, TestPrincipal("owner"), id, std::string(200, 'a'))->charge.state,
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
  EXPECT_TRUE(Refusal({Reservation()}).ok()) << "those that were found again are not counted twice";
}

TEST_F(AccountantTest, ExtensionsCountAmongTheChargesOfTheDayAndEndingsDoNot) {
  const Principal owner = TestPrincipal("owner");
  const auto reserved = ReserveBudget(services_, owner, {Reservation()}, Intent::kDo);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  const std::string id = reserved->front().charge.id;
  daily_.Add(owner, kMostChargesADay - 2);
  EXPECT_TRUE(ExtendReservation(services_, owner, id, absl::Hours(48)).ok());
  EXPECT_TRUE(ExtendReservation(services_, owner, id, absl::Hours(24)).ok()) << "it adds no entry";
  EXPECT_TRUE(QuotaRetryOf(ExtendReservation(services_, owner, id, absl::Hours(72)).status()));
  EXPECT_TRUE(CancelReservation(services_, owner, id, "").ok());
}

// The store answers no question of a thread that asks for that.
class SilentReads final : public ledger::sql::Database {
 public:
  explicit SilentReads(std::unique_ptr<ledger::sql::Database> real) : real_(std::move(real)) {}
  const ledger::sql::Dialect& dialect() const override { return real_->dialect(); }
  ledger::sql::Outcome Write(const ledger::sql::Body& body) override { return real_->Write(body); }
  ledger::sql::Outcome Read(const ledger::sql::Body& body) override {
    if (is_silent) return {ledger::sql::Ending::kFailed, absl::UnavailableError("the connection is lost")};
    return real_->Read(body);
  }

  static inline thread_local bool is_silent = false;

 private:
  const std::unique_ptr<ledger::sql::Database> real_;
};

class SilentStoreTest : public ServiceTest {
 protected:
  SilentStoreTest() : ServiceTest(&OpenLedgerThrough<SilentReads>) {}
};

TEST_F(SilentStoreTest, NoRepetitionIsRefusedAsANewRequestWhileTheStoreDoesNotAnswer) {
  const DatasetView open = Make(People("census"));
  const std::string id = NewRequestId().text();
  const Principal owner = TestPrincipal("owner");
  daily_.Add(owner, kMostChargesADay);
  SilentReads::is_silent = true;
  const absl::Status accepts = CheckAcceptsRequest(*ledger_, open.record, owner, id);
  const absl::Status least =
      CheckLeastCost(*ledger_, {.counters = {{.counter = "epsilon", .cost = 0}}}, owner, id, "spend");
  const absl::Status room = daily_.CheckRoomForNew(*ledger_, owner, id);
  SilentReads::is_silent = false;
  EXPECT_TRUE(absl::IsUnavailable(accepts)) << accepts;
  EXPECT_TRUE(absl::IsUnavailable(least)) << least;
  EXPECT_TRUE(absl::IsUnavailable(room)) << room;
}

class BatchTest : public ServiceTest {
 protected:
  BatchTest() : ServiceTest(&OpenLedgerThrough<CountedReads>) { MakeSealed(People("census")); }

  // The reads of a batch of new reservations.
  int64_t ReadsOf(size_t reservations) {
    std::vector<ReservationRequest> batch;
    for (size_t i = 0; i < reservations; ++i) batch.push_back(Reservation());
    const int64_t before = CountedReads::count;
    const auto views = ReserveBudget(services_, TestPrincipal("owner"), batch, Intent::kDo);
    EXPECT_TRUE(views.ok()) << views.status();
    return CountedReads::count - before;
  }

  static ReservationRequest Reservation() {
    return {.request_id = NewRequestId(),
            .dataset = DatasetName("census"),
            .event = dp::Event{dp::PureEvent{EpsilonOf(1)}},
            .summary = "one count",
            .lifetime = absl::Hours(1)};
  }
};

TEST_F(BatchTest, ReadsItsDatasetAndItsAccountsOnceHoweverManyReservationsItMakes) {
  const int64_t of_one = ReadsOf(1);
  EXPECT_EQ(ReadsOf(11) - of_one, 10 * (ReadsOf(2) - of_one));
  EXPECT_LE(ReadsOf(2) - of_one, 3) << "of its charge alone";
}

TEST_F(BatchTest, EndsBeforeTheChargeWhenItsClientHasGone) {
  std::stop_source client;
  client.request_stop();
  EXPECT_TRUE(absl::IsCancelled(
      ReserveBudget(services_, TestPrincipal("owner"), {Reservation()}, Intent::kDo, client.get_token())
          .status()));
}

}  // namespace
}  // namespace curator::service
