#include "client/cli/calc_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace curator::cli {
namespace {

using ::testing::HasSubstr;

TEST(CalcSchedule, EveryMechanismIsReadExactly) {
  const auto schedule = ParseEvents(
      {"laplace:scale=0.1,l1=2,count=3", "discrete-laplace:scale=2.5,l1=4,linf=2", "gaussian:sigma=1.5,l2=2",
       "discrete-gaussian:sigma_squared=320,l2_squared=3", "exponential:range=0.1", "pure:epsilon=0.2",
       "approximate:epsilon=1,delta=1e-9", "zcdp:rho=1e-12"});
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  const dp::Schedule expected = {
      {{dp::LaplaceEvent{{1, 10}, {2, 1}}}, 3},
      {{dp::DiscreteLaplaceEvent{{5, 2}, 4, 2}}, 1},
      {{dp::GaussianEvent{{9, 4}, {4, 1}}}, 1},
      {{dp::DiscreteGaussianEvent{{320, 1}, 3}}, 1},
      {{dp::ExponentialMechanismEvent{dp::Epsilon(100'000'000'000)}}, 1},
      {{dp::PureEvent{dp::Epsilon(200'000'000'000)}}, 1},
      {{dp::ApproximateEvent{dp::Epsilon(1'000'000'000'000), dp::Delta(1'000'000'000)}}, 1},
      {{dp::ZcdpEvent{dp::Rho(1)}}, 1}};
  EXPECT_EQ(*schedule, expected);
}

TEST(CalcSchedule, AGroupIsCountedForItsRecords) {
  const auto schedule = ParseEvents({"pure:epsilon=0.1,group=3,count=2", "zcdp:rho=0.1,group=3"});
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_EQ(schedule->at(0), (dp::CountedEvent{{dp::PureEvent{dp::Epsilon(300'000'000'000)}}, 2}));
  EXPECT_EQ(schedule->at(1), (dp::CountedEvent{{dp::ZcdpEvent{dp::Rho(900'000'000'000)}}, 1}));
}

TEST(CalcSchedule, AFileSaysTheSameAsTheCommandLine) {
  const auto planned = ParseEventsJson(
      R"({"delta": "1e-6", "events": [{"mechanism": "gaussian", "sigma": "1.5", "count": 20}]})");
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_EQ(planned->delta, "1e-6");
  EXPECT_EQ(planned->schedule, *ParseEvents({"gaussian:sigma=1.5,count=20"}));
}

TEST(CalcSchedule, WhatIsWrongIsNamed) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"gauss:sigma=1", "'gauss' is none of laplace"},
      {"laplace", "events[1].scale: is missing"},
      {"laplace:scale=0", "events[1].scale: must be positive"},
      {"laplace:scale=-1", "events[1].scale: must not be negative"},
      {"laplace:scale=nan", "events[1].scale: must be a decimal"},
      {"laplace:scale=1,sigma=2", "events[1].sigma: laplace takes scale, l1, count, group"},
      {"laplace:scale=1,scale=2", "given twice"},
      {"laplace:scale", "'scale' is not KEY=VALUE"},
      {"laplace:scale=1,", "is not KEY=VALUE"},
      {"pure:epsilon=1,count=0", "events[1].count: must be positive"},
      {"pure:epsilon=1,count=1.5", "events[1].count: must be a whole number"},
      {"gaussian:sigma=1,sigma_squared=1", "one of sigma and sigma_squared"},
      {"gaussian:l2=1", "one of sigma and sigma_squared"},
      {"gaussian:sigma=1234567.12345", "too many digits"},
      {"discrete-laplace:scale=1,l1=1,linf=2", "linf"},
      {"zcdp:rho=1e-13", "events[1].rho: is finer than the smallest unit"}};
  for (const auto& [event, reason] : wrong) {
    const auto schedule = ParseEvents({"pure:epsilon=1", event});
    EXPECT_TRUE(absl::IsInvalidArgument(schedule.status())) << event;
    EXPECT_THAT(std::string(schedule.status().message()), HasSubstr(reason)) << event;
  }
}

TEST(CalcSchedule, AFileThatWouldPassADecimalThroughADoubleIsRefused) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {R"({"events": [{"mechanism": "pure", "epsilon": 0.1}]})",
       "events[0].epsilon: must be a decimal written as text"},
      {R"({"events": []})", "there are none"},
      {R"({"events": 1})", "must be a list"},
      {R"({"event": []})", "event: is not known"},
      {R"({"events": [7]})", "must be an object"},
      {"[", "no JSON object"}};
  for (const auto& [file, reason] : wrong) {
    const auto planned = ParseEventsJson(file);
    EXPECT_TRUE(absl::IsInvalidArgument(planned.status())) << file;
    EXPECT_THAT(std::string(planned.status().message()), HasSubstr(reason)) << file;
  }
}

}  // namespace
}  // namespace curator::cli
