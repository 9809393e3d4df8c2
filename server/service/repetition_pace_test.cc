#include "service/repetition_pace.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/errors.h"
#include "base/testing/names.h"

namespace curator::service {
namespace {

class RepetitionPaceTest : public ::testing::Test {
 protected:
  absl::Status Repeat(const std::string& principal = "ana") {
    return pace_.Take(TestPrincipal(principal)).status();
  }

  // How many repetitions, one after another, are answered before one is refused.
  int AnsweredInARow() {
    int answered = 0;
    while (Repeat().ok()) ++answered;
    return answered;
  }

  RepetitionPace::Time now_{std::chrono::hours(1)};
  RepetitionPace pace_{[this] { return now_; }};
};

TEST_F(RepetitionPaceTest, ALoopIsOverItsQuotaUntilAShareHasPassed) {
  EXPECT_EQ(AnsweredInARow(), RepetitionPace::kSharesOfAPause);
  EXPECT_TRUE(QuotaRetryOf(Repeat())) << Repeat();
  now_ += RepetitionPace::kShare;
  EXPECT_EQ(AnsweredInARow(), 1);
}

TEST_F(RepetitionPaceTest, APauseGivesSoManySharesAndNoMore) {
  AnsweredInARow();
  now_ += std::chrono::hours(1);
  EXPECT_EQ(AnsweredInARow(), RepetitionPace::kSharesOfAPause);
}

TEST_F(RepetitionPaceTest, TheLoopOfOnePrincipalRefusesNoOther) {
  AnsweredInARow();
  EXPECT_TRUE(Repeat("bea").ok());
}

TEST_F(RepetitionPaceTest, ALargeAnswerUsesUpMoreShares) {
  pace_.CountBytes(TestPrincipal("ana"), 10 * RepetitionPace::kBytesOfAShare);
  EXPECT_EQ(AnsweredInARow(), RepetitionPace::kSharesOfAPause - 10);
}

TEST_F(RepetitionPaceTest, FewRepetitionsOfOnePrincipalAreAnsweredAtATime) {
  std::vector<absl::StatusOr<RepetitionPace::Place>> running;
  for (int i = 0; i < RepetitionPace::kMostAtOnce; ++i) {
    running.push_back(pace_.Take(TestPrincipal("ana")));
    ASSERT_TRUE(running.back().ok()) << running.back().status();
  }
  EXPECT_TRUE(QuotaRetryOf(Repeat())) << Repeat();
  EXPECT_TRUE(Repeat("bea").ok());
  running.pop_back();
  EXPECT_TRUE(Repeat().ok());
}

}  // namespace
}  // namespace curator::service
