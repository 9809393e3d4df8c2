// Mistakes known from other systems (docs/PRIVACY.md). Each has a test of ours and a deliberately wrong
// variant that the test catches: the variant shows that the check can fail.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/calculators/randomized_response.h"
#include "dp/accounting/calculators/zcdp.h"
#include "dp/accounting/interval.h"
#include "dp/accounting/numerical/composition.h"
#include "dp/accounting/testing/rules.h"
#include "dp/accounting/zcdp_conversion.h"

namespace curator::dp {
namespace {

using testing::Cost;
using testing::CounterAccount;
using testing::Limits;
using testing::SpecOf;

Event PureOf(std::string_view epsilon) {
  return {PureEvent{*Epsilon::Parse(epsilon, "epsilon")}};
}

// An account in doubles, as it should not be.
struct DoubleAccount {
  double limit;
  double spent = 0;
  bool Charge(double cost) {
    if (spent + cost > limit) return false;
    spent += cost;
    return true;
  }
};

TEST(Mistakes, FloatSums) {
  RuleSpec spec = SpecOf(RuleKind::kPure);
  spec.epsilon = *Epsilon::Parse("0.3", "epsilon");
  CounterAccount account(Limits(spec));
  const std::vector<int64_t> tenth = *Cost(spec, PureOf("0.1"));
  EXPECT_TRUE(account.Charge(tenth));
  EXPECT_TRUE(account.Charge(tenth));
  EXPECT_TRUE(account.Charge(tenth));
  EXPECT_FALSE(account.Charge({1}));
}

TEST(MistakesCanary, FloatSumsAreCaught) {
  DoubleAccount tenths{0.3};
  EXPECT_TRUE(tenths.Charge(0.1));
  EXPECT_TRUE(tenths.Charge(0.1));
  EXPECT_FALSE(tenths.Charge(0.1)) << "the third tenth fits exactly, but not in doubles";
  DoubleAccount absorbing{2e16};
  absorbing.Charge(1e16);
  absorbing.Charge(1);
  EXPECT_EQ(absorbing.spent, 1e16) << "a charge of 1 vanished";
  DoubleAccount exhausted{1};
  exhausted.Charge(1);
  EXPECT_TRUE(exhausted.Charge(1e-320)) << "a full account admitted a charge";
}

TEST(Mistakes, AChargeAfterExhaustionIsRefusedHoweverSmall) {
  const RuleSpec spec = SpecOf(RuleKind::kPure);
  CounterAccount account(Limits(spec));
  EXPECT_TRUE(account.Charge(Limits(spec)));
  const Event least{
      LaplaceEvent{{std::numeric_limits<int64_t>::max(), 1}, {1, std::numeric_limits<int64_t>::max()}}};
  EXPECT_FALSE(account.Charge(*Cost(spec, least)));
}

// What a zCDP account would hold if delta were not charged for the conversion: rho - 0 instead of rho + 2
// sqrt(...).
TEST(Mistakes, DeltaOfTheConversionIsChargedOnceForTheWholeAccount) {
  const RuleSpec spec = SpecOf(RuleKind::kZcdp);
  const Interval promise = Interval::Of(spec.epsilon);
  const Interval delta = Interval::Of(spec.delta);
  const auto keeps_promise = [&](double rho) {
    return GaussianEpsilon(Sqrt(Interval(2) * Interval::OfDouble(rho)), delta) <= promise.Upper();
  };
  EXPECT_TRUE(keeps_promise(static_cast<double>(Limits(spec)[0]) * 1e-12));
  // Canary 1: no conversion at all, epsilon taken for rho.
  EXPECT_FALSE(keeps_promise(promise.Upper()));
  // Canary 2: delta used afresh by each of ten queries that get a tenth of epsilon each.
  const double tenth = LargestZcdp(promise / Interval(10), delta).Lower();
  const double reused = EpsilonOfZcdp(Interval::OfDouble(tenth), Interval(10) * delta).Upper() * 10;
  EXPECT_LE(reused, promise.Upper()) << "each alone fits at ten deltas";
  EXPECT_LT(EpsilonOfZcdp(Interval::OfDouble(tenth), delta / Interval(10)).Upper() * 10, 2 * promise.Upper());
  EXPECT_GT(EpsilonOfZcdp(Interval::OfDouble(tenth), delta / Interval(10)).Upper() * 10, promise.Upper())
      << "with the one delta split over ten queries the promise breaks";
}

TEST(Mistakes, NaNFailsClosed) {
  const Interval nan = Interval::OfDouble(std::nan(""));
  EXPECT_FALSE(nan.RoundedUp().ok());
  EXPECT_FALSE(nan.CertainlyAtMost(Interval(1)));
  EXPECT_FALSE(Epsilon::Parse("NaN", "epsilon").ok());
  EXPECT_FALSE(NumericalEpsilon({}, std::nan(""), {}).ok());
}

TEST(MistakesCanary, NaNThatFailsOpenIsCaught) {
  DoubleAccount open{1};
  EXPECT_TRUE(open.Charge(std::nan(""))) << "NaN > limit is false, so the charge was admitted";
}

// Permute-and-flip is only eta-DP: a pure event, not a bounded-range one.
TEST(Mistakes, PermuteAndFlipIsNotChargedAsBoundedRange) {
  const RuleSpec spec = SpecOf(RuleKind::kZcdp);
  const double charged = static_cast<double>((*Cost(spec, PureOf("0.5")))[0]) * 1e-12;
  // The worst eta-DP mechanism, 40 times: its true epsilon at 1e-6 must be covered.
  const double truth =
      *OptimalPureEpsilon({{Quotient({1}, {2}), Interval(0), 40}}, Quotient({1}, {1'000'000}));
  const auto claimed = [&](double rho) {
    return EpsilonOfZcdp(Interval::OfDouble(40 * rho), Quotient({1}, {1'000'000})).Upper();
  };
  EXPECT_GE(claimed(charged), truth);
  EXPECT_LT(claimed(0.5 * 0.5 / 8), truth) << "canary: eta^2/8 claims less than what leaks";
}

// The log-probabilities of two neighbouring answers of the exponential mechanism with weights e^(factor
// score).
double RangeOfLogRatios(const std::vector<double>& scores, const std::vector<double>& neighbour,
                        double factor) {
  double least = std::numeric_limits<double>::infinity();
  double largest = -least;
  for (size_t i = 0; i < scores.size(); ++i) {
    least = std::min(least, factor * (scores[i] - neighbour[i]));
    largest = std::max(largest, factor * (scores[i] - neighbour[i]));
  }
  return largest - least;  // the normaliser shifts all ratios alike
}

TEST(Mistakes, NonMonotoneScoresDoubleTheRangeOfTheExponentialMechanism) {
  const double eta = 0.8;
  // One record moves one score up by 1 and another down by 1: sensitivity 1, not monotone.
  const std::vector<double> scores = {3, 5, 4};
  const std::vector<double> neighbour = {4, 4, 4};
  EXPECT_LE(RangeOfLogRatios(scores, neighbour, eta / 2), eta + 1e-12);
  EXPECT_GT(RangeOfLogRatios(scores, neighbour, eta), eta) << "canary: without the factor 2";
  // Monotone scores need no factor.
  EXPECT_LE(RangeOfLogRatios({4, 5, 4}, {4, 4, 4}, eta), eta + 1e-12);
}

TEST(Mistakes, TheClassicGaussianFormulaIsRefusedAboveEpsilonOne) {
  const Interval delta = Quotient({1}, {100'000});
  EXPECT_TRUE(ClassicGaussianSigma(Interval(1), delta).ok());
  EXPECT_EQ(ClassicGaussianSigma(Quotient({101}, {100}), delta).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(ClassicGaussianSigma(Interval::OfDouble(std::nan("")), delta).ok());
  // Canary: the formula taken anyway.
  const double sigma = std::sqrt(2 * std::log(1.25e5)) / 10;
  EXPECT_FALSE(GaussianDelta(Interval(1) / Interval::OfDouble(sigma), Interval(10)).CertainlyAtMost(delta));
  EXPECT_TRUE(
      GaussianDelta(Interval(1) / Interval::OfDouble(GaussianSigma(Interval(10), delta)), Interval(10))
          .CertainlyAtMost(delta));
}

TEST(Mistakes, AReportChangesNothing) {
  const RuleSpec spec = SpecOf(RuleKind::kZcdp);
  CounterAccount account(Limits(spec));
  account.Charge(*Cost(spec, PureOf("0.5")));
  const std::vector<int64_t> before = account.spent();
  account.Fits(*Cost(spec, PureOf("0.1")));
  account.Fits(Limits(spec));
  EXPECT_EQ(account.spent(), before);
  EXPECT_EQ(Cost(spec, PureOf("0.5")), Cost(spec, PureOf("0.5")));
  EXPECT_EQ(Limits(spec), Limits(spec));
}

// How many mechanisms of epsilon 0.1 a gate admits, up to 500.
int64_t Admitted(const std::function<bool(int64_t)>& admits) {
  int64_t count = 0;
  while (count < 500 && admits(count + 1)) ++count;
  return count;
}

// Theorems for fixed parameters (and "some order fits") must not gate adaptive requests; the filters admit
// less.
TEST(Mistakes, TheoremsForFixedParametersDoNotGateAdmission) {
  const Interval delta = Quotient({1}, {1'000'000});
  const auto admitted_by = [&](const RuleSpec& spec) {
    CounterAccount account(Limits(spec));
    const std::vector<int64_t> cost = *Cost(spec, PureOf("0.1"));
    return Admitted([&](int64_t) { return account.Charge(cost); });
  };
  const int64_t advanced = admitted_by(SpecOf(RuleKind::kAdvanced));
  const int64_t rdp = admitted_by(SpecOf(RuleKind::kRdp));
  const int64_t optimal = Admitted([&](int64_t n) {
    return *OptimalPureEpsilon({{Quotient({1}, {10}), Interval(0), n}}, delta) <= 4;
  });
  EXPECT_LT(advanced, optimal) << "canary: the optimum for fixed parameters admits more than the filter";
  EXPECT_LT(rdp, optimal);
  // Canary: of several orders, whichever fits.
  int64_t some_order = 0;
  for (const int64_t order : {4, 6, 8, 10, 12}) {
    RuleSpec spec = SpecOf(RuleKind::kRdp);
    spec.order = Rational{order, 1};
    some_order = std::max(some_order, admitted_by(spec));
  }
  RuleSpec fixed = SpecOf(RuleKind::kRdp);
  fixed.order = Rational{4, 1};
  EXPECT_LT(admitted_by(fixed), some_order);
}

// An account that forgets to look: commits anything, twice, under any id.
struct CarelessAccount {
  int64_t spent = 0;
  bool Commit(int64_t actual) {
    spent += actual;
    return true;
  }
};

TEST(Mistakes, ACommitNeverExceedsItsHoldNorHappensTwice) {
  using Verdict = CounterAccount::Verdict;
  CounterAccount account({100});
  EXPECT_EQ(account.Reserve("a", {60}), Verdict::kOk);
  EXPECT_EQ(account.Reserve("a", {10}), Verdict::kError) << "id taken";
  EXPECT_EQ(account.Commit("a", {61}), Verdict::kError);
  EXPECT_EQ(account.Commit("a", {-1}), Verdict::kError);
  EXPECT_EQ(account.Commit("a", {20}), Verdict::kOk);
  EXPECT_EQ(account.Commit("a", {20}), Verdict::kError);
  EXPECT_EQ(account.Reserve("a", {10}), Verdict::kError) << "id used";
  EXPECT_EQ(account.Cancel("a", CounterAccount::Look::kNotYet), Verdict::kError);
  EXPECT_EQ(account.spent(), (std::vector<int64_t>{20}));
  EXPECT_EQ(account.held(), (std::vector<int64_t>{0}));
  CarelessAccount careless;
  careless.Commit(61);
  careless.Commit(61);
  EXPECT_GT(careless.spent, 100) << "canary: overspent";
}

// A rule that forgets the count of a part, as the canary of NTimesOneIsOneTimesN.
TEST(MistakesCanary, ACountThatIsIgnoredIsCaught) {
  for (const RuleSpec& spec : testing::EveryRule()) {
    const std::vector<int64_t> once = *Cost(spec, PureOf("0.1"));
    const std::vector<int64_t> seven = *Cost(spec, {ComposedEvent{{{PureOf("0.1"), 7}}}});
    EXPECT_EQ(seven, testing::Times(once, 7));
    EXPECT_NE(seven, once) << "canary: what a rule that ignores counts would say";
  }
}

}  // namespace
}  // namespace curator::dp
