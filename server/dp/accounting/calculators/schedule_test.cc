#include "dp/accounting/calculators/schedule.h"

#include <gtest/gtest.h>

#include <limits>

#include "dp/accounting/rule.h"
#include "dp/accounting/testing/random_events.h"

namespace curator::dp {
namespace {

Event PureOf(int64_t units) {
  return {PureEvent{Epsilon(units)}};
}

TEST(Schedules, CountsAreMultipliedOutAndGroupsRestated) {
  const Event event{ComposedEvent{{{Event{ComposedEvent{{{PureOf(5), 2}, {PureOf(7), 1}}}}, 3},
                                   {Event{GroupEvent{{PureOf(7)}, 4}}, 1},
                                   {PureOf(28), 2}}}};
  const Schedule expected = {{PureOf(5), 6}, {PureOf(7), 3}, {PureOf(28), 3}};
  EXPECT_EQ(*ScheduleOf(event), expected);
}

TEST(Schedules, EqualPartsInParallelAreOne) {
  EXPECT_EQ(*ScheduleOf({ParallelEvent{{PureOf(5), PureOf(5)}}}), (Schedule{{PureOf(5), 1}}));
  EXPECT_EQ(*ScheduleOf({ParallelEvent{}}), Schedule{});
  EXPECT_EQ(ScheduleOf({ParallelEvent{{PureOf(5), PureOf(6)}}}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(Schedules, MalformedAndOverflowingEventsAreRefused) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ScheduleOf(PureOf(-1)).status().code(), absl::StatusCode::kInvalidArgument);
  const Event many{ComposedEvent{{{PureOf(1), kMax}}}};
  EXPECT_EQ(ScheduleOf({ComposedEvent{{{many, 2}}}}).status().code(), absl::StatusCode::kOutOfRange);
}

// The rule and the calculators read an event alike.
TEST(Schedules, CostWhatTheirEventCosts) {
  testing::RandomEvents random(41);
  const RuleSpec pure{RuleKind::kPure, Epsilon(1), {}, {}, {}};
  for (int i = 0; i < 200; ++i) {
    const Event event = random.Tree(4, [&] { return random.WithEpsilon(); });
    const absl::StatusOr<Schedule> schedule = ScheduleOf(event);
    if (!schedule.ok()) continue;  // parallel parts that differ
    EXPECT_EQ(*CostOf(pure, {ComposedEvent{*schedule}}), *CostOf(pure, event)) << Describe(event);
  }
}

}  // namespace
}  // namespace curator::dp
