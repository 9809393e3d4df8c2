// Who sees the history of which account, and what it has.
#include "service/accounts/burn_down.h"

#include "service/accounts/accounts.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class BurnDownTest : public ServiceTest {
 protected:
  void SetUp() override {
    const DatasetView census = Make(People("census"));
    dataset_id_ = census.record.id;
    const ledger::Grant grant{.grantee = "ana", .roles = ledger::kGrantedAnalyst};
    ASSERT_TRUE(ledger_->SetGrant(dataset_id_, grant, TestPrincipal("owner")).ok());
    for (const char* const analyst : {"ana", "bo"}) {
      const AccountOrder order{.request_id = NewRequestId(),
                               .principal = TestPrincipal("owner"),
                               .dataset = DatasetName("census"),
                               .holder = analyst,
                               .members = {},
                               .limit = {.kind = dp::RuleKind::kPure, .epsilon = EpsilonOf(1000)}};
      ASSERT_TRUE(CreateAccount({*ledger_}, order, Intent::kDo).ok());
    }
  }
  absl::StatusOr<BurnDown> Ask(const std::string& principal, const std::string& account = "") const {
    return GetBurnDown({*ledger_}, TestPrincipal(principal),
                       {.dataset = DatasetName("census"), .account = account});
  }

  std::string dataset_id_;
};

TEST_F(BurnDownTest, ItEndsWithWhatTheAccountHas) {
  const ledger::Account account = ledger_->ListAccounts(dataset_id_)->front();
  const BurnDown seen = Ask("owner").value();
  EXPECT_EQ(seen.account, "dataset/census");
  ASSERT_EQ(seen.counters.size(), account.counters.size());
  for (size_t i = 0; i < account.counters.size(); ++i) {
    EXPECT_EQ(seen.counters[i].name, account.counters[i].counter);
    ASSERT_FALSE(seen.counters[i].points.empty());
    EXPECT_EQ(seen.counters[i].points.back().limit, account.counters[i].limit);
    EXPECT_EQ(seen.counters[i].points.back().spent, account.counters[i].spent);
  }
}

TEST_F(BurnDownTest, AnAnalystSeesTheDatasetsAccountAndHisOwn) {
  EXPECT_EQ(Ask("ana")->account, "dataset/census");
  EXPECT_EQ(Ask("ana", "dataset/census")->account, "dataset/census");
  EXPECT_EQ(Ask("ana", "dataset/census/analyst/ana")->account, "dataset/census/analyst/ana");
  EXPECT_EQ(Ask("owner", "dataset/census/analyst/bo")->account, "dataset/census/analyst/bo");
}

TEST_F(BurnDownTest, AnothersAccountIsRefusedAsOneThatThereIsNot) {
  const absl::Status anothers = Ask("ana", "dataset/census/analyst/bo").status();
  EXPECT_TRUE(absl::IsInvalidArgument(anothers)) << anothers;
  EXPECT_EQ(anothers, Ask("ana", "dataset/census/analyst/nobody").status());
  EXPECT_TRUE(absl::IsNotFound(Ask("stranger").status()));
}

TEST_F(BurnDownTest, WhatCannotBeMeantIsNamed) {
  const auto asked = [&](const BurnDownQuery& query) {
    return std::string(GetBurnDown({*ledger_}, TestPrincipal("owner"), query).status().message());
  };
  const DatasetName census("census");
  EXPECT_THAT(asked({.dataset = census, .most_points = 0}), HasSubstr("points"));
  EXPECT_THAT(asked({.dataset = census, .most_points = 2001}), HasSubstr("points"));
  EXPECT_THAT(asked({.dataset = census, .from_second = 9, .to_second = 8}), HasSubstr("to"));
  EXPECT_THAT(asked({.dataset = census, .account = "dataset/census/analyst/nobody"}), HasSubstr("account"));
}

}  // namespace
}  // namespace curator::service
