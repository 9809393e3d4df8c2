// The owner's rules over a real socket: what they refuse is not charged, and what was charged stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/error.h"
#include "client/request_id.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class RefusalRules : public ::testing::TestWithParam<Backend> {
 protected:
  RefusalRules()
      : server_(GetParam()),
        owner_(server_.ClientFor("owner")),
        ana_(server_.ClientFor("ana")),
        bob_(server_.ClientFor("bob")) {
    MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1", ""), SmallCsv(80));
    for (const char* const grantee : {"ana", "bob"})
      Grant(owner_, "census", grantee, {v1::ANALYST, v1::SERVICE});
  }

  static v1::AnswerWorkloadRequest Question(const std::string& attribute, const std::string& epsilon) {
    v1::AnswerWorkloadRequest request;
    request.set_dataset("census");
    request.mutable_workload()->add_query_sets()->mutable_marginals()->add_sets()->add_names(attribute);
    request.mutable_spend()->set_epsilon(epsilon);
    return request;
  }
  static v1::ReserveBudgetRequest Reservation() {
    v1::ReserveBudgetRequest request;
    request.set_dataset("census");
    request.mutable_event()->mutable_pure()->set_epsilon("0.01");
    return request;
  }
  v1::RefusalRule Add(v1::RefusalRule rule) const {
    v1::AddRefusalRuleRequest request;
    request.set_dataset("census");
    *request.mutable_rule() = std::move(rule);
    const auto added = owner_.AddRefusalRule(request);
    EXPECT_TRUE(added.ok()) << added.status();
    return added.value_or(v1::RefusalRule());
  }
  void Remove(const std::string& name) const {
    v1::RemoveRefusalRuleRequest request;
    request.set_dataset("census");
    request.set_name(name);
    const auto removed = owner_.RemoveRefusalRule(request);
    EXPECT_TRUE(removed.ok()) << removed.status();
  }
  // For ana, about ages and above a price.
  static v1::RefusalRule NoAges() {
    v1::RefusalRule rule;
    rule.set_name("no-ages");
    rule.add_principals("ana");
    rule.add_principals("zoe");
    rule.add_attributes("age");
    rule.set_note("ages wait for the board");
    return rule;
  }
  std::string Spent() const {
    const auto budget = owner_.GetBudget("census");
    EXPECT_TRUE(budget.ok()) << budget.status();
    const v1::Counter& counter = budget->accounts(0).counters(0);
    return counter.spent() + " and " + counter.held();
  }
  std::vector<std::string> RulesInHistory() const {
    std::vector<std::string> said;
    EXPECT_TRUE(owner_
                    .ListLedgerEntries("census", 0,
                                       [&](const v1::LedgerEntry& entry) {
                                         if (entry.kind() == "RULES_SET")
                                           said.push_back(entry.actor_name() + ": " + entry.summary());
                                         return absl::OkStatus();
                                       })
                    .ok());
    return said;
  }

  TestServer server_;
  const Client owner_;
  const Client ana_;
  const Client bob_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, RefusalRules, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(RefusalRules, WhatARuleRefusesIsNotChargedAndOthersAreNotConcerned) {
  v1::AnswerWorkloadRequest before = Question("age", "0.1");
  before.set_request_id(client::NewRequestId().value());
  const auto charged = ana_.AnswerWorkload(before);
  ASSERT_TRUE(charged.ok()) << charged.status();
  const std::string spent = Spent();

  Add(NoAges());
  const absl::Status refused = ana_.AnswerWorkload(Question("age", "0.1")).status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("no-ages"), HasSubstr("ages wait for the board"), HasSubstr("without age"),
                    Not(HasSubstr("zoe"))));
  const absl::Status reserved = ana_.ReserveBudget(Reservation()).status();
  EXPECT_TRUE(absl::IsPermissionDenied(reserved)) << "what it reads cannot be observed: " << reserved;
  EXPECT_EQ(Spent(), spent);

  EXPECT_TRUE(ana_.AnswerWorkload(Question("sex", "0.1")).ok());
  EXPECT_TRUE(bob_.AnswerWorkload(Question("age", "0.1")).ok());
  EXPECT_TRUE(bob_.ReserveBudget(Reservation()).ok());
  const auto again = ana_.AnswerWorkload(before);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->header.release_id(), charged->header.release_id()) << "what was charged is answered again";

  Remove("no-ages");
  EXPECT_TRUE(ana_.AnswerWorkload(Question("age", "0.1")).ok());
  EXPECT_THAT(RulesInHistory(), ElementsAre("owner: added no-ages", "owner: removed no-ages"));
  const auto verified = owner_.VerifyLedger("census");
  ASSERT_TRUE(verified.ok()) << verified.status();
  EXPECT_TRUE(verified->ok());
}

TEST_P(RefusalRules, AnEstimateSaysWhichRuleWouldRefuse) {
  Add(NoAges());
  v1::EstimateWorkloadRequest request;
  request.set_dataset("census");
  *request.mutable_workload() = Question("age", "0.1").workload();
  request.mutable_spend()->set_epsilon("0.1");
  EXPECT_EQ(ana_.EstimateWorkload(request)->refused_by_rule(), "no-ages");
  EXPECT_EQ(bob_.EstimateWorkload(request)->refused_by_rule(), "");
}

TEST_P(RefusalRules, EachPrincipalIsShownTheRulesThatConcernIt) {
  v1::RefusalRule small;
  small.set_name("small");
  small.mutable_price_above()->set_counter("epsilon");
  small.mutable_price_above()->set_amount("0.2");
  Add(NoAges());
  Add(small);
  EXPECT_EQ(owner_.ListRefusalRules("census")->rules_size(), 2);
  EXPECT_EQ(owner_.ListRefusalRules("census", 1)->rules_size(), 1);
  const auto of_ana = ana_.ListRefusalRules("census");
  ASSERT_TRUE(of_ana.ok()) << of_ana.status();
  ASSERT_EQ(of_ana->rules_size(), 2);
  EXPECT_THAT(of_ana->rules(0).principals(), ElementsAre("ana"));
  ASSERT_EQ(bob_.ListRefusalRules("census")->rules_size(), 1);
  EXPECT_EQ(bob_.ListRefusalRules("census")->rules(0).price_above().amount(), "0.2");
}

TEST_P(RefusalRules, RulesOutliveARestartAndASuccessorBeginsWithThem) {
  Add(NoAges());
  v1::CreateDatasetRequest successor = NewDataset("census-2", v1::RULE_PURE, "1", "");
  successor.clear_limit();
  successor.set_successor_of("census");
  ASSERT_TRUE(owner_.CreateDataset(successor).ok());
  const auto rules = owner_.ListRefusalRules("census-2");
  ASSERT_TRUE(rules.ok()) << rules.status();
  ASSERT_EQ(rules->rules_size(), 1);
  EXPECT_EQ(rules->rules(0).name(), "no-ages");
  server_.Restart();
  const absl::Status refused = server_.ClientFor("ana").AnswerWorkload(Question("age", "0.1")).status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
}

}  // namespace
}  // namespace curator::testing
