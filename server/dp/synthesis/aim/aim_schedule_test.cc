#include "dp/synthesis/aim/aim_schedule.h"

#include <gtest/gtest.h>

#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/testing/laws.h"

namespace curator::dp {
namespace {

TEST(AimSchedule, WithoutRoundsAllOfTheBudgetMeasuresOneWayMarginals) {
  World world = WorldOf({2, 3, 4}, 2, {});
  world.input.settings = {{"rounds", "0"}};
  const AimSchedule alone = MakeAimSchedule(world.input).value();
  ASSERT_EQ(alone.loop.draws.size(), 2);
  EXPECT_EQ(alone.loop.measurements, 0);
  world.input.settings = {{"rounds", "1"}};
  const AimSchedule with = MakeAimSchedule(world.input).value();
  EXPECT_GT(with.loop.draws.size(), 2);
  EXPECT_LT(DeviationForFit(alone.loop.one_way_noise), DeviationForFit(with.loop.one_way_noise));
}

}  // namespace
}  // namespace curator::dp
