// Requests for a synthesis: their names, checks without a run, and how their ids distinguish them.
#include "service/operations/synthesis.h"

#include "base/testing/names.h"
#include "service/charges/accountant.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

class SynthesisTest : public ServiceTest {
 protected:
  static SynthesisRequest Mwem(const std::string& dataset) {
    return {.principal = TestPrincipal("owner"),
            .dataset = DatasetName(dataset),
            .method = "mwem",
            .spend = {.epsilon = EpsilonOf(1000)},
            .settings = {},
            .workload = {},
            .assume_records = std::nullopt,
            .parts = {}};
  }

  absl::StatusOr<OperationView> Create(const SynthesisRequest& request, const std::string& id,
                                       Intent intent = Intent::kDo) {
    return CreateSynthesis(services_, request, TestRequestId(id), intent);
  }

  OperationView Ended(const std::string& operation) {
    return WaitOperation(services_, TestPrincipal("owner"), operation, absl::InfiniteFuture()).value();
  }
};

TEST_F(SynthesisTest, AWorkloadOfOtherQueriesThanMarginalsIsNamedByItsGroups) {
  MakeSealed(People("census"));
  SynthesisRequest request = Mwem("census");
  request.workload = {{PrefixesQuery{"age"}}};
  const auto one = Create(request, host::NewUuid());
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->label, "mwem over 1 group of queries");
  EXPECT_EQ(Ended(one->id).state, OperationState::kDone);
  request.workload.push_back({PrefixesQuery{"region"}});
  const auto two = Create(request, host::NewUuid());
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ(two->label, "mwem over 2 groups of queries");
  EXPECT_EQ(Ended(two->id).state, OperationState::kDone);
}

TEST_F(SynthesisTest, ARequestThatIsOnlyCheckedChargesNothing) {
  const DatasetView census = MakeSealed(People("census"));
  const std::string id = host::NewUuid();
  const auto checked = Create(Mwem("census"), id, Intent::kValidateOnly);
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->dataset, "census");
  EXPECT_EQ(checked->kind, "synthesis");
  EXPECT_EQ(Spent(census), 0);
  EXPECT_EQ(ledger_->FindCharge(TestPrincipal("owner"), id).status().code(), absl::StatusCode::kNotFound);
  SynthesisRequest magic = Mwem("census");
  magic.method = "magic";
  EXPECT_EQ(FieldOf(Create(magic, id, Intent::kValidateOnly).status()), "method");
}

TEST_F(SynthesisTest, ItsOwnIdFindsTheSameOperation) {
  const DatasetView census = MakeSealed(People("census"));
  const std::string id = host::NewUuid();
  const auto first = Create(Mwem("census"), id);
  ASSERT_TRUE(first.ok()) << first.status();
  const OperationView done = Ended(first->id);
  const int64_t spent = Spent(census);
  const auto again = Create(Mwem("census"), id);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->release_id, done.release_id);
  EXPECT_EQ(Spent(census), spent);
}

TEST_F(SynthesisTest, TheIdOfAReservationIsTakenAndTheReservationStaysAsItIs) {
  const DatasetView census = MakeSealed(People("census"));
  const ReservationRequest reservation{.request_id = NewRequestId(),
                                       .dataset = DatasetName("census"),
                                       .event = {dp::PureEvent{EpsilonOf(1000)}},
                                       .summary = "",
                                       .lifetime = absl::Hours(1)};
  const auto reserved = ReserveBudget(*ledger_, TestPrincipal("owner"), {reservation}, Intent::kDo);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  EXPECT_EQ(Create(Mwem("census"), reservation.request_id.text()).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Spent(census), 0);
  EXPECT_EQ(ledger_->GetCharge(reserved->at(0).charge.id)->state, ledger::ChargeState::kReserved);
  EXPECT_TRUE(ledger_->ListReleases(census.record.id)->empty());
}

TEST_F(SynthesisTest, TheIdOfASynthesisOfAnotherDatasetIsTaken) {
  MakeSealed(People("census"));
  const DatasetView visits = MakeSealed(People("visits"), PeopleCsv(3));
  const std::string id = host::NewUuid();
  const auto first = Create(Mwem("census"), id);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_EQ(Ended(first->id).state, OperationState::kDone);
  EXPECT_EQ(Create(Mwem("visits"), id).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Spent(visits), 0);
  EXPECT_TRUE(ledger_->ListReleases(visits.record.id)->empty());
}

}  // namespace
}  // namespace curator::service
