#include "base/errors.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/history/entry_payload.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AccountConformance : public LedgerConformance {
 protected:
  static NewAccount ForAnalyst(const Dataset& dataset, const std::string& analyst, int64_t limit) {
    return {.request_id = "open " + analyst,
            .dataset_id = dataset.id,
            .account = {.scope_type = ScopeType::kAnalyst,
                        .scope_key = analyst,
                        .rule = "rule of " + analyst,
                        .rule_name = "PURE",
                        .limits = {{"epsilon", limit}}},
            .actor = TestPrincipal("olga")};
  }
  static NewAccount ForGroup(const Dataset& dataset, const std::string& group, int64_t limit,
                             std::vector<std::string> members) {
    NewAccount account = ForAnalyst(dataset, group, limit);
    account.account.scope_type = ScopeType::kAnalystGroup;
    account.account.members = std::move(members);
    return account;
  }
  // A charge by ana of `cost` on every one of these accounts: on the dataset's own in rho, else in epsilon.
  static ChargeRequest RequestOn(const Dataset& dataset, const std::string& request_id,
                                 const std::vector<Account>& accounts, int64_t cost) {
    ChargeRequest request = RequestOf(dataset, request_id, 0, cost);
    request.postings.clear();
    for (const Account& account : accounts) {
      request.postings.push_back({account.id, account.counters.at(0).counter, cost});
    }
    return request;
  }
  static std::vector<int64_t> SpentOf(Ledger& ledger, const Dataset& dataset) {
    std::vector<int64_t> spent;
    for (const Account& account : Must(ledger.ListAccounts(dataset.id))) {
      spent.push_back(account.counters.at(0).spent);
    }
    return spent;
  }
};

TEST_P(AccountConformance, AnAccountOpenedLaterIsKeptWholeAndVerified) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  const Account made = Must(ledger->CreateAccount(ForGroup(dataset, "interns", 4, {"Zoe", "ana", "änne"})));
  ledger.reset();
  ledger = Open();
  const std::vector<Account> accounts = Must(ledger->ListAccounts(dataset.id));
  ASSERT_EQ(accounts.size(), 2U);
  EXPECT_EQ(accounts[1].id, made.id);
  EXPECT_EQ(accounts[1].scope_type, ScopeType::kAnalystGroup);
  EXPECT_EQ(accounts[1].scope_key, "interns");
  EXPECT_EQ(accounts[1].rule, "rule of interns");
  EXPECT_THAT(accounts[1].members, ElementsAre("Zoe", "ana", "änne"));
  EXPECT_THAT(accounts[1].counters, ElementsAre(CounterBalance{"epsilon", 4, 0, 0}));
  const Entry entry = Must(ledger->ListEntries(dataset.id, {.after_seq = 2})).at(0);
  EXPECT_EQ(entry.kind, "ACCOUNT_OPENED");
  EXPECT_EQ(entry.actor, "olga");
  EXPECT_EQ(Must(ParseOpenedAccount(entry.payload)).spec.members, accounts[1].members);
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, ElementsAre());
}

TEST_P(AccountConformance, OneRequestIdOpensOneAccount) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  const Account first = Must(ledger->CreateAccount(ForAnalyst(dataset, "ana", 4)));
  EXPECT_EQ(Must(ledger->CreateAccount(ForAnalyst(dataset, "ana", 4))).id, first.id);
  EXPECT_EQ(Must(ledger->ListAccounts(dataset.id)).size(), 2U);
  EXPECT_EQ(Must(ledger->ListEntries(dataset.id, {})).size(), 3U);

  EXPECT_STATUS_IS(absl::StatusCode::kAlreadyExists,
                   ledger->CreateAccount(ForAnalyst(dataset, "ana", 5)).status());
  NewAccount other = ForAnalyst(dataset, "bob", 4);
  other.request_id = "create census";
  EXPECT_STATUS_IS(absl::StatusCode::kAlreadyExists, ledger->CreateAccount(other).status());
  NewAccount second = ForAnalyst(dataset, "ana", 4);
  second.request_id = "another";
  EXPECT_STATUS_IS(absl::StatusCode::kAlreadyExists, ledger->CreateAccount(second).status());
  EXPECT_EQ(Must(ledger->ListAccounts(dataset.id)).size(), 2U);
}

TEST_P(AccountConformance, AChargeIsTakenByAllItsAccountsOrByNoneAndAllFullOnesAreNamed) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  Must(ledger->CreateAccount(ForAnalyst(dataset, "ana", 4)));
  Must(ledger->CreateAccount(ForGroup(dataset, "interns", 3, {"ana"})));
  const std::vector<Account> accounts = Must(ledger->ListAccounts(dataset.id));
  Must(ledger->Begin(RequestOn(dataset, "r1", accounts, 2)));
  EXPECT_THAT(SpentOf(*ledger, dataset), ElementsAre(2, 2, 2));

  const absl::Status refused = ledger->Begin(RequestOn(dataset, "r2", accounts, 3)).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(FullAccountsOf(refused),
              ElementsAre(FullAccount{"dataset/census/analyst/ana", "PURE", "epsilon", 3, 2},
                          FullAccount{"dataset/census/group/interns", "PURE", "epsilon", 3, 1}));
  EXPECT_THAT(SpentOf(*ledger, dataset), ElementsAre(2, 2, 2));
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, ElementsAre());
}

TEST_P(AccountConformance, AChargePricedBeforeAnAccountWasOpenedIsRefusedToBePricedAgain) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  const std::vector<Account> before = Must(ledger->ListAccounts(dataset.id));
  Must(ledger->CreateAccount(ForGroup(dataset, "interns", 3, {"ana", "bob"})));
  const std::vector<Account> with_group = Must(ledger->ListAccounts(dataset.id));
  EXPECT_STATUS_IS(absl::StatusCode::kAborted, ledger->Begin(RequestOn(dataset, "r1", before, 1)).status());
  EXPECT_STATUS_IS(absl::StatusCode::kAborted,
                   ledger->Reserve({RequestOn(dataset, "r1", before, 1)}, 60'000'000).status());
  Must(ledger->Begin(RequestOn(dataset, "r1", with_group, 1)));
  Must(ledger->CreateAccount(ForAnalyst(dataset, "ana", 4)));
  EXPECT_STATUS_IS(absl::StatusCode::kAborted,
                   ledger->Begin(RequestOn(dataset, "r2", with_group, 1)).status());
  EXPECT_THAT(SpentOf(*ledger, dataset), ElementsAre(1, 0, 1)) << "of the dataset, ana and the interns";

  ChargeRequest by_carl = RequestOn(dataset, "r3", before, 1);
  by_carl.principal = TestPrincipal("carl");
  EXPECT_TRUE(ledger->Begin(by_carl).ok()) << "the accounts of others do not concern him";
}

// A server caches the accounts that each principal must post to. Another server opens an account on another
// dataset of the lineage, which adds no entry to the history of the dataset that is charged.
TEST_P(AccountConformance, AnAccountOpenedByAnotherServerIsRequiredByAServerThatHasCachedTheOthers) {
  auto charging = Open();
  const Dataset first = MakeDataset(*charging, "census", 100);
  DatasetSpec spec = SpecOf("census-2", 0);
  spec.accounts.clear();
  spec.successor_of = first.id;
  const Dataset second =
      Must(charging->SealDataset(Must(charging->CreateDataset(spec)).id, "newer", TestPrincipal("olga")));
  Must(charging->CreateAccount(ForAnalyst(first, "bob", 4)));
  const std::vector<Account> own = Must(charging->ListPayingAccounts(second.id, "ana"));
  for (int i = 0; i < 3; ++i) {
    Must(charging->Begin(RequestOn(second, absl::StrCat("before ", i), own, 1)));
  }
  auto opening = Open();
  Must(opening->CreateAccount(ForAnalyst(first, "ana", 4)));
  EXPECT_STATUS_IS(absl::StatusCode::kAborted, charging->Begin(RequestOn(second, "after", own, 1)).status());
  const std::vector<Account> with_ana = Must(charging->ListPayingAccounts(second.id, "ana"));
  EXPECT_TRUE(charging->Begin(RequestOn(second, "after", with_ana, 1)).ok());
  EXPECT_THAT(Must(charging->Verify(second.id)).findings, ElementsAre());
}

TEST_P(AccountConformance, AnAccountOpenedOnASuccessorBindsTheWholeLineage) {
  auto ledger = Open();
  const Dataset first = MakeDataset(*ledger, "census", 10);
  Must(ledger->Begin(RequestOf(first, "r1", FirstAccount(*ledger, first), 1)));
  DatasetSpec spec = SpecOf("census-2", 0);
  spec.accounts.clear();
  spec.successor_of = first.id;
  const Dataset second =
      Must(ledger->SealDataset(Must(ledger->CreateDataset(spec)).id, "newer", TestPrincipal("olga")));
  Must(ledger->CreateAccount(ForAnalyst(second, "ana", 4)));
  const std::vector<Account> accounts = Must(ledger->ListAccounts(first.id));
  ASSERT_EQ(accounts.size(), 2U);
  Must(ledger->Begin(RequestOn(first, "r2", accounts, 1)));
  Must(ledger->Begin(RequestOn(second, "r3", accounts, 1)));
  EXPECT_THAT(SpentOf(*ledger, second), ElementsAre(3, 2));
  EXPECT_EQ(Must(ledger->ListEntries(first.id, {.after_seq = 3})).at(0).kind, "ACCOUNT_OPENED");
  EXPECT_THAT(Must(ledger->Verify(second.id)).findings, ElementsAre());
}

TEST_P(AccountConformance, TheLimitOfAnAnalystsAccountIsChangedByApproval) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  const Account account = Must(ledger->CreateAccount(ForAnalyst(dataset, "ana", 4)));
  const LimitProposal proposal = Must(ledger->ProposeLimit({.request_id = "p1",
                                                            .account_id = account.id,
                                                            .counter = "epsilon",
                                                            .new_limit = 6,
                                                            .reason = "a second study",
                                                            .proposed_by = TestPrincipal("olga")}));
  EXPECT_EQ(Must(ledger->ListAccounts(dataset.id)).at(1).counters.at(0).limit, 4);
  Must(ledger->ApproveLimit(proposal.id, TestPrincipal("otto")));
  EXPECT_EQ(Must(ledger->ListAccounts(dataset.id)).at(1).counters.at(0).limit, 6);
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, ElementsAre());
}

TEST_P(AccountConformance, UnderSingleCustodyTheProposerApprovesAndTheEntrySaysSo) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  const LimitProposal proposal = Must(ledger->ProposeLimit({.request_id = "p1",
                                                            .account_id = FirstAccount(*ledger, dataset),
                                                            .counter = "rho",
                                                            .new_limit = 16,
                                                            .reason = "a second study",
                                                            .proposed_by = TestPrincipal("olga")}));
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger->ApproveLimit(proposal.id, TestPrincipal("olga")).status());
  Must(ledger->ApproveLimit(proposal.id, TestPrincipal("olga"), Approval::kSingleCustody));
  const Entry last = Must(ledger->ListEntries(dataset.id, {})).back();
  EXPECT_EQ(Must(ParseLimitChange(last.payload)).approval, Approval::kSingleCustody);
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, ElementsAre());
}

TEST_P(AccountConformance, MembersTakenOutBehindTheLedgersBackAreFound) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  Must(ledger->CreateAccount(ForGroup(dataset, "interns", 3, {"ana", "bob"})));
  ASSERT_TRUE(Must(ledger->Verify(dataset.id)).ok);
  Tamper("DELETE FROM account_members WHERE member = 'ana'");
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, Contains(HasSubstr("its members")));
}

TEST_P(AccountConformance, AMalformedAccountIsRefusedByItsField) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 10);
  const auto violation = [&](const std::function<void(NewAccount&)>& spoil) {
    NewAccount account = ForGroup(dataset, "interns", 3, {"ana", "bob"});
    spoil(account);
    const absl::Status status = ledger->CreateAccount(account).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return FieldViolationOf(status).value_or(FieldViolation()).field;
  };
  EXPECT_EQ(violation([](NewAccount& account) { account.actor = TestPrincipal(""); }), "actor");
  EXPECT_EQ(violation([](NewAccount& account) { account.account.scope_key.clear(); }), "scope_key");
  EXPECT_EQ(violation([](NewAccount& account) { account.account.scope_type = ScopeType::kPart; }),
            "scope_type");
  EXPECT_EQ(violation([](NewAccount& account) { account.account.members.clear(); }), "members");
  EXPECT_EQ(violation([](NewAccount& account) { account.account.members = {"bob", "ana"}; }), "members");
  EXPECT_EQ(violation([](NewAccount& account) { account.account.members = {"ana", "ana"}; }), "members");
  EXPECT_EQ(violation([](NewAccount& account) { account.account.members = {"\xff"}; }), "members[0]");
  EXPECT_EQ(violation([](NewAccount& account) { account.account.scope_type = ScopeType::kAnalyst; }),
            "members");
  EXPECT_EQ(violation([](NewAccount& account) { account.account.limits[0].limit = -1; }), "limit");
  NewAccount nowhere = ForAnalyst(dataset, "ana", 3);
  nowhere.dataset_id = "nothing";
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger->CreateAccount(nowhere).status());

  DatasetSpec open = SpecOf("open-data", 0);
  open.is_public = true;
  open.accounts.clear();
  const Dataset open_data = Must(ledger->CreateDataset(open));
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger->CreateAccount(ForAnalyst(open_data, "ana", 3)).status());
  EXPECT_EQ(Must(ledger->ListAccounts(dataset.id)).size(), 1U);
}

// What analysts see of accounts from which others spend, too.
TEST_P(AccountConformance, PointsOfStepsShowNoSecondOfAChange) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 1000);
  const int64_t account = FirstAccount(*ledger, dataset);
  // The points of three hours, of which the second has one change that was taken back.
  const auto have = [&](const std::string& rows) {
    Tamper(
        "DELETE FROM counter_points; INSERT INTO counter_points (account_id, counter, second, spent, "
        "held, limit_value) SELECT " +
        std::to_string(account) + ", 'rho', s, x, h, 1000 FROM (" + rows + ") AS p");
  };
  const auto points = [&](std::optional<int64_t> from, std::optional<int64_t> to, int64_t most = 100) {
    return Must(ledger->CounterPoints({.account_id = account,
                                       .counter = "rho",
                                       .from_second = from,
                                       .to_second = to,
                                       .most = most,
                                       .step_seconds = 3600}));
  };
  const auto at = [](int64_t second, int64_t spent) {
    return CounterPoint{.second = second, .limit = 1000, .spent = spent, .held = 0};
  };
  have(
      "SELECT 3605 AS s, 1 AS x, 0 AS h UNION ALL SELECT 3700, 2, 0 UNION ALL SELECT 7300, 2, 9 UNION ALL "
      "SELECT 7400, 2, 0 UNION ALL SELECT 10800, 3, 0");
  EXPECT_THAT(points({}, {}), ElementsAre(at(7199, 2), at(14'399, 3)));
  EXPECT_THAT(points(3650, 3698), ElementsAre()) << "the hour has not ended";
  EXPECT_THAT(points(3650, 7198), ElementsAre());
  EXPECT_THAT(points(3650, 7199), ElementsAre(at(7199, 2)));
  EXPECT_THAT(points(7350, 14'399), ElementsAre(at(7199, 2), at(14'399, 3)));
  EXPECT_THAT(points({}, 36'000, 1), ElementsAre(at(14'399, 3))) << "all in one stretch of whole hours";
  EXPECT_THAT(points({}, {}, 1), ElementsAre(at(14'399, 3)));

  // Of the hour that has not ended there is only what the counter has.
  Must(ledger->Begin(RequestOf(dataset, "first", account, 5)));
  const std::vector<CounterPoint> exact =
      Must(ledger->CounterPoints({.account_id = account, .counter = "rho"}));
  const std::vector<CounterPoint> now = points({}, {});
  ASSERT_EQ(now.size(), 2U) << "the hours since 1970 are cut into few stretches";
  EXPECT_EQ(now.back().spent, exact.back().spent);
  EXPECT_GE(now.back().second, exact.back().second);
  EXPECT_LT(now.back().second, exact.back().second + 600);
  EXPECT_EQ(points(4'000'000'000, {}).size(), 1U) << "a range of the future has what is now";
  EXPECT_STATUS_IS(
      absl::StatusCode::kInvalidArgument,
      ledger->CounterPoints({.account_id = account, .counter = "rho", .step_seconds = 0}).status());
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, AccountConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
