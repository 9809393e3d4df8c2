// Endings that the store takes later.
#include "service/late_endings.h"

#include "service/testing/fixture.h"

namespace curator::service {
namespace {

class LateEndingsTest : public ServiceTest {
 protected:
  // Writes of `table` fail from now on.
  void Refuse(const std::string& event) const {
    Corrupt("CREATE TRIGGER refused BEFORE " + event + " BEGIN SELECT RAISE(ABORT, 'full'); END");
  }
  void Allow() const { Corrupt("DROP TRIGGER refused"); }

  const DatasetView census_ = MakeSealed(People("census"));
};

TEST_F(LateEndingsTest, AnAnswerIsStoredOnceTheStoreTakesItAndAForfeitToo) {
  const ledger::Attempt answered = Started(census_, "workload");
  const ledger::Attempt failed = Started(census_, "workload");
  Refuse("INSERT ON entries");
  ASSERT_TRUE(late_.Add(answered, Drawn("answer"), ""));
  ASSERT_TRUE(late_.Add(failed, std::nullopt, "failed after data access"));
  EXPECT_EQ(late_.waiting(), 2u);
  Allow();
  ASSERT_TRUE(late_.AwaitNone(absl::InfiniteFuture()));
  EXPECT_EQ(ledger_->GetCharge(answered.charge.id)->state, ledger::ChargeState::kCommitted);
  EXPECT_EQ(ledger_->GetCharge(failed.charge.id)->state, ledger::ChargeState::kForfeited);
}

TEST_F(LateEndingsTest, AnAttemptThatWasTakenOverIsGivenUp) {
  const ledger::Attempt stale = Started(census_, "workload");
  ASSERT_TRUE(ledger_->TakeOver(stale.charge.id).ok());
  ASSERT_TRUE(late_.Add(stale, Drawn("answer"), ""));
  ASSERT_TRUE(late_.AwaitNone(absl::InfiniteFuture()));
  EXPECT_EQ(ledger_->GetCharge(stale.charge.id)->state, ledger::ChargeState::kStarted);
}

TEST_F(LateEndingsTest, NoMoreThanItsBoundIsTaken) {
  const ledger::Attempt attempt = Started(census_, "workload");
  EXPECT_FALSE(late_.Add(attempt, Drawn(std::string(LateEndings::kMostBytes + 1, 'a')), ""));
  EXPECT_EQ(late_.waiting(), 0u);
}

}  // namespace
}  // namespace curator::service
