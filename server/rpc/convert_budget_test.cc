// Accounts, limits and history on the wire.
#include "rpc/convert_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace curator::rpc {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kOne = dp::kEpsilonUnitsPerOne;

service::AccountView PureAccount() {
  return {.name = "dataset/census",
          .rule = {.kind = dp::RuleKind::kPure, .epsilon = dp::Epsilon(10 * kOne)},
          .counters = {{.counter = "epsilon", .limit = 10 * kOne, .spent = 3 * kOne, .held = kOne}}};
}

TEST(ConvertAccount, CountsWhatIsSpentAndHeldAsGone) {
  const v1::Account proto = ToProto(PureAccount());
  ASSERT_EQ(proto.counters_size(), 1);
  EXPECT_EQ(proto.counters(0).limit(), "10");
  EXPECT_EQ(proto.counters(0).remaining(), "6");
  EXPECT_FALSE(proto.has_group());
  EXPECT_EQ(proto.analyst(), "");
}

TEST(ConvertAccount, SaysWhatWasUsedOfThePromise) {
  service::AccountView account = PureAccount();
  account.epsilon_used = dp::Epsilon(3 * kOne);
  EXPECT_EQ(ToProto(account).epsilon_used(), "3");
  EXPECT_EQ(ToProto(account).share_spent(), 0.3) << "what is held is not spent";
  account.epsilon_used.reset();
  EXPECT_EQ(ToProto(account).epsilon_used(), "") << "not known";
}

TEST(ConvertAccount, TheLargestShareOfACounterIsSpent) {
  service::AccountView account = PureAccount();
  account.counters = {{.counter = "epsilon_squared", .limit = 100, .spent = 20},
                      {.counter = "delta", .limit = 8, .spent = 6}};
  EXPECT_EQ(ToProto(account).share_spent(), 0.75);
  account.counters[1].limit = 0;
  account.counters[1].spent = 0;
  EXPECT_EQ(ToProto(account).share_spent(), 0.2);
}

TEST(ConvertBurnDown, EachPointHasItsTimeAndItsAmounts) {
  const v1::GetBurnDownResponse proto = ToProto(
      service::BurnDown{.account = "dataset/census",
                        .counters = {{"epsilon",
                                      {{.second = 7205, .limit = 10 * kOne, .spent = 3 * kOne, .held = kOne},
                                       {.second = 7210, .limit = 9 * kOne, .spent = kOne / 4, .held = 0}}},
                                     {"delta", {}}}});
  EXPECT_EQ(proto.account(), "dataset/census");
  ASSERT_EQ(proto.counters_size(), 2);
  EXPECT_EQ(proto.counters(0).name(), "epsilon");
  EXPECT_EQ(proto.counters(1).name(), "delta");
  EXPECT_EQ(proto.counters(1).points_size(), 0);
  ASSERT_EQ(proto.counters(0).points_size(), 2);
  const v1::BurnDownPoint& first = proto.counters(0).points(0);
  EXPECT_EQ(first.time().seconds(), 7205);
  EXPECT_EQ(first.limit(), "10");
  EXPECT_EQ(first.spent(), "3");
  EXPECT_EQ(first.held(), "1");
  const v1::BurnDownPoint& second = proto.counters(0).points(1);
  EXPECT_EQ(second.time().seconds(), 7210);
  EXPECT_EQ(second.limit(), "9");
  EXPECT_EQ(second.spent(), "0.25");
  EXPECT_EQ(second.held(), "0");
}

TEST(ConvertAccount, NamesItsHolderByTheKindOfItsScope) {
  service::AccountView account = PureAccount();
  account.scope_key = "ana";
  account.scope_type = ledger::ScopeType::kAnalyst;
  EXPECT_EQ(ToProto(account).analyst(), "ana");
  account.scope_type = ledger::ScopeType::kPart;
  EXPECT_EQ(ToProto(account).part(), "ana");
  account.scope_type = ledger::ScopeType::kAnalystGroup;
  account.members = {"bea", "cleo"};
  const v1::Account group = ToProto(account);
  EXPECT_EQ(group.group().name(), "ana");
  EXPECT_THAT(group.group().members(), ElementsAre("bea", "cleo"));
}

TEST(ConvertComparison, AnInfiniteEpsilonIsARemarkAndNotANumber) {
  const dp::CalculatedEpsilon infinite{.epsilon = std::numeric_limits<double>::infinity()};
  const dp::CalculatedEpsilon third{.epsilon = 1.0 / 3};
  const service::BudgetView budget{
      .comparison = service::HistoryComparison{.charges = 1, .calculated = {infinite, third}}};
  const v1::GetBudgetResponse proto = ToProto(budget);
  ASSERT_EQ(proto.comparison().calculated_size(), 2);
  EXPECT_EQ(proto.comparison().calculated(0).epsilon(), "");
  EXPECT_NE(proto.comparison().calculated(0).remark(), "");
  EXPECT_EQ(std::stod(proto.comparison().calculated(1).epsilon()), 1.0 / 3);
}

TEST(ConvertChainLink, HasTheEntryOnlyForThoseWhoMayReadIt) {
  service::LinkView link{.entry = {.seq = 7, .kind = "CHARGED", .prev_hash = "before", .hash = "after"}};
  const v1::ChainLink hidden = ToProto(link, "census");
  EXPECT_EQ(hidden.sequence(), 7);
  EXPECT_EQ(hidden.hash(), "after");
  EXPECT_FALSE(hidden.has_entry());
  link.shows_content = true;
  EXPECT_EQ(ToProto(link, "census").entry().kind(), "CHARGED");
}

TEST(ConvertReceipt, KeepsTheSignedBytes) {
  const v1::Receipt proto = ToProto(service::Receipt{.statement = "{}", .signature = "s", .public_key = "k"});
  EXPECT_EQ(proto.statement(), "{}");
  EXPECT_EQ(proto.signature(), "s");
  EXPECT_EQ(proto.public_key(), "k");
}

}  // namespace
}  // namespace curator::rpc
