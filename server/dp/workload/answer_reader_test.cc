#include "dp/workload/answer_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

constexpr int64_t kBins = 64;
constexpr int64_t kCells = 24;

// A marginal of 4 by 6 cells, and a tree over 64 bins.
class AnswerReaderTest : public ::testing::Test {
 protected:
  AnswerReaderTest() {
    std::iota(values_[0].begin(), values_[0].end(), 1);
    values_[1].resize(static_cast<size_t>(tree_.nodes()), 3);
  }

  static QueryGroup CellOf(AttributeSet attributes, uint32_t cell) {
    return {std::move(attributes), std::vector<LinearQuery>{{{cell, 1}}}};
  }
  static QueryGroup Interval(uint32_t first, uint32_t last) { return {{2}, Boxes{{{first, last}}}}; }

  // The steps of reading each of these sets, which lie in one release.
  int64_t StepsOf(const std::vector<QueryGroup>& groups, const SetPlan& plan) {
    std::vector<AskedSet> asked;
    std::vector<SetPlan> plans;
    AnswerReader reader(domain_, measured_, values_);
    for (const QueryGroup& group : groups) {
      asked.push_back({.queries = {.groups = {group}}});
      plans.push_back(plan);
      reader.AnswersOf(group, plan, plan.sources[0]);
      reader.ErrorsOf(group, plan, plan.sources[0]);
    }
    EXPECT_EQ(ReadingSteps(domain_, asked, plans, measured_), reader.steps());
    return reader.steps();
  }

  const Domain domain_ = CodedDomain({4, 6, kBins});
  const IntervalTree tree_{kBins, 4};
  const std::vector<QueryGroup> measured_ = {{{0, 1}, EveryCell()}, {{2}, tree_.Intervals()}};
  std::vector<std::vector<int64_t>> values_ = {std::vector<int64_t>(kCells), {}};
  const SetPlan from_marginal_{.strategy = Strategy::kBaseHistogram, .branching = 0, .sources = {0}};
  const SetPlan from_tree_{.strategy = Strategy::kTree, .branching = 4, .sources = {1}};
};

TEST_F(AnswerReaderTest, ATreeIsEstimatedFromOnceForManySets) {
  EXPECT_EQ(StepsOf({Interval(0, 3), Interval(7, 20), Interval(0, 63)}, from_tree_), tree_.nodes());
}

TEST_F(AnswerReaderTest, AMarginalIsSummedUpOnceForSetsOverTheSameAttributes) {
  EXPECT_EQ(StepsOf({CellOf({1}, 0), CellOf({1}, 5), CellOf({1}, 2)}, from_marginal_), kCells);
  EXPECT_EQ(StepsOf({CellOf({1}, 0), CellOf({0}, 2), CellOf({1}, 2)}, from_marginal_), 3 * kCells);
}

TEST_F(AnswerReaderTest, CellsOfTheMarginalItselfAreReadAsTheyAre) {
  EXPECT_EQ(StepsOf({CellOf({0, 1}, 0), CellOf({0, 1}, 9)}, from_marginal_), 0);
}

TEST_F(AnswerReaderTest, GroupsGetTheSameAnswersInAnyOrder) {
  AnswerReader reader(domain_, measured_, values_);
  const GroupAnswers row = reader.AnswersOf(CellOf({0}, 1), from_marginal_, 0);
  EXPECT_THAT(row.counts, ::testing::ElementsAre(7 + 8 + 9 + 10 + 11 + 12));
  const GroupAnswers some = reader.AnswersOf(Interval(5, 9), from_tree_, 1);
  EXPECT_THAT(reader.AnswersOf(CellOf({1}, 0), from_marginal_, 0).counts,
              ::testing::ElementsAre(1 + 7 + 13 + 19));
  reader.AnswersOf(Interval(0, 63), from_tree_, 1);
  EXPECT_EQ(reader.AnswersOf(CellOf({0}, 1), from_marginal_, 0), row);
  EXPECT_EQ(reader.AnswersOf(Interval(5, 9), from_tree_, 1), some);
  EXPECT_EQ(reader.ErrorsOf(Interval(5, 9), from_tree_, 1),
            ErrorsOf(domain_, Interval(5, 9), from_tree_, measured_[1]));
}

}  // namespace
}  // namespace curator::dp
