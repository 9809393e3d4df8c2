// Limits over a real socket: proposed by the owner, approved by somebody else, kept in the history, and shown
// as the promise that they keep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using ::testing::IsEmpty;
using ::testing::Not;

class Limits : public ::testing::TestWithParam<Backend> {
 protected:
  Limits()
      : server_(GetParam()),
        owner_(server_.ClientFor("owner")),
        ana_(server_.ClientFor("ana")),
        bob_(server_.ClientFor("bob")) {
    Make("census", v1::RULE_PURE, "1", "");
    v1::CreateAccountRequest account;
    account.set_dataset("census");
    account.set_analyst("ana");
    account.mutable_limit()->set_rule(v1::RULE_PURE);
    account.mutable_limit()->set_epsilon("0.5");
    EXPECT_TRUE(owner_.CreateAccount(account).ok());
  }

  void Make(const std::string& name, v1::Rule rule, const std::string& epsilon, const std::string& delta) {
    MakeSealed(owner_, NewDataset(name, rule, epsilon, delta), SmallCsv(80));
    Grant(owner_, name, "ana", {v1::ANALYST, v1::SERVICE});
    Grant(owner_, name, "bob", {v1::GRANTED_APPROVER});
  }

  // Of the dataset's own account; `analyst` names another.
  static v1::ProposeLimitChangeRequest Wish(const std::string& dataset, const std::string& epsilon,
                                            const std::string& analyst = "") {
    v1::ProposeLimitChangeRequest wish;
    wish.set_dataset(dataset);
    if (!analyst.empty()) wish.set_account("dataset/" + dataset + "/analyst/" + analyst);
    wish.set_epsilon(epsilon);
    wish.set_reason("a second study");
    return wish;
  }

  static v1::ApproveLimitChangeRequest Approval(const std::string& dataset, const std::string& proposal) {
    v1::ApproveLimitChangeRequest approval;
    approval.set_dataset(dataset);
    approval.set_proposal_id(proposal);
    return approval;
  }

  std::string Propose(const v1::ProposeLimitChangeRequest& wish) const {
    const absl::StatusOr<v1::LimitProposal> proposal = owner_.ProposeLimitChange(wish);
    EXPECT_TRUE(proposal.ok()) << proposal.status();
    return proposal.ok() ? proposal->id() : "";
  }

  void Change(const v1::ProposeLimitChangeRequest& wish) const {
    const absl::StatusOr<v1::LimitProposal> approved =
        bob_.ApproveLimitChange(Approval(wish.dataset(), Propose(wish)));
    ASSERT_TRUE(approved.ok()) << approved.status();
    EXPECT_EQ(approved->state(), v1::LimitProposal::APPROVED);
  }

  v1::Account Account(const std::string& dataset, int index) const {
    return owner_.ListAccounts(dataset)->accounts(index);
  }

  static absl::Status Ask(const Client& who, const std::string& dataset, const std::string& epsilon) {
    v1::AnswerWorkloadRequest request;
    request.set_dataset(dataset);
    *request.mutable_workload() = AllMarginals(1);
    request.mutable_spend()->set_epsilon(epsilon);
    return who.AnswerWorkload(request).status();
  }

  std::vector<std::string> HistoryOf(const std::string& dataset, const std::string& kind) const {
    std::vector<std::string> lines;
    EXPECT_TRUE(owner_
                    .ListLedgerEntries(dataset, 0,
                                       [&](const v1::LedgerEntry& entry) {
                                         if (entry.kind() == kind) {
                                           lines.push_back(entry.actor_name() + ": " + entry.summary());
                                         }
                                         return absl::OkStatus();
                                       })
                    .ok());
    return lines;
  }

  TestServer server_;
  Client owner_;
  Client ana_;
  Client bob_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Limits, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Limits, AreProposedByTheOwnerAndChangeWhenSomebodyElseApproves) {
  const v1::ProposeLimitChangeRequest wish = Wish("census", "0.7", "ana");
  EXPECT_TRUE(absl::IsPermissionDenied(ana_.ProposeLimitChange(wish).status()));
  const std::string id = Propose(wish);
  EXPECT_EQ(Account("census", 1).counters(0).limit(), "0.5") << "not approved yet";
  EXPECT_TRUE(absl::IsResourceExhausted(Ask(ana_, "census", "0.6")));

  const v1::ApproveLimitChangeRequest approval = Approval("census", id);
  EXPECT_TRUE(absl::IsPermissionDenied(owner_.ApproveLimitChange(approval).status())) << "who proposed it";
  EXPECT_TRUE(absl::IsPermissionDenied(ana_.ApproveLimitChange(approval).status())) << "whose account it is";
  EXPECT_TRUE(absl::IsNotFound(server_.ClientFor("stranger").ApproveLimitChange(approval).status()));
  EXPECT_EQ(Account("census", 1).counters(0).limit(), "0.5");

  const absl::StatusOr<v1::LimitProposal> approved = bob_.ApproveLimitChange(approval);
  ASSERT_TRUE(approved.ok()) << approved.status();
  EXPECT_EQ(approved->approved_by(), "bob");
  EXPECT_EQ(Account("census", 1).counters(0).limit(), "0.7");
  EXPECT_EQ(Account("census", 1).promise().epsilon(), "0.7");
  EXPECT_TRUE(Ask(ana_, "census", "0.6").ok());
  EXPECT_TRUE(owner_.VerifyLedger("census")->ok());
  EXPECT_THAT(HistoryOf("census", "LIMIT_PROPOSED"),
              ElementsAre("owner: epsilon 0.5 to 0.7: a second study"));
  EXPECT_THAT(HistoryOf("census", "LIMIT_CHANGED"), ElementsAre("bob: epsilon 0.5 to 0.7: a second study"));
}

TEST_P(Limits, AreShownAsThePromiseThatTheyKeepUnderEveryRule) {
  Make("gauss", v1::RULE_ZCDP, "3", "1e-9");
  Make("mixed", v1::RULE_ADVANCED, "1", "1e-6");
  for (const std::string dataset : {"gauss", "mixed"}) {
    const std::string before = Account(dataset, 0).counters(0).limit();
    Change(Wish(dataset, "2.5"));
    const v1::Account account = Account(dataset, 0);
    EXPECT_EQ(account.promise().epsilon(), "2.5");
    EXPECT_NE(account.counters(0).limit(), before);
  }
  EXPECT_EQ(Account("gauss", 0).promise().delta(), "1e-9");

  v1::ProposeLimitChangeRequest wish = Wish("mixed", "");
  wish.set_delta("2e-6");
  Change(wish);
  EXPECT_EQ(Account("mixed", 0).promise().delta(), "2e-6");
  EXPECT_EQ(Account("mixed", 0).promise().epsilon(), "2.5") << "an earlier change stays";
  EXPECT_TRUE(owner_.VerifyLedger("mixed")->ok());
}

TEST_P(Limits, AreNotLoweredBelowWhatIsSpentAndHeld) {
  ASSERT_TRUE(Ask(ana_, "census", "0.3").ok());
  v1::ReserveBudgetRequest reservation;
  reservation.set_dataset("census");
  reservation.mutable_event()->mutable_pure()->set_epsilon("0.1");
  ASSERT_TRUE(ana_.ReserveBudget(reservation).ok());

  const absl::Status refused = owner_.ProposeLimitChange(Wish("census", "0.35", "ana")).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("dataset/census/analyst/ana has spent 0.3"), HasSubstr("holds 0.1 more"),
                    HasSubstr("cannot be lowered to 0.35")));
  const std::string lowered = Propose(Wish("census", "0.45", "ana"));
  ASSERT_TRUE(Ask(ana_, "census", "0.1").ok()) << "proposed is not yet lowered";
  const absl::Status too_late = bob_.ApproveLimitChange(Approval("census", lowered)).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(too_late));
  EXPECT_THAT(std::string(too_late.message()), Not(HasSubstr("0.4"))) << "no balance for other eyes";
  EXPECT_EQ(Account("census", 1).counters(0).limit(), "0.5");
}

TEST_P(Limits, AProposalIsApprovedOnceAndOnlyFromTheLimitThatItStartedFrom) {
  v1::ProposeLimitChangeRequest wish = Wish("census", "2");
  wish.set_request_id(*client::NewRequestId());
  const std::string first = Propose(wish);
  EXPECT_EQ(Propose(wish), first) << "the same request";
  const std::string second = Propose(Wish("census", "3"));
  EXPECT_TRUE(absl::IsPermissionDenied(ana_.ApproveLimitChange(Approval("census", first)).status()))
      << "she spends from it";
  ASSERT_TRUE(bob_.ApproveLimitChange(Approval("census", first)).ok());
  EXPECT_TRUE(bob_.ApproveLimitChange(Approval("census", first)).ok()) << "asked again";
  EXPECT_EQ(Propose(wish), first) << "asked again after the approval";
  EXPECT_TRUE(absl::IsFailedPrecondition(bob_.ApproveLimitChange(Approval("census", second)).status()));
  EXPECT_EQ(Account("census", 0).counters(0).limit(), "2");
  const absl::StatusOr<v1::ListLimitProposalsResponse> listed = owner_.ListLimitProposals("census");
  ASSERT_EQ(listed->proposals_size(), 2);
  EXPECT_EQ(listed->proposals(0).state(), v1::LimitProposal::OUTDATED);
  EXPECT_EQ(listed->proposals(1).state(), v1::LimitProposal::APPROVED);

  v1::ProposeLimitChangeRequest other = wish;
  other.set_epsilon("4");
  EXPECT_TRUE(absl::IsAlreadyExists(owner_.ProposeLimitChange(other).status()));
}

TEST_P(Limits, ProposalsAreListedForThoseWhoseAccountTheyConcern) {
  const std::string id = Propose(Wish("census", "0.7", "ana"));
  EXPECT_EQ(owner_.ListLimitProposals("census")->proposals_size(), 1);
  EXPECT_EQ(ana_.ListLimitProposals("census")->proposals(0).id(), id);
  EXPECT_EQ(bob_.ListLimitProposals("census")->proposals_size(), 1) << "an approver sees all";
  Grant(owner_, "census", "cid");
  EXPECT_THAT(server_.ClientFor("cid").ListLimitProposals("census")->proposals(), IsEmpty());
  v1::ApproveLimitChangeRequest look = Approval("census", id);
  look.set_validate_only(true);
  const absl::StatusOr<v1::LimitProposal> seen = bob_.ApproveLimitChange(look);
  ASSERT_TRUE(seen.ok()) << seen.status();
  EXPECT_EQ(seen->state(), v1::LimitProposal::PENDING);
  EXPECT_EQ(seen->new_limit(), "0.7");
  EXPECT_EQ(Account("census", 1).counters(0).limit(), "0.5") << "it was only looked at";
}

TEST_P(Limits, ABadWishIsRefusedByItsField) {
  const auto field = [&](const v1::ProposeLimitChangeRequest& wish) {
    const absl::Status status = owner_.ProposeLimitChange(wish).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    const std::vector<client::FieldViolation> violations = client::FieldViolations(status);
    return violations.empty() ? "" : violations[0].field;
  };
  for (const char* epsilon : {"", "0", "-1", "nan", "1e400", "abc", "1e-13"}) {
    EXPECT_EQ(field(Wish("census", epsilon)), "epsilon") << epsilon;
  }
  EXPECT_EQ(field(Wish("census", "2", "nobody")), "account");
  v1::ProposeLimitChangeRequest wish = Wish("census", "2");
  wish.clear_promise();
  EXPECT_EQ(field(wish), "epsilon");
  wish.set_delta("1e-6");
  EXPECT_EQ(field(wish), "delta") << "a pure account has none";
  wish = Wish("census", "2");
  wish.set_reason("");
  EXPECT_EQ(field(wish), "reason");
  wish.set_reason(std::string(501, 'x'));
  EXPECT_EQ(field(wish), "reason");
  wish = Wish("census", "2");
  wish.set_request_id("not a uuid");
  EXPECT_EQ(field(wish), "request_id");
  EXPECT_TRUE(absl::IsFailedPrecondition(owner_.ProposeLimitChange(Wish("census", "1")).status()))
      << "promised already";
  EXPECT_TRUE(absl::IsNotFound(bob_.ApproveLimitChange(Approval("census", "1b4e")).status()));
  EXPECT_THAT(owner_.ListLimitProposals("census")->proposals(), IsEmpty());
  EXPECT_TRUE(HistoryOf("census", "LIMIT_PROPOSED").empty());
}

TEST_P(Limits, OutliveARestart) {
  Change(Wish("census", "0.25", "ana"));
  server_.Restart();
  EXPECT_EQ(server_.ClientFor("ana").ListAccounts("census")->accounts(1).promise().epsilon(), "0.25");
  EXPECT_TRUE(absl::IsResourceExhausted(Ask(server_.ClientFor("ana"), "census", "0.3")));
}

}  // namespace
}  // namespace curator::testing
