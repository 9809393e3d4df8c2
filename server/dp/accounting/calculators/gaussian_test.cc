#include "dp/accounting/calculators/gaussian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/errors.h"
#include "dp/accounting/numerical/composition.h"

namespace curator::dp {
namespace {

const Interval kMillionth = Interval::Of(Delta(1'000'000'000'000));

// The hockey-stick divergence of a vector of `shifted` coordinates that shift by 1, by summing the laws of
// the coordinates one by one, in doubles.
double ByConvolution(double variance, int shifted, double epsilon) {
  const int reach = static_cast<int>(12 * std::sqrt(variance * shifted)) + shifted + 2;
  std::vector<double> one(static_cast<size_t>(2 * reach + 1));
  double whole = 0;
  for (int y = -reach; y <= reach; ++y) {
    one[static_cast<size_t>(y + reach)] = std::exp(-y * y / (2 * variance));
    whole += one[static_cast<size_t>(y + reach)];
  }
  for (double& mass : one) mass /= whole;
  std::vector<double> sum(one.size(), 0.0);
  sum[static_cast<size_t>(reach)] = 1;
  for (int i = 0; i < shifted; ++i) {
    std::vector<double> next(one.size(), 0.0);
    for (int x = 0; x <= 2 * reach; ++x) {
      for (int y = -reach; y <= reach; ++y) {
        const int at = x + y;
        if (at < 0 || at > 2 * reach) continue;
        next[static_cast<size_t>(at)] += sum[static_cast<size_t>(x)] * one[static_cast<size_t>(y + reach)];
      }
    }
    sum = next;
  }
  double delta = 0;
  for (int k = -reach; k <= reach; ++k) {
    const double loss = (shifted - 2.0 * k) / (2 * variance);
    if (loss > epsilon) delta += sum[static_cast<size_t>(k + reach)] * -std::expm1(epsilon - loss);
  }
  return delta;
}

TEST(UnitShifts, AreNeverBelowTheSumOfTheirLawsAndCloseToIt) {
  for (const int shifted : {1, 2, 5, 12}) {
    for (const int64_t variance : {2, 7, 40}) {
      for (const double epsilon : {0.0, 0.3, 1.0, 2.5}) {
        const double exact = ByConvolution(static_cast<double>(variance), shifted, epsilon);
        const double bound = UnitShiftsDelta({variance, 1}, shifted, Interval::OfDouble(epsilon))->Upper();
        EXPECT_GE(bound, exact * (1 - 1e-9) - 1e-15) << shifted << " " << variance << " " << epsilon;
        EXPECT_LE(bound, exact * (1 + 1e-6) + 1e-15) << shifted << " " << variance << " " << epsilon;
      }
    }
  }
}

TEST(UnitShifts, AgreeWithNumericalComposition) {
  const Schedule schedule = {{Event{DiscreteGaussianEvent{{900, 1}, 36, 1}}, 4}};
  const double exact = *UnitShiftsEpsilon({900, 1}, 36 * 4, kMillionth);
  const CertifiedBounds numerical = *NumericalEpsilon(schedule, 1e-6, {});
  EXPECT_LE(exact, numerical.upper);
  EXPECT_GE(exact, *numerical.lower);
  EXPECT_NEAR(exact, numerical.upper, 1e-3 * exact);
}

TEST(UnitShifts, ApproachTheContinuousGaussian) {
  const double continuous = GaussianEpsilon(Interval(1) / Interval(4), kMillionth);
  EXPECT_NEAR(*UnitShiftsEpsilon({16'000'000, 1}, 1'000'000, kMillionth), continuous, 1e-9);
}

TEST(UnitShifts, RefuseAVarianceWhoseFactorIsUnknownAndNumbersOutOfRange) {
  EXPECT_EQ(UnitShiftsDelta({1, 10}, 2, Interval(1)).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(UnitShiftsDelta({1, 10}, 1, Interval(1)).ok());
  EXPECT_FALSE(UnitShiftsDelta({1, 1}, 0, Interval(1)).ok());
  EXPECT_FALSE(UnitShiftsDelta({0, 1}, 1, Interval(1)).ok());
}

std::string Field(const absl::Status& status) {
  const std::optional<FieldViolation> violation = FieldViolationOf(status);
  return violation ? violation->field : "";
}

TEST(DiscreteGaussianCurve, RefusesAnEpsilonThatIsNegativeOrNoNumber) {
  const Interval nan = Interval(0) / Interval(0);
  for (const Interval& epsilon : {Interval(-1), nan})
    EXPECT_EQ(Field(DiscreteGaussianDelta({1, 1}, 1, epsilon).status()), "epsilon");
}

TEST(DiscreteGaussianSigma, RefusesPrivacyThatIsNone) {
  const Interval one(1);
  EXPECT_EQ(Field(DiscreteGaussianSigmaThousandths(Interval(0), kMillionth, 1).status()), "epsilon");
  EXPECT_EQ(Field(DiscreteGaussianSigmaThousandths(one, Interval(0), 1).status()), "delta");
  EXPECT_EQ(Field(DiscreteGaussianSigmaThousandths(one, Interval(1), 1).status()), "delta");
}

// Left and right of the variance from which sums are no longer summed, the curve is the same.
TEST(DiscreteGaussianCurve, IsSmoothWhereTheFormulaChanges) {
  for (const int64_t shift : {1, 20, 150}) {
    for (const double epsilon : {0.0, 0.05, 0.4, 1.0}) {
      const Interval at = Interval::OfDouble(epsilon);
      const double below = DiscreteGaussianDelta({3'999'999'999, 1'000'000}, shift, at)->Upper();
      const double above = DiscreteGaussianDelta({4'000'000'001, 1'000'000}, shift, at)->Upper();
      EXPECT_NEAR(below, above, 1e-7 * below + 1e-30) << shift << " " << epsilon;
    }
  }
}

TEST(DiscreteGaussianCurve, IsEnclosedTightlyAtLargeVariances) {
  for (const int64_t variance : {int64_t{4000}, int64_t{1'000'000}, int64_t{1'000'000'000'000}}) {
    const auto shift = static_cast<int64_t>(std::sqrt(static_cast<double>(variance)) / 4);
    const Interval delta = *DiscreteGaussianDelta({variance, 1}, shift, Interval(1));
    EXPECT_GT(delta.Lower(), 0);
    EXPECT_LE(delta.Upper(), delta.Lower() * (1 + 1e-9)) << variance;
  }
}

}  // namespace
}  // namespace curator::dp
