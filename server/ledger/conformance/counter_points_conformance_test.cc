// How counters came to what they have: points for charts, thinned, written with each change.
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kFarAhead = 4'000'000'000;  // in the year 2096
constexpr int64_t kLifetimeUs = int64_t{3600} * 1'000'000;

class CounterPointsConformance : public LedgerConformance {
 protected:
  void SetUp() override {
    LedgerConformance::SetUp();
    ledger_ = Open();
    dataset_ = MakeDataset(*ledger_, "census", 1000);
    account_ = FirstAccount(*ledger_, dataset_);
  }
  std::vector<CounterPoint> Points(int64_t from, int64_t to, int64_t most = kMostPoints) {
    return Must(ledger_->CounterPoints(
        {.account_id = account_, .counter = "rho", .from_second = from, .to_second = to, .most = most}));
  }
  CounterPoint Newest() {
    const std::vector<CounterPoint> points = Points(0, 2 * kFarAhead);
    EXPECT_FALSE(points.empty());
    return points.empty() ? CounterPoint() : points.back();
  }
  void ExpectNewestIsTheBalance() {
    const CounterBalance balance = BalanceOf(*ledger_, dataset_);
    const CounterPoint newest = Newest();
    EXPECT_EQ(newest.limit, balance.limit);
    EXPECT_EQ(newest.spent, balance.spent);
    EXPECT_EQ(newest.held, balance.held);
  }
  // In the place of all points: one in each of these seconds, at which as much is spent.
  void HaveOnlyPoints(int64_t first, int64_t last) {
    Tamper(
        absl::StrCat("DELETE FROM counter_points; WITH RECURSIVE seconds (s) AS (SELECT ", first,
                     " UNION ALL SELECT s + 1 FROM seconds WHERE s < ", last,
                     ") INSERT INTO counter_points (account_id, counter, second, spent, held, limit_value) "
                     "SELECT ",
                     account_, ", 'rho', s, s, 0, 1000 FROM seconds"));
  }
  static std::vector<int64_t> SecondsOf(const std::vector<CounterPoint>& points) {
    std::vector<int64_t> seconds;
    for (const CounterPoint& point : points) seconds.push_back(point.second);
    return seconds;
  }

  std::unique_ptr<Ledger> ledger_;
  Dataset dataset_;
  int64_t account_ = 0;
};

TEST_P(CounterPointsConformance, TheNewestPointIsWhatTheCounterHas) {
  ExpectNewestIsTheBalance();
  Must(ledger_->Begin(RequestOf(dataset_, "first", account_, 5)));
  ExpectNewestIsTheBalance();
  const Charge reserved =
      Must(ledger_->Reserve({RequestOf(dataset_, "second", account_, 7)}, kLifetimeUs)).front();
  EXPECT_EQ(Newest().held, 7);
  ExpectNewestIsTheBalance();
  Must(ledger_->CancelReserved(reserved.id, "not needed", TestPrincipal("ana")));
  ExpectNewestIsTheBalance();
  EXPECT_EQ(Newest().spent, 5);
}

TEST_P(CounterPointsConformance, AClockThatGoesBackLeavesTheNewestSecondTheNewest) {
  Tamper(absl::StrCat("UPDATE counter_points SET second = ", kFarAhead));
  Must(ledger_->Begin(RequestOf(dataset_, "first", account_, 5)));
  EXPECT_EQ(Newest().second, kFarAhead);
  ExpectNewestIsTheBalance();
}

TEST_P(CounterPointsConformance, FewPointsAreReturnedAsTheyAreAfterWhatWasBefore) {
  HaveOnlyPoints(1, 20);
  EXPECT_THAT(SecondsOf(Points(5, 8)), ElementsAre(4, 5, 6, 7, 8));
  EXPECT_THAT(SecondsOf(Points(1, 3)), ElementsAre(1, 2, 3)) << "nothing was before";
  EXPECT_THAT(SecondsOf(Points(100, 200)), ElementsAre(20));
  EXPECT_THAT(Points(-10, 0), IsEmpty());
  const PointsQuery of_nothing{.account_id = account_, .counter = "rho", .to_second = 0};
  EXPECT_THAT(Must(ledger_->CounterPoints(of_nothing)), IsEmpty()) << "all of them come later";
  EXPECT_THAT(Points(7, 7), ElementsAre(CounterPoint{.second = 6, .limit = 1000, .spent = 6, .held = 0},
                                        CounterPoint{.second = 7, .limit = 1000, .spent = 7, .held = 0}));
}

TEST_P(CounterPointsConformance, OfManyPointsTheLastOfEachStretchIsReturned) {
  HaveOnlyPoints(1, 10'000);
  EXPECT_THAT(SecondsOf(Points(1, 10'000, 4)), ElementsAre(2500, 5000, 7500, 10'000));
  EXPECT_THAT(SecondsOf(Points(11, 20, 3)), ElementsAre(10, 13, 16, 20));
  EXPECT_THAT(Points(1, 10'000), SizeIs(kMostPoints));
  EXPECT_THAT(SecondsOf(Points(1, kFarAhead, 3)), ElementsAre(10'000))
      << "all of them lie in the first stretch";
}

TEST_P(CounterPointsConformance, StretchesThatEndBeforeTheyBeginAndTooManyPointsAreRefused) {
  for (const PointsQuery& bad : {PointsQuery{.from_second = 2, .to_second = 1, .most = 10},
                                 PointsQuery{.most = 0}, PointsQuery{.most = kMostPoints + 1}}) {
    EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger_->CounterPoints(bad).status());
  }
  EXPECT_THAT(Must(ledger_->CounterPoints({.account_id = 77, .counter = "rho", .to_second = 9, .most = 9})),
              IsEmpty());
}

TEST_P(CounterPointsConformance, PointsThatEndOtherwiseThanTheCounterAreFound) {
  Must(ledger_->Begin(RequestOf(dataset_, "first", account_, 5)));
  EXPECT_TRUE(Must(ledger_->Verify(dataset_.id)).ok);
  for (const char* const tampering : {"UPDATE counter_points SET spent = 4", "DELETE FROM counter_points"}) {
    Tamper(tampering);
    EXPECT_THAT(Must(ledger_->Verify(dataset_.id)).findings,
                Contains(HasSubstr("its points do not end with what it has")))
        << tampering;
  }
}

// More points than a verification reads at once.
TEST_P(CounterPointsConformance, PointsOfThePastThatTheEntriesDoNotGiveAreFound) {
  constexpr int kCharges = 150;
  for (int i = 1; i <= kCharges; ++i) {
    Must(ledger_->Begin(RequestOf(dataset_, absl::StrCat("request ", i), account_, 1)));
  }
  HaveOnlyPoints(1, kCharges);
  EXPECT_THAT(Must(ledger_->Verify(dataset_.id)).findings, IsEmpty());
  Tamper("DELETE FROM counter_points WHERE second BETWEEN 10 AND 90");
  EXPECT_THAT(Must(ledger_->Verify(dataset_.id)).findings, IsEmpty())
      << "charges of one second share a point";
  for (const char* const tampering :
       {"UPDATE counter_points SET spent = 98 WHERE second = 100",
        "UPDATE counter_points SET held = 1 WHERE second = 100",
        "UPDATE counter_points SET limit_value = limit_value + 1 WHERE second = 100",
        "UPDATE counter_points SET spent = 149 WHERE second = 2",
        "UPDATE counter_points SET spent = spent + 1000 WHERE second = 1"}) {
    HaveOnlyPoints(1, kCharges);
    Tamper(tampering);
    EXPECT_THAT(Must(ledger_->Verify(dataset_.id)).findings,
                ElementsAre(HasSubstr("counter rho: the entries do not give its point of 1970-01-01T00:0")))
        << tampering;
  }
}

// Nothing is admitted by a point, and an administrator of the store mends points as OPERATING.md says.
TEST_P(CounterPointsConformance, WrongPointsStopNoChargeAndBeginAnew) {
  Must(ledger_->Begin(RequestOf(dataset_, "first", account_, 5)));
  Tamper("UPDATE counter_points SET spent = 4");
  EXPECT_FALSE(Must(ledger_->Verify(dataset_.id)).ok);
  Must(ledger_->Begin(RequestOf(dataset_, "second", account_, 5)));
  Tamper("UPDATE counter_points SET second = second - 60, spent = 4");
  EXPECT_FALSE(Must(ledger_->Verify(dataset_.id)).ok);
  for (const std::string& statement :
       {absl::StrCat("DELETE FROM counter_points WHERE account_id = ", account_),
        absl::StrCat("UPDATE account_counters SET spent = spent WHERE account_id = ", account_)}) {
    Tamper(statement);
  }
  EXPECT_THAT(Must(ledger_->Verify(dataset_.id)).findings, IsEmpty());
  ExpectNewestIsTheBalance();
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, CounterPointsConformance, ::testing::ValuesIn(LedgerBackendNames()));

}  // namespace
}  // namespace curator::ledger
