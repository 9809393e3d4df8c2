// What is left in words, and history under other rules, over a real ledger.
#include "service/accounts/budgets.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/canonical_bytes.h"
#include "base/testing/names.h"
#include "codec/accounting_codec.h"
#include "codec/schema_codec.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

constexpr int64_t kHour = 3'600'000'000;
constexpr dp::Delta kDelta(1'000'000'000'000);  // 1e-6

std::string Uuid(int number) {
  const std::string digits = std::to_string(100000 + number);
  return "3f2504e0-4f89-41d3-9a0c-030500" + digits;
}

dp::Event Pure(int64_t thousandths) {
  return {dp::PureEvent{dp::Epsilon(thousandths * dp::kEpsilonUnitsPerOne / 1000)}};
}

dp::Event PureOfUnits(int64_t units) {
  return {dp::PureEvent{dp::Epsilon(units)}};
}

class BudgetsTest : public ServiceTest {
 protected:
  void SetUp() override {
    MakeDataset(
        {.kind = dp::RuleKind::kZcdp, .epsilon = dp::Epsilon(4 * dp::kEpsilonUnitsPerOne), .delta = kDelta});
  }

  void MakeDataset(const dp::RuleSpec& rule) {
    const dp::Attribute attribute = *dp::Attribute::Create("zone", dp::CodedKind{7});
    const std::string schema =
        codec::EncodeSchema(*dp::CreateSchema(*dp::Domain::Create({attribute}), dp::RecordUnit{}));
    ledger::AccountSpec account{.rule = codec::EncodeRule(rule),
                                .rule_name = std::string(dp::RuleName(rule.kind))};
    const std::vector<dp::CounterAmount> limits = dp::LimitsOf(rule).value();
    for (const dp::CounterAmount& limit : limits) {
      account.limits.push_back({limit.counter, limit.amount});
    }
    const auto dataset = ledger_->CreateDataset({.request_id = Uuid(0),
                                                 .name = "census",
                                                 .owner = TestPrincipal("owner"),
                                                 .schema = schema,
                                                 .schema_hash = Sha256(schema),
                                                 .neighbour_relation = "ADD_REMOVE",
                                                 .privacy_unit = "RECORD",
                                                 .accounts = {account}});
    ASSERT_TRUE(dataset.ok()) << dataset.status();
    dataset_id_ = dataset->id;
    rule_ = rule;
    ASSERT_TRUE(ledger_->SealDataset(dataset_id_, std::string(32, 'c'), TestPrincipal("owner")).ok());
    ASSERT_TRUE(ledger_->SetGrant(dataset_id_, {.grantee = "ana"}, TestPrincipal("owner")).ok());
    account_ = ledger_->ListAccounts(dataset_id_)->at(0);
  }

  ledger::ChargeRequest Request(const std::string& principal, const dp::Event& event) {
    ledger::ChargeRequest request{.dataset_id = dataset_id_,
                                  .dataset_version = 1,
                                  .principal = TestPrincipal(principal),
                                  .request_id = Uuid(++requests_),
                                  .fingerprint = Sha256(std::to_string(requests_)),
                                  .kind = "workload",
                                  .event = codec::EncodeEvent(event),
                                  .label = "one count",
                                  .sealed_key = "key"};
    const std::vector<dp::CounterAmount> costs = dp::CostOf(rule_, event).value();
    for (const dp::CounterAmount& cost : costs) {
      request.postings.push_back({account_.id, cost.counter, cost.amount});
    }
    return request;
  }

  void Charge(const std::string& principal, const dp::Event& event) {
    const auto attempt = ledger_->Begin(Request(principal, event));
    ASSERT_TRUE(attempt.ok()) << attempt.status();
  }

  BudgetView Budget(const std::string& principal) {
    return GetBudget(services_, TestPrincipal(principal), DatasetName("census"),
                     BudgetDetail::kWithComparison)
        .value();
  }

  static double EpsilonBy(const HistoryComparison& comparison, std::string_view calculator) {
    for (const dp::CalculatedEpsilon& one : comparison.calculated) {
      if (one.calculator == calculator && one.epsilon.ok()) return *one.epsilon;
    }
    ADD_FAILURE() << std::string(calculator) << " counted nothing";
    return -1;
  }

  std::string dataset_id_;
  dp::RuleSpec rule_;
  ledger::Account account_;
  int requests_ = 0;
};

TEST_F(BudgetsTest, WhatIsLeftIsCountedInRequestsLikeTheCallersLast) {
  Charge("ana", Pure(500));
  Charge("ana", Pure(10));
  Charge("owner", Pure(200));
  const BudgetView budget = Budget("ana");
  const ledger::CounterBalance& rho = budget.accounts.at(0).counters.at(0);
  const int64_t cost = dp::CostOf(rule_, Pure(10))->at(0).amount;
  const int64_t left = budget.accounts.at(0).requests_left_like_last.value();
  EXPECT_EQ(left, (rho.limit - rho.spent) / cost);
  EXPECT_LE(left * cost, rho.limit - rho.spent);
  EXPECT_GT((left + 1) * cost, rho.limit - rho.spent);
  EXPECT_EQ(budget.last_request->summary, "one count: rho " + dp::FormatCounter("rho", cost));
}

TEST_F(BudgetsTest, AsManyRequestsAsAreSaidToBeLeftAreAdmittedAndNotOneMore) {
  Charge("ana", Pure(100));
  const int64_t left = Budget("ana").accounts.at(0).requests_left_like_last.value();
  ASSERT_GT(left, 0);
  ASSERT_LT(left, 100);
  for (int64_t i = 0; i < left; ++i) Charge("ana", Pure(100));
  EXPECT_EQ(Budget("ana").accounts.at(0).requests_left_like_last, 0);
  EXPECT_TRUE(absl::IsResourceExhausted(ledger_->Begin(Request("ana", Pure(100))).status()));
}

TEST_F(BudgetsTest, TheEpsilonThatWasUsedIsTheTightConversionOfWhatWasSpent) {
  EXPECT_EQ(Budget("ana").accounts.at(0).epsilon_used, dp::Epsilon(0));
  Charge("owner", Pure(500));
  Charge("ana", Pure(100));
  const BudgetView budget = Budget("owner");
  const AccountView& account = budget.accounts.at(0);
  const double compared = EpsilonBy(*budget.comparison, "zcdp-tight");
  EXPECT_NEAR(static_cast<double>(account.epsilon_used->units()) / dp::kEpsilonUnitsPerOne, compared, 1e-6);
  EXPECT_LT(*account.epsilon_used, account.rule.epsilon);
  EXPECT_EQ(Budget("ana").accounts.at(0).epsilon_used, account.epsilon_used) << "of all, as the counters are";
}

TEST_F(BudgetsTest, TheEpsilonThatWasUsedIsAboveThePromiseOnlyWhereMoreWasSpent) {
  Charge("ana", Pure(100));
  const DatasetView view =
      FindDataset({*ledger_}, Method::kGetDataset, TestPrincipal("owner"), DatasetName("census")).value();
  ledger::Account account = ledger_->ListAccounts(dataset_id_)->at(0);
  const int64_t limit = account.counters[0].limit;
  account.counters[0].spent = limit;
  EXPECT_LE(ViewOf(view, account)->epsilon_used, rule_.epsilon);
  EXPECT_GT(ViewOf(view, account)->epsilon_used, dp::Epsilon(rule_.epsilon.units() / 1000 * 999));
  account.counters[0].spent = limit + limit / 10;
  EXPECT_GT(ViewOf(view, account)->epsilon_used, rule_.epsilon) << "more was spent than was promised";
  account.counters[0].spent = std::numeric_limits<int64_t>::max();
  // Fails closed: no number is said.
  EXPECT_EQ(ViewOf(view, account)->epsilon_used, std::nullopt);
}

TEST_F(BudgetsTest, TheLargestPartHasTheLargestEpsilonThatWasUsedOfEqualPromises) {
  const auto part = [](const std::string& name, int64_t delta, int64_t used) {
    return AccountView{
        .name = "dataset/census/part/" + name,
        .rule = {.kind = dp::RuleKind::kZcdp, .epsilon = dp::Epsilon(4), .delta = dp::Delta(delta)},
        .epsilon_used = dp::Epsilon(used),
        .scope_type = ledger::ScopeType::kPart,
        .scope_key = name};
  };
  EXPECT_EQ(LargestPart("census", {part("a", 9, 1), part("b", 9, 3), part("c", 9, 2)})->epsilon_used,
            dp::Epsilon(3));
  EXPECT_EQ(LargestPart("census", {part("a", 9, 1), part("b", 8, 3)})->epsilon_used, std::nullopt);
  AccountView unknown = part("b", 9, 0);
  unknown.epsilon_used.reset();
  EXPECT_EQ(LargestPart("census", {part("a", 9, 1), unknown})->epsilon_used, std::nullopt);
  EXPECT_EQ(LargestPart("census", {unknown, part("a", 9, 1)})->epsilon_used, std::nullopt);
}

TEST_F(BudgetsTest, DamageIsSaidToAllWhoSeeTheBudgetAndDescribedToTheOwner) {
  Charge("ana", Pure(100));
  EXPECT_TRUE(Budget("ana").read_only.ok());
  const auto store = ledger::OpenLedgerDatabase("sqlite:" + folder_.path() + "/ledger.db").value();
  ASSERT_TRUE(store
                  ->Write([](ledger::sql::Transaction& transaction) {
                    return transaction.ExecuteScript(
                        "UPDATE account_counters SET limit_value = limit_value + 1000");
                  })
                  .status.ok());
  const auto of = [&](const char* principal) {
    return VerifyLedger({*ledger_}, TestPrincipal(principal), DatasetName("census")).value().verification;
  };
  const ledger::Verification owners = of("owner");
  EXPECT_FALSE(owners.ok);
  ASSERT_FALSE(owners.findings.empty());
  EXPECT_NE(owners.findings.front().find("account dataset/census"), std::string::npos);
  const ledger::Verification anas = of("ana");
  EXPECT_FALSE(anas.ok);
  EXPECT_THAT(anas.findings,
              ::testing::ElementsAre("the dataset's owner and its auditors may read what contradicts what"));
  EXPECT_EQ(anas.made_at_us, owners.made_at_us) << "only the owner starts a pass";
  for (const char* const principal : {"owner", "ana"}) {
    EXPECT_TRUE(absl::IsDataLoss(Budget(principal).read_only)) << principal;
  }
}

TEST_F(BudgetsTest, PassesThatAreMadeForACallerCountAndResultsThatAreGivenAgainDoNot) {
  PrincipalQuotas quotas(Quotas{.verifications_per_minute = 1}, [] { return absl::UnixEpoch(); });
  const auto verify = [&](const std::string& dataset) {
    return VerifyLedger({*ledger_}, TestPrincipal("owner"), DatasetName(dataset), &quotas).status();
  };
  EXPECT_TRUE(verify("census").ok());
  EXPECT_TRUE(verify("census").ok()) << "from the result of a moment ago";
  Make(People("fresh"));
  const absl::Status refused = verify("fresh");
  EXPECT_TRUE(QuotaRetryOf(refused).has_value()) << refused;
  EXPECT_TRUE(verify("census").ok());
  EXPECT_TRUE(VerifyLedger({*ledger_}, TestPrincipal("owner"), DatasetName("fresh")).ok())
      << "where nobody has quotas";
}

TEST_F(BudgetsTest, APrincipalWithoutRequestsReadsNothingOfThoseOfOthers) {
  Charge("owner", Pure(100));
  const BudgetView budget = Budget("ana");
  EXPECT_FALSE(budget.last_request.has_value());
  EXPECT_FALSE(budget.accounts.at(0).requests_left_like_last.has_value());
}

TEST_F(BudgetsTest, AllChargesAreCountedUnderOtherRulesForTheOwnerAndTheirOwnForOthers) {
  for (int i = 0; i < 5; ++i) Charge("ana", Pure(100));
  Charge("owner", Pure(200));
  EXPECT_FALSE(GetBudget(services_, TestPrincipal("owner"), DatasetName("census"), BudgetDetail::kBalances)
                   ->comparison.has_value());
  const HistoryComparison of_ana = Budget("ana").comparison.value();
  EXPECT_TRUE(of_ana.own_charges_only);
  EXPECT_EQ(of_ana.charges, 5);
  EXPECT_EQ(of_ana.delta, kDelta);
  EXPECT_NEAR(EpsilonBy(of_ana, "basic"), 0.5, 1e-12);
  const double squares = 5 * 0.01;
  EXPECT_NEAR(EpsilonBy(of_ana, "advanced"), std::sqrt(2 * std::log(1e6) * squares) + squares / 2, 1e-9);
  EXPECT_LE(EpsilonBy(of_ana, "numerical"), 0.5);
  EXPECT_LE(EpsilonBy(of_ana, "numerical-lower"), EpsilonBy(of_ana, "numerical"));
  const HistoryComparison of_owner = Budget("owner").comparison.value();
  EXPECT_FALSE(of_owner.own_charges_only);
  EXPECT_EQ(of_owner.charges, 6);
  EXPECT_NEAR(EpsilonBy(of_owner, "basic"), 0.7, 1e-12);
}

TEST_F(BudgetsTest, AComparisonIsComputedOnceForEachCallerAndChangeOfWhatItCounts) {
  Charge("ana", Pure(100));
  const double before = EpsilonBy(Budget("ana").comparison.value(), "numerical");
  std::optional<MemoryBudget::Lease> others = memory_.Take(TestPrincipal("other"), memory_.total()).value();
  const auto status = [&](const char* principal) {
    return GetBudget(services_, TestPrincipal(principal), DatasetName("census"),
                     BudgetDetail::kWithComparison)
        .status();
  };
  EXPECT_EQ(EpsilonBy(Budget("ana").comparison.value(), "numerical"), before) << "it was kept";
  EXPECT_TRUE(absl::IsUnavailable(status("owner"))) << "each caller's is their own";
  Charge("ana", Pure(100));
  EXPECT_TRUE(absl::IsUnavailable(status("ana"))) << "what is counted has changed";
  others.reset();
  EXPECT_GT(EpsilonBy(Budget("ana").comparison.value(), "numerical"), before);
}

TEST_F(BudgetsTest, AComparisonEndsWhenItsClientHasGone) {
  Charge("ana", Pure(100));
  std::stop_source client;
  client.request_stop();
  EXPECT_TRUE(absl::IsCancelled(GetBudget(services_, TestPrincipal("ana"), DatasetName("census"),
                                          BudgetDetail::kWithComparison, client.get_token())
                                    .status()));
}

TEST_F(BudgetsTest, AChargeOfMoreMechanismsThanAreComparedIsNotComparedAndItIsSaid) {
  dp::ComposedEvent many;
  for (int64_t i = 0; i <= static_cast<int64_t>(kMostMechanismsCompared); ++i) {
    many.parts.push_back({PureOfUnits(1'000'000 + i), 1});
  }
  Charge("ana", {many});
  const HistoryComparison comparison = Budget("ana").comparison.value();
  EXPECT_TRUE(comparison.calculated.empty());
  EXPECT_NE(comparison.not_computed.find("more than 2048 mechanisms"), std::string::npos)
      << comparison.not_computed;
}

TEST_F(BudgetsTest, MoreKindsOfRequestsThanAreComparedAreNotComparedAndItIsSaid) {
  for (int64_t i = 0; i <= kMostEventsCompared; ++i) Charge("ana", PureOfUnits(1'000'000 + i));
  const HistoryComparison comparison = Budget("ana").comparison.value();
  EXPECT_TRUE(comparison.calculated.empty());
  EXPECT_NE(comparison.not_computed.find("different kinds"), std::string::npos) << comparison.not_computed;
}

TEST_F(BudgetsTest, ACancelledReservationIsNeitherComparedNorTheLastRequest) {
  Charge("ana", Pure(100));
  const auto reserved = ledger_->Reserve({Request("ana", Pure(200))}, kHour);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  EXPECT_EQ(Budget("owner").comparison->charges, 2);
  ASSERT_TRUE(ledger_->CancelReserved(reserved->at(0).id, "not needed", TestPrincipal("ana")).ok());
  const HistoryComparison comparison = Budget("owner").comparison.value();
  EXPECT_EQ(comparison.charges, 1);
  EXPECT_NEAR(EpsilonBy(comparison, "basic"), 0.1, 1e-12);
  const int64_t cost = dp::CostOf(rule_, Pure(100))->at(0).amount;
  EXPECT_EQ(Budget("ana").last_request->summary, "one count: rho " + dp::FormatCounter("rho", cost));
}

TEST_F(BudgetsTest, AnEmptyHistoryComesToNothing) {
  const HistoryComparison comparison = Budget("owner").comparison.value();
  EXPECT_EQ(comparison.charges, 0);
  EXPECT_TRUE(comparison.calculated.empty());
  EXPECT_TRUE(comparison.not_computed.empty());
}

TEST_F(BudgetsTest, TheHistoryTellsOfAGroupsAccountHowManySharedIt) {
  const std::vector<dp::CounterAmount> limits = dp::LimitsOf(rule_).value();
  ledger::AccountSpec group{.scope_type = ledger::ScopeType::kAnalystGroup,
                            .scope_key = "interns",
                            .rule = codec::EncodeRule(rule_),
                            .rule_name = "ZCDP",
                            .limits = {{limits[0].counter, limits[0].amount}},
                            .members = {"ana", "bob"}};
  ASSERT_TRUE(ledger_->CreateAccount({Uuid(++requests_), dataset_id_, group, TestPrincipal("owner")}).ok());
  group.scope_key = "lone";
  group.members = {"cid"};
  ASSERT_TRUE(ledger_->CreateAccount({Uuid(++requests_), dataset_id_, group, TestPrincipal("owner")}).ok());
  const auto read = ListLedgerEntries({*ledger_}, TestPrincipal("owner"), DatasetName("census"), {});
  ASSERT_TRUE(read.ok()) << read.status();
  const std::vector<ledger::Entry>& entries = read->entries;
  const std::string rho = "rho " + dp::FormatCounter("rho", limits[0].amount);
  EXPECT_EQ(Summary(entries.at(entries.size() - 2)), "group interns (2 members): " + rho);
  EXPECT_EQ(Summary(entries.back()), "group lone (1 member): " + rho);
}

TEST_F(BudgetsTest, AChargeOfParallelPartsIsNotCountedAsLessThanItCosts) {
  Charge("ana", {dp::ParallelEvent{{Pure(100), Pure(200)}}});
  EXPECT_EQ(GetBudget(services_, TestPrincipal("owner"), DatasetName("census"), BudgetDetail::kWithComparison)
                .status()
                .code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace curator::service
