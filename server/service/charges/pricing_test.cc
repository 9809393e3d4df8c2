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

TEST_F(PricingTest, AChargeAsksForALeastAmountUnderEveryRule) {
  const auto refusal_of = [&](const std::string& counter, int64_t cost) {
    const Price price{.counters = {{.counter = counter, .cost = cost}}};
    return FieldOf(CheckLeastCost(*ledger_, price, TestPrincipal("ana"), NewRequestId().text(), "event"));
  };
  for (const auto& [counter, least] :
       {std::pair("epsilon", EpsilonOf(1000).units() / 100'000), std::pair("epsilon_squared", int64_t{100}),
        std::pair("rho", int64_t{50}), std::pair("delta", int64_t{1'000'000})}) {
    EXPECT_EQ(refusal_of(counter, least), "") << counter;
    EXPECT_EQ(refusal_of(counter, least - 1), "event") << counter;
    EXPECT_EQ(refusal_of(counter, 0), "event") << counter;
  }
}

TEST_F(PricingTest, AnAccountsShareOfItsPromiseIsThatOfTheCounterThatItUsesMost) {
  const Price price{
      .counters = {
          {.account_id = 1, .counter = "epsilon_squared", .cost = 1, .remaining_before = 50, .limit = 100},
          {.account_id = 1, .counter = "delta", .cost = 20, .remaining_before = 30, .limit = 80},
          {.account_id = 4, .counter = "epsilon", .cost = 5, .remaining_before = 5, .limit = 10},
          {.account_id = 7, .counter = "delta", .cost = 0, .remaining_before = 0, .limit = 0}}};
  EXPECT_THAT(price.SharesOfPromise(), ::testing::ElementsAre(0.25, 0.5, 0));
  EXPECT_EQ(price.counters[1].ShareLeft(), 0.125);
  EXPECT_EQ(price.counters[3].ShareLeft(), 0);
}

TEST_F(PricingTest, APriceHasTheLimitsOfItsAccounts) {
  const DatasetView census = MakeSealed(People("census"));
  const std::vector<ledger::Account> accounts = ledger_->ListAccounts(census.record.id).value();
  const int64_t limit = accounts.at(0).counters.at(0).limit;
  EXPECT_EQ(PriceOf(census, accounts, dp::Event{dp::PureEvent{EpsilonOf(100)}})->counters.at(0).limit, limit);
  const ledger::Charge made = Started(census, "workload").charge;
  EXPECT_EQ(PricePaid(census, accounts, made)->counters.at(0).limit, limit);
}

TEST_F(PricingTest, AChargeOfLessThatWasMadeBeforeIsFoundAgain) {
  const DatasetView census = MakeSealed(People("census"));
  const ledger::Charge made = Started(census, "workload").charge;
  const Price nothing{.counters = {{.counter = "epsilon", .cost = 0}}};
  EXPECT_TRUE(CheckLeastCost(*ledger_, nothing, TestPrincipal("owner"), made.request_id, "spend").ok());
  EXPECT_FALSE(CheckLeastCost(*ledger_, nothing, TestPrincipal("ana"), made.request_id, "spend").ok());
}

}  // namespace
}  // namespace curator::service
