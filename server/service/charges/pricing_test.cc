// Prices in accounts that contradict themselves.
#include "service/charges/pricing.h"

#include "codec/accounting_codec.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

using PricingTest = ServiceTest;

TEST_F(PricingTest, AnAccountWithoutTheCounterOfItsRuleHasNoPrice) {
  const DatasetView census = Make(People("census"));
  const dp::Event event{dp::PureEvent{EpsilonOf(100)}};
  std::vector<ledger::Account> accounts = ledger_->ListAccounts(census.record.id).value();
  ASSERT_EQ(PriceOf(census, accounts, event)->counters.at(0).cost, EpsilonOf(100).units());
  accounts[0].counters[0].counter = "rho";
  EXPECT_EQ(PriceOf(census, accounts, event).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(PricingTest, TheAccountOfAnAnalystAloneDoesNotGovernADataset) {
  const DatasetView census = Make(People("census"));
  std::vector<ledger::Account> accounts = ledger_->ListAccounts(census.record.id).value();
  ASSERT_EQ(GoverningRule(accounts).value(), *People("census").limit);
  accounts[0].scope_type = ledger::ScopeType::kAnalyst;
  EXPECT_EQ(GoverningRule(accounts).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace curator::service
