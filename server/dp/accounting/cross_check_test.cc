// Calculators and rules against formulas written a second time, from the definitions, in other arithmetic:
// random cases and the edges of every argument.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/calculators/renyi.h"
#include "dp/accounting/divergence.h"
#include "dp/accounting/event.h"
#include "dp/accounting/rule.h"
#include "dp/accounting/testing/random_events.h"
#include "dp/accounting/testing/real.h"

namespace curator::dp {
namespace {

using testing::RandomEvents;
using testing::Real;

constexpr double kClosedForm = 1e-9;

void ExpectNear(double computed, const Real& expected, const std::string& what) {
  const double value = expected.AsDouble();
  EXPECT_NEAR(computed, value, kClosedForm * std::abs(value) + 1e-300) << what;
}

// Ten to a random power between two exponents, times a random digit: units of a decimal.
int64_t Spread(RandomEvents& random, int least, int most) {
  int64_t units = random.Between(1, 99);
  for (int64_t i = random.Between(least, most); i > 0; --i) units *= 10;
  return units;
}

// Epsilons and rhos from 1e-7 to 99, deltas from 1e-18 to 0.99.
Epsilon AnyEpsilon(RandomEvents& random) {
  return Epsilon(Spread(random, 5, 12));
}
Rho AnyRho(RandomEvents& random) {
  return Rho(Spread(random, 5, 12));
}
Delta AnyDelta(RandomEvents& random) {
  return Delta(Spread(random, 0, 16));
}
template <typename Amount>
Real RealOf(Amount amount) {
  int64_t per_one = 1;
  for (int i = 0; i < Amount::kDecimals; ++i) per_one *= 10;
  return Real::OfUnits(amount.units(), per_one);
}

// What zCDP becomes at one order; `log_excess` is ln(alpha - 1).
Real ConvertedAt(const Real& rho, const Real& delta, const Real& log_excess) {
  const Real x = exp(log_excess);
  const Real alpha = x + 1;
  return alpha * rho - (log(delta) + log(alpha)) / x + log(x / alpha);
}
Real Converted(const Real& rho, const Real& delta) {
  return testing::Minimum(Real(-60), Real(60), [&](const Real& y) { return ConvertedAt(rho, delta, y); });
}

TEST(CrossCheck, ZcdpToEpsilonIsTheLeastOverTheOrders) {
  RandomEvents random(1);
  for (int i = 0; i < 60; ++i) {
    const Rho rho = AnyRho(random);
    const Delta delta = AnyDelta(random);
    const Real expected = Converted(RealOf(rho), RealOf(delta));
    const double computed = EpsilonOfZcdp(Interval::Of(rho), Interval::Of(delta)).Upper();
    const std::string what = rho.ToString() + " at " + delta.ToString();
    if (expected < Real(0)) {
      EXPECT_EQ(computed, 0) << what;
    } else {
      ExpectNear(computed, expected, what);
      EXPECT_GE(computed, expected.AsDouble() * (1 - 1e-15)) << what;
    }
  }
}

TEST(CrossCheck, ZcdpBudgetsAreTheLargestThatConvertWithinThePromise) {
  RandomEvents random(2);
  for (int i = 0; i < 40; ++i) {
    const Epsilon epsilon = AnyEpsilon(random);
    const Delta delta = AnyDelta(random);
    const Interval rho = LargestZcdp(Interval::Of(epsilon), Interval::Of(delta));
    if (!(rho.Lower() > 0)) continue;
    const Real at_most = Converted(Real(rho.Lower()), RealOf(delta));
    const Real above = Converted(Real(rho.Lower() * (1 + 1e-9)), RealOf(delta));
    EXPECT_FALSE(RealOf(epsilon) < at_most - Real(1e-40)) << epsilon.ToString() << " " << delta.ToString();
    EXPECT_TRUE(RealOf(epsilon) < above) << epsilon.ToString() << " " << delta.ToString();
  }
}

TEST(CrossCheck, ZcdpToDeltaIsTheLeastOverTheOrders) {
  RandomEvents random(3);
  for (int i = 0; i < 40; ++i) {
    const Rho rho(Spread(random, 7, 12));
    const Real r = RealOf(rho);
    const double factor = static_cast<double>(random.Between(11, 90)) / 10;
    const double epsilon = (r + sqrt(r) * Real(factor)).AsDouble();
    const auto log_delta_at = [&](const Real& y) {
      const Real x = exp(y);
      const Real alpha = x + 1;
      return x * (alpha * r - Real(epsilon)) + alpha * log(x / alpha) - log(x);
    };
    const Real expected = exp(testing::Minimum(Real(-60), Real(60), log_delta_at));
    const double computed = ZcdpDelta(Interval::Of(rho), Interval::OfDouble(epsilon));
    ExpectNear(computed, expected < Real(1) ? expected : Real(1), rho.ToString());
  }
}

Real KullbackLeibler(const std::vector<Real>& p, const std::vector<Real>& q) {
  Real sum(0);
  for (size_t i = 0; i < p.size(); ++i) sum = sum + p[i] * log(p[i] / q[i]);
  return sum;
}
Real Renyi(const Real& alpha, const std::vector<Real>& p, const std::vector<Real>& q) {
  Real sum(0);
  for (size_t i = 0; i < p.size(); ++i) sum = sum + p[i] * exp((alpha - 1) * log(p[i] / q[i]));
  return log(sum) / (alpha - 1);
}

// The law of discrete Laplace noise around `centre`, over all integers that matter.
std::vector<Real> DiscreteLaplaceLaw(const Real& rate, int64_t centre, int64_t reach) {
  std::vector<Real> law;
  const Real q = exp(-rate);
  for (int64_t y = -reach; y <= reach; ++y) {
    law.push_back((Real(1) - q) / (Real(1) + q) * exp(-(rate * Real::OfInteger(std::abs(y - centre)))));
  }
  return law;
}

TEST(CrossCheck, PureMechanismsAndDiscreteLaplaceCostTheirDivergences) {
  RandomEvents random(4);
  for (int i = 0; i < 12; ++i) {
    const Epsilon epsilon(Spread(random, 9, 11));
    const Real e = RealOf(epsilon);
    const Real likelier = Real(1) / (Real(1) + exp(-e));
    const std::vector<Real> p = {likelier, Real(1) - likelier};
    const std::vector<Real> q = {p[1], p[0]};
    ExpectNear(ZcdpOfPure(Interval::Of(epsilon)).Upper(), KullbackLeibler(p, q), epsilon.ToString());
    const int64_t scale = random.Between(1, 12);
    const int64_t shift = random.Between(1, 9);
    const int64_t reach = 220 * scale + shift;
    const Real rate = Real(1) / Real::OfInteger(scale);
    const std::vector<Real> at_zero = DiscreteLaplaceLaw(rate, 0, reach);
    const std::vector<Real> shifted = DiscreteLaplaceLaw(rate, shift, reach);
    const DiscreteLaplaceEvent event{{scale, 1}, shift, shift};
    ExpectNear(ZcdpOfDiscreteLaplace(event).Upper(), KullbackLeibler(at_zero, shifted), "discrete Laplace");
    for (const double alpha : {1.5, 2.0, 8.0}) {
      const Interval x = Interval::OfDouble(alpha) - Interval(1);
      ExpectNear(RenyiOfPure(x, Interval::Of(epsilon)).Upper(), Renyi(Real(alpha), p, q), "pure");
      if (static_cast<double>(shift) * alpha > 100) continue;  // beyond the reach of the sum
      ExpectNear(RenyiOfDiscreteLaplace(x, event).Upper(), Renyi(Real(alpha), at_zero, shifted),
                 "discrete Laplace");
    }
  }
}

// The divergence of continuous Laplace noise: outside [0, 1] the ratio is constant, between it is an
// exponential.
TEST(CrossCheck, LaplaceCostsItsDivergence) {
  RandomEvents random(5);
  for (int i = 0; i < 20; ++i) {
    const Epsilon epsilon(Spread(random, 9, 11));
    const Real e = RealOf(epsilon);
    for (const double alpha : {1.25, 2.0, 16.0}) {
      const Real a(alpha);
      const Real left = exp((a - 1) * e) / 2;
      const Real right = exp(-(a * e)) / 2;
      const Real exponent = Real(1) - a * 2;  // of e^(eps (alpha - 1)) e^(t eps (1 - 2 alpha)), t in [0, 1]
      const Real between = exp((a - 1) * e) * (exp(e * exponent) - 1) / exponent / 2;
      ExpectNear(RenyiOfLaplace(Interval::OfDouble(alpha) - Interval(1), Interval::Of(epsilon)).Upper(),
                 log(left + right + between) / (a - 1), epsilon.ToString());
    }
  }
}

Real NormalTail(const Real& x) {
  return erfc(x / sqrt(Real(2))) / 2;
}
Real DeltaOfGaussian(const Real& mu, const Real& epsilon) {
  return NormalTail(epsilon / mu - mu / 2) - exp(epsilon) * NormalTail(epsilon / mu + mu / 2);
}

TEST(CrossCheck, GaussianNoiseKeepsItsPromiseWithNothingToSpare) {
  RandomEvents random(6);
  for (int i = 0; i < 25; ++i) {
    const Epsilon epsilon(Spread(random, 8, 12));
    const Delta delta(Spread(random, 2, 15));
    const std::string what = epsilon.ToString() + " at " + delta.ToString();
    const double sigma = GaussianSigma(Interval::Of(epsilon), Interval::Of(delta));
    ExpectNear(RealOf(delta).AsDouble(), DeltaOfGaussian(Real(1) / Real(sigma), RealOf(epsilon)), what);
    EXPECT_FALSE(RealOf(delta) < DeltaOfGaussian(Real(1) / Real(sigma), RealOf(epsilon))) << what;
    const double back = GaussianEpsilon(Interval(1) / Interval::OfDouble(sigma), Interval::Of(delta));
    ExpectNear(back, RealOf(epsilon), what);
    const Rho rho = LargestGaussianRho(epsilon, delta);
    const auto spent = [&](int64_t units) {
      return DeltaOfGaussian(sqrt(Real(2) * RealOf(Rho(units))), RealOf(epsilon));
    };
    EXPECT_TRUE(RealOf(delta) < spent(rho.units() + 1)) << what;
    EXPECT_TRUE(rho.units() == 0 || !(RealOf(delta) < spent(rho.units()))) << what;
  }
}

Real DeltaOfDiscreteGaussian(Rational variance, int64_t shift, const Real& epsilon) {
  const Real twice = Real::Of(variance) * 2;
  const double deviation =
      std::sqrt(static_cast<double>(variance.numerator) / static_cast<double>(variance.denominator));
  const auto reach = static_cast<int64_t>(20 * deviation) + 3 * shift + 3;
  const auto weight = [&](int64_t y) { return exp(-(Real::OfInteger(y) * Real::OfInteger(y)) / twice); };
  Real whole(0);
  Real delta(0);
  for (int64_t y = -reach; y <= reach; ++y) {
    whole = whole + weight(y);
    const Real excess = weight(y) - exp(epsilon) * weight(y + shift);
    if (excess > Real(0)) delta = delta + excess;
  }
  return delta / whole;
}

TEST(CrossCheck, DiscreteGaussiansHaveTheirDefinition) {
  RandomEvents random(7);
  for (int i = 0; i < 14; ++i) {
    // Both sides of the variance from which sums are not summed.
    const Rational variance{random.Between(1, 9) * (i < 7 ? 40 : 3000), random.Between(1, 2)};
    const int64_t shift = random.Between(1, 30);
    const auto deviation =
        std::sqrt(static_cast<double>(variance.numerator) / static_cast<double>(variance.denominator));
    const double epsilon =
        std::min(40.0, static_cast<double>(shift) / deviation * static_cast<double>(random.Between(0, 5)));
    const Interval computed = *DiscreteGaussianDelta(variance, shift, Interval::OfDouble(epsilon));
    const Real expected = DeltaOfDiscreteGaussian(variance, shift, Real(epsilon));
    ExpectNear(computed.Upper(), expected, "variance " + std::to_string(variance.numerator));
    EXPECT_GE(computed.Upper(), expected.AsDouble() * (1 - 1e-14));
    EXPECT_LE(computed.Lower(), expected.AsDouble() * (1 + 1e-14));
  }
}

TEST(CrossCheck, DiscreteGaussianCalibrationsHoldAndTheNextFinerDoesNot) {
  for (const auto& [epsilon, delta] : {std::pair{1.0, 1e-5}, std::pair{0.25, 1e-4}, std::pair{4.0, 1e-8}}) {
    const int64_t thousandths =
        *DiscreteGaussianSigmaThousandths(Interval::OfDouble(epsilon), Interval::OfDouble(delta), 1);
    const auto at = [&](int64_t sigma) {
      return DeltaOfDiscreteGaussian({sigma * sigma, 1'000'000}, 1, Real(epsilon));
    };
    EXPECT_FALSE(Real(delta) < at(thousandths));
    EXPECT_TRUE(Real(delta) < at(thousandths - 1));
  }
}

TEST(CrossCheck, GroupsPayTheGeometricSum) {
  RandomEvents random(8);
  for (int i = 0; i < 60; ++i) {
    const Epsilon epsilon(i % 10 == 0 ? 0 : Spread(random, 0, 11));
    const Delta delta(Spread(random, 0, 9));
    const int64_t k = random.Between(1, 40);
    Real sum(0);
    for (int64_t j = 0; j < k; ++j) sum = sum + exp(RealOf(epsilon) * Real::OfInteger(j));
    const Real units = sum * Real::OfInteger(delta.units());
    const absl::StatusOr<Event> group = ForGroup({ApproximateEvent{epsilon, delta}}, k);
    ASSERT_TRUE(group.ok()) << group.status();
    const auto& stated = std::get<ApproximateEvent>(group->what);
    EXPECT_EQ(stated.epsilon.units(), k * epsilon.units());
    const bool is_all = !(units < Real(1e18));
    EXPECT_EQ(stated.delta.units(), is_all ? kDeltaUnitsPerOne : (units - Real(1e-60)).Ceiling())
        << epsilon.ToString() << " x " << k;
  }
}

// The filter of Whitehouse et al., from its theorem: what the counters admit it admits, and they refuse
// nothing that it admits with a part in 1e9 to spare.
TEST(CrossCheck, AdvancedAdmitsAsItsTheoremDoes) {
  RandomEvents random(9);
  for (int trial = 0; trial < 30; ++trial) {
    const RuleSpec spec{RuleKind::kAdvanced, Epsilon(Spread(random, 10, 12)), Delta(Spread(random, 4, 14)),
                        std::nullopt, std::nullopt};
    const std::vector<CounterAmount> limits = *LimitsOf(spec);
    const Real spread =
        sqrt(Real(2) * log(Real(1) / Real::OfUnits(spec.delta.units() / 2, kDeltaUnitsPerOne)));
    const auto value = [&](const Real& squared) { return spread * sqrt(squared) + squared / 2; };
    int64_t counted = 0;
    Real exact(0);
    for (int step = 0; step < 200; ++step) {
      const Epsilon epsilon(random.Between(1, spec.epsilon.units() / 20));
      const int64_t cost = (*CostOf(spec, {PureEvent{epsilon}}))[0].amount;
      const Real with = exact + RealOf(epsilon) * RealOf(epsilon);
      if (cost <= limits[0].amount - counted) {
        counted += cost;
        exact = with;
        EXPECT_FALSE(RealOf(spec.epsilon) < value(exact)) << "step " << step;
      } else {
        const Real rounding = Real::OfInteger(step + 2) * Real(1e-12);
        EXPECT_TRUE(RealOf(spec.epsilon) * Real(1 - 1e-9) < value(with + rounding)) << "step " << step;
      }
    }
  }
}

TEST(CrossCheck, EdgesOfEveryArgumentHaveAnAnswerOrAnError) {
  const Interval least_delta = Interval::Of(Delta(1));
  const Interval most_delta = Interval::Of(Delta(kDeltaUnitsPerOne - 1));
  const Interval nothing(0);
  EXPECT_EQ(EpsilonOfZcdp(nothing, Interval::Of(Delta(kDeltaUnitsPerOne / 10))).Upper() <= 1e-9, true);
  EXPECT_GT(EpsilonOfZcdp(Interval(1'000'000), least_delta).Upper(), 1e6);
  EXPECT_EQ(EpsilonOfZcdp(Interval::Of(Rho(1)), most_delta).Upper(), 0);
  EXPECT_EQ(ZcdpOfPure(nothing).Upper(), 0);
  EXPECT_NEAR(ZcdpOfPure(Interval(1000)).Upper(), 1000, 1e-9);
  EXPECT_NEAR(ZcdpOfPure(Interval(1'000'000'000)).Upper(), 1e9, 1);
  EXPECT_EQ(ZcdpOfBoundedRange(nothing).Upper(), 0);
  EXPECT_EQ(GaussianEpsilon(Interval::OfDouble(1e-9), most_delta), 0);
  EXPECT_GT(GaussianEpsilon(Interval(100), least_delta), 5000);
  EXPECT_GT(GaussianSigma(Interval::Of(Epsilon(1)), least_delta), 1e12);
  EXPECT_LE(DiscreteGaussianDelta({1, 1'000'000}, 1, nothing)->Upper(), 1);
  EXPECT_EQ(DiscreteGaussianDelta({1, 1}, 1, Interval(1'000'000'000))->Upper() < 1e-300, true);
  EXPECT_FALSE(DiscreteGaussianDelta({2'000'000'000'000'000'000, 1}, 1, nothing).ok());
}

// Counts of a million and more are multiplied, never walked, and refused where they do not fit.
TEST(CrossCheck, HugeCountsAreMultipliedExactly) {
  const RuleSpec pure{RuleKind::kPure, Epsilon(kEpsilonUnitsPerOne), {}, {}, {}};
  const auto cost = [&](int64_t count) {
    return CostOf(pure, {ComposedEvent{{{{PureEvent{Epsilon(3)}}, count}}}});
  };
  EXPECT_EQ((*cost(1'000'000))[0].amount, 3'000'000);
  EXPECT_EQ((*cost(3'000'000'000'000'000'000))[0].amount, 9'000'000'000'000'000'000);
  EXPECT_EQ(cost(4'000'000'000'000'000'000).status().code(), absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace curator::dp
