#include "client/cli/syntax/calc_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace curator::cli {
namespace {

using ::testing::HasSubstr;

TEST(CalcSchedule, EveryMechanismIsReadExactly) {
  const auto schedule = ParseEvents(
      {"laplace:scale=0.1,l1=2,count=3", "discrete-laplace:scale=2.5,l1=4,linf=2", "gaussian:sigma=1.5,l2=2",
       "discrete-gaussian:sigma_squared=320,l2_squared=36,linf=1", "exponential:range=0.1",
       "pure:epsilon=0.2", "approximate:epsilon=1,delta=1e-9", "zcdp:rho=1e-12"});
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  const dp::Schedule expected = {
      {{dp::LaplaceEvent{{1, 10}, {2, 1}}}, 3},
      {{dp::DiscreteLaplaceEvent{{5, 2}, 4, 2}}, 1},
      {{dp::GaussianEvent{{9, 4}, {4, 1}}}, 1},
      {{dp::DiscreteGaussianEvent{{320, 1}, 36, 1}}, 1},
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

class CalcFile : public ::testing::Test {
 protected:
  ~CalcFile() override { std::filesystem::remove(path_); }

  absl::StatusOr<dp::Schedule> Read(const std::string& json) const {
    std::ofstream(path_) << json;
    return ReadSchedule(path_);
  }

 private:
  std::string path_ =
      (std::filesystem::temp_directory_path() / absl::StrCat("calc-", getpid(), ".json")).string();
};

// The file is what `curator charge --event` sends.
TEST_F(CalcFile, SaysTheSameAsTheCommandLine) {
  const auto schedule = Read(R"({"composed": {"parts": [
      {"count": 20, "event": {"gaussian": {"sigma_squared": "2.25"}}},
      {"count": "1", "event": {"group": {"group_size": 3, "event": {"pure": {"epsilon": "0.1"}}}}},
      {"count": 2, "event": {"discreteGaussian": {"sigmaSquared": "320", "l2SensitivitySquared": 36,
                                                  "linfSensitivity": 1}}}]}})");
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_EQ(*schedule, *ParseEvents({"gaussian:sigma=1.5,count=20", "pure:epsilon=0.1,group=3",
                                     "discrete-gaussian:sigma_squared=320,l2_squared=36,linf=1,count=2"}));
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

TEST_F(CalcFile, IsRefusedWhenADecimalWouldPassThroughADouble) {
  for (const char* json : {R"({"pure": {"epsilon": 0.1}})", R"({"pure": {"epsilon": "0.1e"}})", "{}", "[",
                           R"({"events": []})", R"({"composed": {"parts": [{"event": {"pure": {}}}]}})"}) {
    const auto schedule = Read(json);
    EXPECT_TRUE(absl::IsInvalidArgument(schedule.status())) << json << schedule.status();
    EXPECT_THAT(std::string(schedule.status().message()), HasSubstr(".json")) << json;
  }
}

}  // namespace
}  // namespace curator::cli
