// What a repeated request stands on: what it stood on first, and nothing of other requests.
#include "service/charges/request_scope.h"

#include "service/charges/accountant.h"
#include "service/datasets/parts.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

using RequestScopeTest = ServiceTest;

TEST_F(RequestScopeTest, ARequestFindsOnlyItsOwnEarlierCharge) {
  const DatasetView census = MakeSealed(People("census"));
  const DatasetView visits = MakeSealed(People("visits"), PeopleCsv(3));
  const std::string id = host::NewUuid();
  const ledger::Attempt attempt = Started(census, "synthesis", id);
  const auto found = FindEarlier(*ledger_, census, TestPrincipal("owner"), id, "synthesis").value();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->id, attempt.charge.id);
  EXPECT_FALSE(FindEarlier(*ledger_, visits, TestPrincipal("owner"), id, "synthesis")->has_value())
      << "of another dataset";
  EXPECT_FALSE(FindEarlier(*ledger_, census, TestPrincipal("owner"), id, "workload")->has_value())
      << "of another kind";
  EXPECT_FALSE(FindEarlier(*ledger_, census, TestPrincipal("ana"), id, "synthesis")->has_value())
      << "of somebody else";
  EXPECT_FALSE(
      FindEarlier(*ledger_, census, TestPrincipal("owner"), host::NewUuid(), "synthesis")->has_value());
  EXPECT_FALSE(FindEarlier(*ledger_, census, TestPrincipal("owner"), "", "synthesis")->has_value());
}

TEST_F(RequestScopeTest, AReservationIdTellsASynthesisNothing) {
  const DatasetView census = MakeSealed(People("census"));
  const ReservationRequest reservation{.request_id = NewRequestId(),
                                       .dataset = DatasetName("census"),
                                       .event = dp::Event{dp::PureEvent{EpsilonOf(100)}},
                                       .summary = "",
                                       .lifetime = absl::Hours(1)};
  ASSERT_TRUE(ReserveBudget(services_, TestPrincipal("owner"), {reservation}, Intent::kDo).ok());
  EXPECT_TRUE(
      FindEarlier(*ledger_, census, TestPrincipal("owner"), reservation.request_id.text(), kReservationKind)
          ->has_value());
  EXPECT_FALSE(
      FindEarlier(*ledger_, census, TestPrincipal("owner"), reservation.request_id.text(), "synthesis")
          ->has_value());
}

TEST_F(RequestScopeTest, ARepeatedReservationIsNotHeldInPartsThatWereAddedSince) {
  Make(DividedPeople("visits"));
  FillAndSeal("visits", PeopleCsv(), "north");
  const ReservationRequest reservation{.request_id = NewRequestId(),
                                       .dataset = DatasetName("visits"),
                                       .event = dp::Event{dp::PureEvent{EpsilonOf(100)}},
                                       .summary = "",
                                       .lifetime = absl::Hours(1)};
  const auto first = ReserveBudget(services_, TestPrincipal("owner"), {reservation}, Intent::kDo);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_EQ(first->at(0).charge.postings.size(), 2u);
  const auto grown = AddPart({*ledger_},
                             {.request_id = NewRequestId(),
                              .principal = TestPrincipal("owner"),
                              .dataset = DatasetName("visits"),
                              .part = {"west", {"3"}},
                              .limit = std::nullopt},
                             Intent::kDo);
  ASSERT_TRUE(grown.ok()) << grown.status();

  const auto accounts = PayingAccounts(*ledger_, *grown, "owner").value();
  const auto scope =
      OutsideScopeOf(*ledger_, *grown, TestPrincipal("owner"), reservation.request_id.text(), accounts);
  ASSERT_TRUE(scope.ok()) << scope.status();
  EXPECT_EQ(scope->version, 1);
  EXPECT_EQ(scope->accounts.size(), 2u);
  EXPECT_EQ(
      OutsideScopeOf(*ledger_, *grown, TestPrincipal("owner"), host::NewUuid(), accounts)->accounts.size(),
      3u);
  const auto again = ReserveBudget(services_, TestPrincipal("owner"), {reservation}, Intent::kDo);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->at(0).charge.id, first->at(0).charge.id);
  EXPECT_EQ(ledger_->ListAccounts(grown->record.id)->at(2).counters.at(0).held, 0);
}

TEST_F(RequestScopeTest, AReservationThatDoesNotPayForANewPartIsNotStarted) {
  Make(DividedPeople("visits"));
  FillAndSeal("visits", PeopleCsv(), "north");
  const ReservationRequest reservation{.request_id = NewRequestId(),
                                       .dataset = DatasetName("visits"),
                                       .event = dp::Event{dp::PureEvent{EpsilonOf(100)}},
                                       .summary = "",
                                       .lifetime = absl::Hours(1)};
  const Principal owner = TestPrincipal("owner");
  const auto reserved = ReserveBudget(services_, owner, {reservation}, Intent::kDo);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  const std::string id = reserved->at(0).charge.id;
  ASSERT_TRUE(AddPart({*ledger_},
                      {.request_id = NewRequestId(),
                       .principal = owner,
                       .dataset = DatasetName("visits"),
                       .part = {"west", {"3"}},
                       .limit = std::nullopt},
                      Intent::kDo)
                  .ok());
  const absl::Status refused = StartCharge(services_, owner, id, std::nullopt).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("west"));
  EXPECT_EQ(CancelReservation(services_, owner, id, "")->charge.state, ledger::ChargeState::kCancelled);
}

}  // namespace
}  // namespace curator::service
