#include "dp/kernel/meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace curator::dp {
namespace {

const Event kSelection{ExponentialMechanismEvent{Epsilon(500)}};
const Event kCounts{DiscreteLaplaceEvent{.scale = {3, 1}, .l1_sensitivity = 1, .linf_sensitivity = 1}};

TEST(Meter, PaysForExactlyTheScheduleAndNotOneDrawMore) {
  Meter meter({{kSelection, 2}, {kCounts, 1}});
  EXPECT_TRUE(meter.Debit(kSelection).ok());
  EXPECT_TRUE(meter.Debit(kCounts).ok());
  EXPECT_TRUE(meter.Debit(kSelection).ok());
  EXPECT_EQ(meter.Debit(kSelection).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(meter.Debit(kCounts).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Meter, RefusesADrawThatIsALittleDearer) {
  Meter meter({{kSelection, 1}, {kCounts, 1}});
  EXPECT_FALSE(meter.Debit({ExponentialMechanismEvent{Epsilon(501)}}).ok());
  EXPECT_FALSE(
      meter.Debit({DiscreteLaplaceEvent{.scale = {3, 1}, .l1_sensitivity = 2, .linf_sensitivity = 1}}).ok());
  EXPECT_FALSE(
      meter.Debit({DiscreteLaplaceEvent{.scale = {2, 1}, .l1_sensitivity = 1, .linf_sensitivity = 1}}).ok());
  EXPECT_EQ(meter.left()[0].count, 1);
  EXPECT_EQ(meter.left()[1].count, 1);
}

TEST(Meter, SpendsTheSameEventListedTwiceAsOftenAsBothSay) {
  Meter meter({{kCounts, 1}, {kSelection, 1}, {kCounts, 1}});
  EXPECT_TRUE(meter.Debit(kCounts).ok());
  EXPECT_TRUE(meter.Debit(kCounts).ok());
  EXPECT_FALSE(meter.Debit(kCounts).ok());
}

TEST(Meter, PaysWithTheLeastRhoThatCoversADraw) {
  Meter meter(
      {{{ZcdpEvent{Rho(900)}}, 1}, {kSelection, 1}, {{ZcdpEvent{Rho(700)}}, 1}, {{ZcdpEvent{Rho(600)}}, 1}});
  EXPECT_TRUE(meter.DebitCovering(Rho(601)).ok());
  EXPECT_EQ(meter.left()[2].count, 0);
  EXPECT_TRUE(meter.DebitCovering(Rho(601)).ok());
  EXPECT_EQ(meter.left()[0].count, 0);
  EXPECT_EQ(meter.DebitCovering(Rho(601)).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(meter.DebitCovering(Rho(600)).ok());
  EXPECT_EQ(meter.left()[1].count, 1);
}

// Each costs at most so many units of rho.
const Event kCheapGaussian{
    DiscreteGaussianEvent{.sigma_squared = {1'000'000, 1}, .l2_sensitivity_squared = 1}};
constexpr int64_t kCheapRho = 500'000;

TEST(Meter, SpendsAnAmountAsDrawsThatItCovers) {
  Meter meter({{kCounts, 1}, {{ZcdpEvent{Rho(3 * kCheapRho)}}, 1}});
  ASSERT_TRUE(meter.SpendAs({{kCheapGaussian, 3}}).ok());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(meter.Debit(kCheapGaussian).ok());
  EXPECT_FALSE(meter.Debit(kCheapGaussian).ok());
  EXPECT_EQ(meter.SpendAs({{kCheapGaussian, 1}}).code(), absl::StatusCode::kFailedPrecondition)
      << "the amount is spent";
}

TEST(Meter, RefusesDrawsThatCostAUnitMoreThanTheAmountAndTakesNothing) {
  Meter meter({{{ZcdpEvent{Rho(3 * kCheapRho - 1)}}, 1}});
  EXPECT_EQ(meter.SpendAs({{kCheapGaussian, 3}}).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(meter.Debit(kCheapGaussian).ok());
  EXPECT_TRUE(meter.SpendAs({{kCheapGaussian, 2}}).ok());
}

TEST(Meter, SpendsAPureAmountByEpsilonsAlone) {
  Meter meter({{{PureEvent{Epsilon(1000)}}, 1}});
  EXPECT_FALSE(meter.SpendAs({{kSelection, 2}, {{ExponentialMechanismEvent{Epsilon(1)}}, 1}}).ok());
  EXPECT_FALSE(meter.SpendAs({{kCheapGaussian, 1}}).ok()) << "has no epsilon";
  ASSERT_TRUE(meter.SpendAs({{kSelection, 2}}).ok());
  EXPECT_TRUE(meter.Debit(kSelection).ok());
  EXPECT_TRUE(meter.Debit(kSelection).ok());
  EXPECT_FALSE(meter.Debit(kSelection).ok());
}

TEST(Meter, SpendsNothingAsNoDrawsOrAsDrawsThatAreNone) {
  Meter meter({{{ZcdpEvent{Rho(kCheapRho)}}, 1}});
  EXPECT_EQ(meter.SpendAs({}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(meter.SpendAs({{kCheapGaussian, 0}}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(meter.SpendAs({{{DiscreteGaussianEvent{.sigma_squared = {0, 1}}}, 1}}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(meter.left()[0].count, 1);
}

TEST(Meter, AdmitsNothingOnAnEmptyOrNegativeSchedule) {
  Meter empty({});
  Meter negative({{kCounts, -1}, {kSelection, 0}});
  EXPECT_FALSE(empty.Debit(kCounts).ok());
  EXPECT_FALSE(negative.Debit(kCounts).ok());
  EXPECT_FALSE(negative.Debit(kSelection).ok());
}

}  // namespace
}  // namespace curator::dp
