// Who sees the history of which account, and what it has.
#include "service/accounts/burn_down.h"

#include <cstdlib>
#include <optional>
#include <set>

#include "absl/time/clock.h"
#include "service/accounts/accounts.h"
#include "service/charges/accountant.h"
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
    const AccountOrder group{.request_id = NewRequestId(),
                             .principal = TestPrincipal("owner"),
                             .dataset = DatasetName("census"),
                             .is_group = true,
                             .holder = "readers",
                             .members = {"ana", "bo"},
                             .limit = {.kind = dp::RuleKind::kPure, .epsilon = EpsilonOf(1000)}};
    ASSERT_TRUE(CreateAccount({*ledger_}, group, Intent::kDo).ok());
    Fill("census", PeopleCsv());
    ASSERT_TRUE(Seal("census").ok());
  }
  // Thousandths of epsilon; also starts the charge, which spends it.
  void Reserve(const std::string& principal, int64_t thousandths, bool starts) {
    const ledger::Grant grant{.grantee = principal,
                              .roles = ledger::kGrantedAnalyst | ledger::kGrantedService};
    ASSERT_TRUE(ledger_->SetGrant(dataset_id_, grant, TestPrincipal("owner")).ok());
    const auto reserved = ReserveBudget(services_, TestPrincipal(principal),
                                        {{.request_id = NewRequestId(),
                                          .dataset = DatasetName("census"),
                                          .event = dp::Event{dp::PureEvent{EpsilonOf(thousandths)}},
                                          .summary = "one count",
                                          .lifetime = absl::Hours(1)}},
                                        Intent::kDo);
    ASSERT_TRUE(reserved.ok()) << reserved.status();
    if (!starts) return;
    const std::string& id = reserved->front().charge.id;
    ASSERT_TRUE(StartCharge(services_, TestPrincipal(principal), id, std::nullopt).ok());
  }
  // In the place of all points: some of 1970, at each of which as much is spent.
  void HavePoints() {
    Corrupt(
        "CREATE TEMP TABLE whose AS SELECT DISTINCT account_id, counter FROM counter_points;"
        "DELETE FROM counter_points;"
        "INSERT INTO counter_points (account_id, counter, second, spent, held, limit_value) "
        "SELECT account_id, counter, s, s, 0, 100000 FROM whose, (SELECT 7205 AS s UNION SELECT 7210 "
        "UNION SELECT 14399 UNION SELECT 14400)");
  }
  static std::vector<int64_t> SecondsOf(const BurnDown& burn_down) {
    std::vector<int64_t> seconds;
    for (const ledger::CounterPoint& point : burn_down.counters.front().points)
      seconds.push_back(point.second);
    return seconds;
  }
  absl::StatusOr<BurnDown> Ask(const std::string& principal, const std::string& account = "") const {
    return GetBurnDown({*ledger_}, TestPrincipal(principal),
                       {.dataset = DatasetName("census"), .account = account});
  }

  std::string dataset_id_;
};

TEST_F(BurnDownTest, ItEndsWithWhatTheAccountHas) {
  Reserve("ana", 300, true);
  Reserve("ana", 200, false);
  const ledger::Account account = ledger_->ListAccounts(dataset_id_)->front();
  ASSERT_EQ(account.counters.front().spent, EpsilonOf(300).units());
  ASSERT_EQ(account.counters.front().held, EpsilonOf(200).units());
  for (const char* const caller : {"owner", "ana"}) {
    const BurnDown seen = Ask(caller).value();
    EXPECT_EQ(seen.account, "dataset/census");
    ASSERT_EQ(seen.counters.size(), account.counters.size());
    for (size_t i = 0; i < account.counters.size(); ++i) {
      EXPECT_EQ(seen.counters[i].name, account.counters[i].counter);
      ASSERT_FALSE(seen.counters[i].points.empty());
      const ledger::CounterPoint& last = seen.counters[i].points.back();
      EXPECT_EQ(last.limit, account.counters[i].limit);
      EXPECT_EQ(last.spent, account.counters[i].spent);
      EXPECT_EQ(last.held, account.counters[i].held);
      EXPECT_LE(std::abs(last.second - absl::ToUnixSeconds(absl::Now())), 600);
    }
  }
}

TEST_F(BurnDownTest, OfAnAccountFromWhichOthersSpendAParticipantLearnsThePastByTheHour) {
  HavePoints();
  const auto of = [&](const char* caller, const std::string& account) {
    return SecondsOf(Ask(caller, account).value());
  };
  const std::vector<int64_t> exact = {7205, 7210, 14'399, 14'400};
  const std::vector<int64_t> hourly = {10'799, 14'399, 17'999};
  EXPECT_EQ(of("owner", "dataset/census"), exact);
  EXPECT_EQ(of("ana", "dataset/census"), hourly);
  EXPECT_EQ(of("ana", ""), hourly);
  EXPECT_EQ(of("ana", "dataset/census/analyst/ana"), exact) << "his own";
  EXPECT_EQ(of("ana", "dataset/census/group/readers"), hourly) << "bo spends from it, too";
  const ledger::Grant grant{.grantee = "ana", .roles = ledger::kGrantedAnalyst | ledger::kGrantedAuditor};
  ASSERT_TRUE(ledger_->SetGrant(dataset_id_, grant, TestPrincipal("owner")).ok());
  EXPECT_EQ(of("ana", "dataset/census"), exact) << "an auditor, too";
}

TEST_F(BurnDownTest, NoRangeShowsAParticipantASecond) {
  HavePoints();
  std::set<std::vector<int64_t>> seen;
  for (int64_t second = 7200; second < 7215; ++second) {
    for (const bool is_from : {false, true}) {
      BurnDownQuery query{.dataset = DatasetName("census"), .most_points = 2000};
      (is_from ? query.from_second : query.to_second) = second;
      const auto found = GetBurnDown({*ledger_}, TestPrincipal("ana"), query);
      ASSERT_TRUE(found.ok()) << found.status();
      seen.insert(SecondsOf(*found));
    }
  }
  EXPECT_THAT(seen, ::testing::UnorderedElementsAre(std::vector<int64_t>{},
                                                    std::vector<int64_t>{10'799, 14'399, 17'999}));
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
