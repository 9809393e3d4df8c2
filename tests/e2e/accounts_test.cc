// Accounts of analysts and groups over a real socket: whose charges they count, who sees them, and that a
// request keeps its price when accounts are opened later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "client/error.h"
#include "client/request_id.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Accounts : public ::testing::TestWithParam<Backend> {
 protected:
  Accounts()
      : server_(GetParam()),
        owner_(server_.ClientFor("owner")),
        ana_(server_.ClientFor("ana")),
        bob_(server_.ClientFor("bob")) {
    MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
    for (const char* const analyst : {"ana", "bob"})
      Grant(owner_, "census", analyst, {v1::ANALYST, v1::SERVICE});
  }

  static v1::CreateAccountRequest ForAnalyst(const std::string& analyst, const std::string& epsilon) {
    v1::CreateAccountRequest request;
    request.set_dataset("census");
    request.set_analyst(analyst);
    request.mutable_limit()->set_rule(v1::RULE_PURE);
    request.mutable_limit()->set_epsilon(epsilon);
    return request;
  }
  static v1::CreateAccountRequest ForGroup(const std::string& group, const std::vector<std::string>& members,
                                           const std::string& epsilon) {
    v1::CreateAccountRequest request = ForAnalyst("", epsilon);
    request.mutable_group()->set_name(group);
    for (const std::string& member : members) request.mutable_group()->add_members(member);
    return request;
  }

  static v1::AnswerWorkloadRequest Question(const std::string& epsilon) {
    v1::AnswerWorkloadRequest request;
    request.set_dataset("census");
    *request.mutable_workload() = AllMarginals(1);
    request.mutable_spend()->set_epsilon(epsilon);
    return request;
  }

  static std::vector<std::string> FullOnes(const absl::Status& status) {
    std::vector<std::string> names;
    for (const client::FullAccount& full : client::FullAccounts(status)) names.push_back(full.account);
    return names;
  }

  // "dataset/census 0.3" for each account that `who` sees.
  static std::vector<std::string> SeenBy(const Client& who) {
    std::vector<std::string> seen;
    const absl::StatusOr<v1::ListAccountsResponse> listed = who.ListAccounts("census");
    EXPECT_TRUE(listed.ok()) << listed.status();
    for (const v1::Account& account : listed->accounts()) {
      seen.push_back(account.name() + " " + account.counters(0).spent());
    }
    return seen;
  }

  TestServer server_;
  Client owner_;
  Client ana_;
  Client bob_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Accounts, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Accounts, AChargePostsToTheDatasetAndToWhatConcernsItsPrincipalAndToNothingElse) {
  ASSERT_TRUE(owner_.CreateAccount(ForAnalyst("ana", "0.5")).ok());
  ASSERT_TRUE(owner_.CreateAccount(ForGroup("interns", {"bob", "ana"}, "0.6")).ok());
  ASSERT_TRUE(owner_.CreateAccount(ForGroup("guests", {"carl"}, "0.1")).ok());
  const absl::StatusOr<Answer> answer = ana_.AnswerWorkload(Question("0.3"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->header.costs_size(), 3);
  ASSERT_TRUE(bob_.AnswerWorkload(Question("0.2")).ok());
  ASSERT_TRUE(owner_.AnswerWorkload(Question("0.1")).ok());
  EXPECT_THAT(SeenBy(owner_),
              ElementsAre("dataset/census 0.6", "dataset/census/analyst/ana 0.3",
                          "dataset/census/group/guests 0", "dataset/census/group/interns 0.5"));
  EXPECT_TRUE(owner_.VerifyLedger("census")->ok());
}

TEST_P(Accounts, ARefusalNamesEachFullAccountAndChargesNone) {
  ASSERT_TRUE(owner_.CreateAccount(ForAnalyst("ana", "0.5")).ok());
  ASSERT_TRUE(owner_.CreateAccount(ForGroup("interns", {"ana", "bob"}, "0.6")).ok());
  EXPECT_THAT(FullOnes(ana_.AnswerWorkload(Question("0.55")).status()),
              ElementsAre("dataset/census/analyst/ana"));
  EXPECT_THAT(FullOnes(ana_.AnswerWorkload(Question("1.1")).status()),
              ElementsAre("dataset/census", "dataset/census/analyst/ana", "dataset/census/group/interns"));
  ASSERT_TRUE(bob_.AnswerWorkload(Question("0.6")).ok());
  EXPECT_THAT(FullOnes(ana_.AnswerWorkload(Question("0.1")).status()),
              ElementsAre("dataset/census/group/interns"));
  EXPECT_TRUE(owner_.AnswerWorkload(Question("0.4")).ok()) << "the dataset itself is not full";
  EXPECT_THAT(SeenBy(owner_), ElementsAre("dataset/census 1", "dataset/census/analyst/ana 0",
                                          "dataset/census/group/interns 0.6"));
}

TEST_P(Accounts, AnalystsTogetherNeverExceedTheDatasetsLimit) {
  ASSERT_TRUE(owner_.CreateAccount(ForAnalyst("ana", "0.8")).ok());
  ASSERT_TRUE(owner_.CreateAccount(ForAnalyst("bob", "0.8")).ok());
  ASSERT_TRUE(ana_.AnswerWorkload(Question("0.7")).ok());
  EXPECT_THAT(FullOnes(bob_.AnswerWorkload(Question("0.7")).status()), ElementsAre("dataset/census"));
  EXPECT_TRUE(bob_.AnswerWorkload(Question("0.3")).ok());
}

TEST_P(Accounts, AnAnalystSeesTheDatasetsAccountAndHisOwn) {
  ASSERT_TRUE(owner_.CreateAccount(ForAnalyst("ana", "0.5")).ok());
  ASSERT_TRUE(owner_.CreateAccount(ForGroup("interns", {"bob", "ana"}, "0.6")).ok());
  ASSERT_TRUE(owner_.CreateAccount(ForAnalyst("bob", "0.5")).ok());
  EXPECT_THAT(SeenBy(ana_), ElementsAre("dataset/census 0", "dataset/census/analyst/ana 0",
                                        "dataset/census/group/interns 0"));
  EXPECT_EQ(ana_.GetBudget("census")->accounts_size(), 3);
  EXPECT_THAT(ana_.ListAccounts("census")->accounts(2).group().members(), IsEmpty())
      << "who else belongs to a group is for the owner";
  EXPECT_THAT(owner_.ListAccounts("census")->accounts(3).group().members(), ElementsAre("ana", "bob"));
  EXPECT_EQ(server_.ClientFor("stranger").ListAccounts("census").status().code(),
            absl::StatusCode::kNotFound);
}

TEST_P(Accounts, OnlyTheOwnerOpensAccountsAndEachOnce) {
  EXPECT_EQ(ana_.CreateAccount(ForAnalyst("ana", "0.5")).status().code(),
            absl::StatusCode::kPermissionDenied);
  v1::CreateAccountRequest request = ForAnalyst("ana", "0.5");
  request.set_validate_only(true);
  EXPECT_EQ(owner_.CreateAccount(request)->name(), "dataset/census/analyst/ana");
  EXPECT_EQ(owner_.ListAccounts("census")->accounts_size(), 1) << "it was only checked";
  request.set_validate_only(false);
  request.set_request_id(*client::NewRequestId());
  ASSERT_TRUE(owner_.CreateAccount(request).ok());
  ASSERT_TRUE(owner_.CreateAccount(request).ok());
  EXPECT_EQ(owner_.ListAccounts("census")->accounts_size(), 2);
  EXPECT_EQ(owner_.CreateAccount(ForAnalyst("ana", "0.5")).status().code(), absl::StatusCode::kAlreadyExists);
}

TEST_P(Accounts, ABadAccountIsRefusedByItsField) {
  const auto refusal = [&](const v1::CreateAccountRequest& request) {
    return std::string(owner_.CreateAccount(request).status().message());
  };
  v1::CreateAccountRequest nobody = ForAnalyst("", "0.5");
  EXPECT_THAT(refusal(nobody), HasSubstr("analyst: "));
  nobody.clear_holder();
  EXPECT_THAT(refusal(nobody), HasSubstr("either an analyst or a group"));
  EXPECT_THAT(refusal(ForAnalyst("ana", "0")), HasSubstr("limit.epsilon: "));
  EXPECT_THAT(refusal(ForGroup("interns", {}, "0.5")), HasSubstr("group.members: "));
  EXPECT_THAT(refusal(ForGroup("interns", {"ana", "a b"}, "0.5")), HasSubstr("group.members[1]: "));
  EXPECT_THAT(refusal(ForGroup("interns", {"ana", "ana"}, "0.5")), HasSubstr("\"ana\" twice"));
  EXPECT_EQ(owner_.ListAccounts("census")->accounts_size(), 1);
}

TEST_P(Accounts, WhatAnAnalystsRuleCannotCountIsRefusedNamingHisAccount) {
  MakeSealed(owner_, NewDataset("survey", v1::RULE_ZCDP, "3", "1e-9"), SmallCsv(80));
  v1::CreateAccountRequest account = ForAnalyst("owner", "0.5");
  account.set_dataset("survey");
  ASSERT_TRUE(owner_.CreateAccount(account).ok());
  v1::AnswerWorkloadRequest gaussian = Question("0.1");
  gaussian.set_dataset("survey");
  gaussian.mutable_spend()->clear_epsilon();
  gaussian.mutable_spend()->set_rho("0.01");
  const absl::Status refused = owner_.AnswerWorkload(gaussian).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("dataset/survey/analyst/owner"));

  v1::AnswerWorkloadRequest laplace = Question("0.1");
  laplace.set_dataset("survey");
  const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(laplace);
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->header.costs_size(), 2);
  EXPECT_EQ(answer->header.costs(0).counter(), "rho");
  EXPECT_EQ(answer->header.costs(1).counter(), "epsilon");
  EXPECT_EQ(answer->header.costs(1).amount(), "0.1");
}

TEST_P(Accounts, ARequestMadeBeforeAnAccountWasOpenedIsStillReplayed) {
  v1::AnswerWorkloadRequest question = Question("0.3");
  question.set_request_id(*client::NewRequestId());
  const absl::StatusOr<Answer> first = ana_.AnswerWorkload(question);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(owner_.CreateAccount(ForAnalyst("ana", "0.2")).ok());
  const absl::StatusOr<Answer> again = ana_.AnswerWorkload(question);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->header.replayed());
  EXPECT_EQ(again->marginals[0].counts, first->marginals[0].counts);
  EXPECT_THAT(SeenBy(ana_), ElementsAre("dataset/census 0.3", "dataset/census/analyst/ana 0"));

  question.mutable_spend()->set_epsilon("0.1");
  EXPECT_EQ(ana_.AnswerWorkload(question).status().code(), absl::StatusCode::kAlreadyExists);
}

TEST_P(Accounts, ARequestIsReplayedAlsoWhereALaterAccountCouldNotCountIt) {
  MakeSealed(owner_, NewDataset("survey", v1::RULE_ZCDP, "3", "1e-9"), SmallCsv(80));
  v1::AnswerWorkloadRequest gaussian = Question("0.1");
  gaussian.set_dataset("survey");
  gaussian.mutable_spend()->clear_epsilon();
  gaussian.mutable_spend()->set_rho("0.01");
  gaussian.set_request_id(*client::NewRequestId());
  const absl::StatusOr<Answer> first = owner_.AnswerWorkload(gaussian);
  ASSERT_TRUE(first.ok()) << first.status();
  v1::CreateAccountRequest account = ForAnalyst("owner", "0.5");
  account.set_dataset("survey");
  ASSERT_TRUE(owner_.CreateAccount(account).ok());
  const absl::StatusOr<Answer> again = owner_.AnswerWorkload(gaussian);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->header.replayed());
}

TEST_P(Accounts, AReservationHoldsAndSpendsAllThatConcernsItsPrincipal) {
  ASSERT_TRUE(owner_.CreateAccount(ForAnalyst("ana", "0.5")).ok());
  ASSERT_TRUE(owner_.CreateAccount(ForAnalyst("bob", "0.5")).ok());
  v1::ReserveBudgetRequest request;
  request.set_dataset("census");
  request.mutable_event()->mutable_pure()->set_epsilon("0.3");
  const absl::StatusOr<v1::Charge> reserved = ana_.ReserveBudget(request);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  EXPECT_EQ(reserved->costs_size(), 2);
  EXPECT_THAT(FullOnes(ana_.ReserveBudget(request).status()), ElementsAre("dataset/census/analyst/ana"));
  v1::StartChargeRequest start;
  start.set_charge_id(reserved->id());
  ASSERT_TRUE(ana_.StartCharge(start).ok());
  EXPECT_THAT(SeenBy(owner_), ElementsAre("dataset/census 0.3", "dataset/census/analyst/ana 0.3",
                                          "dataset/census/analyst/bob 0"));
}

TEST_P(Accounts, AccountsOutliveARestart) {
  ASSERT_TRUE(owner_.CreateAccount(ForGroup("interns", {"ana", "bob"}, "0.6")).ok());
  server_.Restart();
  const Client ana = server_.ClientFor("ana");
  ASSERT_TRUE(ana.AnswerWorkload(Question("0.5")).ok());
  EXPECT_THAT(FullOnes(server_.ClientFor("bob").AnswerWorkload(Question("0.2")).status()),
              ElementsAre("dataset/census/group/interns"));
  EXPECT_TRUE(server_.ClientFor("owner").VerifyLedger("census")->ok());
}

}  // namespace
}  // namespace curator::testing
