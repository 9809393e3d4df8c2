// Limits in a ledger that contradicts itself: nothing is changed by what cannot be understood.
#include "service/accounts/accounts.h"

#include "base/testing/names.h"
#include "codec/accounting_codec.h"
#include "codec/schema_codec.h"
#include "service/datasets/grants.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

class LimitsTest : public ServiceTest {
 protected:
  static LimitOrder Order(int64_t epsilon) {
    return {.request_id = NewRequestId(),
            .principal = TestPrincipal("owner"),
            .dataset = DatasetName("census"),
            .account = "",
            .epsilon = EpsilonOf(1000 * epsilon),
            .delta = std::nullopt,
            .reason = "a second study"};
  }

  int64_t LimitNow(const std::string& dataset_id) const {
    return ledger_->ListAccounts(dataset_id)->at(0).counters.at(0).limit;
  }
};

TEST_F(LimitsTest, AProposalForACounterThatNoAccountHasIsNeitherShownNorApproved) {
  const DatasetView census = Make(People("census"));
  ASSERT_TRUE(GrantAccess({*ledger_},
                          {.principal = TestPrincipal("owner"),
                           .dataset = DatasetName("census"),
                           .grantee = "ana",
                           .roles = ledger::kGrantedApprover},
                          Intent::kDo)
                  .ok());
  const auto proposed = ProposeLimit({*ledger_}, Order(12), Intent::kDo);
  ASSERT_TRUE(proposed.ok()) << proposed.status();
  Corrupt("UPDATE limit_proposals SET counter = 'rho'");
  EXPECT_EQ(ApproveLimit({*ledger_}, TestPrincipal("ana"), DatasetName("census"), proposed->proposal.id,
                         Intent::kDo)
                .status()
                .code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(
      ListLimitProposals({*ledger_}, TestPrincipal("owner"), DatasetName("census"), "", 100).status().code(),
      absl::StatusCode::kDataLoss);
  EXPECT_EQ(LimitNow(census.record.id), EpsilonOf(10'000).units());
}

TEST_F(LimitsTest, WhoAsksASuccessorDoesNotApproveTheLimitOfTheAccountThatTheyShare) {
  Make(People("census"));
  NewDataset next = People("census-2");
  next.limit.reset();
  next.successor_of = "census";
  const DatasetView successor = Make(next);
  const Principal owner = TestPrincipal("owner");
  const auto grant = [&](const std::string& dataset, int64_t roles) {
    return GrantAccess(
        {*ledger_}, {.principal = owner, .dataset = DatasetName(dataset), .grantee = "ana", .roles = roles},
        Intent::kDo);
  };
  ASSERT_TRUE(grant("census", ledger::kGrantedApprover).ok());
  const auto proposed = ProposeLimit({*ledger_}, Order(12), Intent::kDo);
  ASSERT_TRUE(proposed.ok()) << proposed.status();
  const auto approve = [&] {
    return ApproveLimit({*ledger_}, TestPrincipal("ana"), DatasetName("census"), proposed->proposal.id,
                        Intent::kDo)
        .status();
  };
  for (const int64_t roles : {ledger::kGrantedAnalyst, ledger::kGrantedService}) {
    ASSERT_TRUE(grant("census-2", roles).ok());
    EXPECT_TRUE(absl::IsPermissionDenied(approve())) << roles;
  }
  EXPECT_EQ(LimitNow(successor.record.id), EpsilonOf(10'000).units());
  ASSERT_TRUE(grant("census-2", ledger::kGrantedAuditor).ok());
  EXPECT_TRUE(approve().ok()) << approve();
}

TEST_F(LimitsTest, NoLimitIsProposedForAnAccountThatCountsOtherwiseThanItsRule) {
  const NewDataset people = People("census");
  const std::string schema = codec::EncodeSchema(people.schema);
  const ledger::AccountSpec account{
      .rule = codec::EncodeRule(*people.limit), .rule_name = "PURE", .limits = {{"rho", 10}}};
  const auto made = ledger_->CreateDataset({.request_id = host::NewUuid(),
                                            .name = "census",
                                            .owner = TestPrincipal("owner"),
                                            .schema = schema,
                                            .schema_hash = Sha256(schema),
                                            .neighbour_relation = "ADD_REMOVE",
                                            .privacy_unit = "RECORD",
                                            .partition_attribute = {},
                                            .successor_of = {},
                                            .accounts = {account}});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(ProposeLimit({*ledger_}, Order(12), Intent::kDo).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(ledger_->ListLimitProposals(made->id)->empty());
}

}  // namespace
}  // namespace curator::service
