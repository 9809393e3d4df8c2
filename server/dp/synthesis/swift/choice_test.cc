#include "dp/synthesis/swift/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

using testing::ElementsAre;

class ChooseSetsTest : public testing::Test {
 protected:
  std::vector<size_t> Choose(const std::vector<SeenCandidate>& candidates, int64_t count,
                             RoomForCliques room = {.max_cells = 1 << 20, .max_separator = 1 << 20}) {
    return ChooseSets(candidates, CliqueGraph(domain_, {0, 1, 2, 3, 4}), room, count, pacer_).value();
  }

  const Domain domain_ = CodedDomain({10, 10, 10, 10, 50});
  Pacer pacer_{std::stop_token()};
};

TEST_F(ChooseSetsTest, TakesTheLargestGainsFirst) {
  EXPECT_THAT(Choose({{{0, 1}, 10, 100}, {{1, 2}, 30, 100}, {{2, 3}, 20, 100}}, 2), ElementsAre(1, 2));
}

TEST_F(ChooseSetsTest, LeavesOutWhatDoesNotFitBesideTheOthers) {
  // All three pairs make one clique of 1,000 cells.
  EXPECT_THAT(Choose({{{0, 1}, 30, 100}, {{0, 2}, 20, 100}, {{1, 2}, 10, 100}}, 3,
                     {.max_cells = 500, .max_separator = 500}),
              ElementsAre(0, 1));
}

TEST_F(ChooseSetsTest, LeavesOutWhatWouldMakeATooLargeSeparator) {
  EXPECT_THAT(Choose({{{0, 1, 2}, 30, 1000}, {{1, 2, 3}, 20, 1000}, {{2, 3}, 10, 100}}, 3,
                     {.max_cells = 1 << 20, .max_separator = 10}),
              ElementsAre(0, 2));
}

TEST_F(ChooseSetsTest, CountsAGainLessWhereItsPairsWereChosenBefore) {
  // The second set says what the first one says of the pair (0, 1).
  EXPECT_THAT(Choose({{{0, 1}, 30, 100}, {{0, 1, 2}, 25, 1000}, {{2, 3}, 20, 100}}, 2), ElementsAre(0, 2));
}

TEST_F(ChooseSetsTest, PrefersManySmallSetsToALargeOneThatLeavesThemNoRoom) {
  const std::vector<SeenCandidate> candidates = {
      {{0, 4}, 1000, 500}, {{0, 1}, 900, 100}, {{1, 2}, 900, 100}, {{2, 3}, 900, 100}};
  EXPECT_THAT(Choose(candidates, 3, {.max_cells = 520, .max_separator = 10}), ElementsAre(1, 2, 3));
}

TEST_F(ChooseSetsTest, TakesSetsWithoutAGainWhereNothingElseIsLeft) {
  EXPECT_THAT(Choose({{{0, 1}, -5, 100}, {{1, 2}, 3, 100}}, 2), ElementsAre(1, 0));
}

TEST_F(ChooseSetsTest, EndsWhenAStopIsRequested) {
  std::stop_source source;
  source.request_stop();
  Pacer stopped(source.get_token());
  std::vector<SeenCandidate> many(100'000, {.attributes = {0, 1}, .gain = 1, .cells = 100});
  EXPECT_EQ(ChooseSets(many, CliqueGraph(domain_, {0, 1, 2, 3, 4}), {.max_cells = 1000, .max_separator = 10},
                       100'000, stopped)
                .status()
                .code(),
            absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace curator::dp
