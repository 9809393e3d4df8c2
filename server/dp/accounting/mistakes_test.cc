// Mistakes known from other systems (docs/PRIVACY-accounting.md). Each has a test of ours and a deliberately
// wrong variant that the test catches: the variant shows that the check can fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/calculators/renyi.h"
#include "dp/accounting/calculators/stated_composition.h"
#include "dp/accounting/divergence.h"
#include "dp/accounting/interval.h"
#include "dp/accounting/numerical/composition.h"
#include "dp/accounting/testing/rules.h"

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

TEST(MistakesCanary, ThreeTenthsInAFloatSumAreCaught) {
  DoubleAccount tenths{0.3};
  EXPECT_TRUE(tenths.Charge(0.1));
  EXPECT_TRUE(tenths.Charge(0.1));
  EXPECT_FALSE(tenths.Charge(0.1)) << "the third tenth fits exactly, but not in doubles";
}

// 10^16 + 1 units are counted; in a double the 1 vanishes.
TEST(Mistakes, ASmallChargeBesideALargeOneIsNotAbsorbed) {
  CounterAccount account({20'000'000'000'000'000});
  account.Charge({10'000'000'000'000'000});
  account.Charge({1});
  EXPECT_EQ(account.spent()[0], 10'000'000'000'000'001);
}

TEST(MistakesCanary, AnAbsorbedChargeIsCaught) {
  DoubleAccount absorbing{2e16};
  absorbing.Charge(1e16);
  absorbing.Charge(1);
  EXPECT_EQ(absorbing.spent, 1e16) << "a charge of 1 vanished";
}

TEST(MistakesCanary, AChargeAfterExhaustionIsCaught) {
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

// Whether Gaussian noise of `rho` in all, the worst that rho-zCDP allows, keeps the account's promise.
bool KeepsPromise(const RuleSpec& spec, double rho) {
  const Interval mu = Sqrt(Interval(2) * Interval::OfDouble(rho));
  return GaussianDelta(mu, Interval::Of(spec.epsilon)).CertainlyAtMost(Interval::Of(spec.delta));
}

TEST(Mistakes, DeltaOfTheConversionIsChargedOnceForTheWholeAccount) {
  const RuleSpec spec = SpecOf(RuleKind::kZcdp);
  EXPECT_TRUE(KeepsPromise(spec, static_cast<double>(Limits(spec)[0]) * 1e-12));
}

// No conversion: epsilon is taken for what the sum of rhos may be.
TEST(MistakesCanary, ADeltaOfTheConversionThatIsNotChargedIsCaught) {
  const RuleSpec spec = SpecOf(RuleKind::kZcdp);
  EXPECT_FALSE(KeepsPromise(spec, Interval::Of(spec.epsilon).Upper()));
}

// Each query converts by itself at the whole delta, and epsilons are summed: ten queries of a tenth of
// epsilon each are believed to be (epsilon, delta)-DP, while their deltas add up.
TEST(MistakesCanary, ADeltaReusedByEveryQueryIsCaught) {
  RuleSpec spec = SpecOf(RuleKind::kZcdp);
  spec.epsilon = Epsilon(kEpsilonUnitsPerOne / 1000);
  spec.delta = Delta(kDeltaUnitsPerOne / 100);
  const double sigma = GaussianSigma(Interval::Of(spec.epsilon) / Interval(10), Interval::Of(spec.delta));
  EXPECT_FALSE(KeepsPromise(spec, 10 / (2 * sigma * sigma)));
  EXPECT_TRUE(KeepsPromise(spec, static_cast<double>(Limits(spec)[0]) * 1e-12));
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

// Permute-and-flip is only eta-DP: a pure event, not a bounded-range one. Whether a rho for eta = 1/2 covers
// what the worst eta-DP mechanism leaks when it runs 40 times: its true epsilon at 1e-6.
bool CoversTheWorstPureMechanism(double rho) {
  const Interval delta = Quotient({1}, {1'000'000});
  const double truth = *OptimalPureEpsilon({{Quotient({1}, {2}), Interval(0), 40}}, delta);
  return EpsilonOfZcdp(Interval::OfDouble(40 * rho), delta).Upper() >= truth;
}

TEST(Mistakes, PermuteAndFlipIsNotChargedAsBoundedRange) {
  const int64_t charged = (*Cost(SpecOf(RuleKind::kZcdp), PureOf("0.5")))[0];
  EXPECT_TRUE(CoversTheWorstPureMechanism(static_cast<double>(charged) * 1e-12));
}

TEST(MistakesCanary, PermuteAndFlipChargedAnEighthOfItsSquareIsCaught) {
  EXPECT_FALSE(CoversTheWorstPureMechanism(0.5 * 0.5 / 8));
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

// One record moves one score up by 1 and another down by 1: sensitivity 1, not monotone.
const std::vector<double> kScores = {3, 5, 4};
const std::vector<double> kNeighbouringScores = {4, 4, 4};

TEST(Mistakes, NonMonotoneScoresDoubleTheRangeOfTheExponentialMechanism) {
  const double eta = 0.8;
  EXPECT_LE(RangeOfLogRatios(kScores, kNeighbouringScores, eta / 2), eta + 1e-12);
  // Monotone scores need no factor.
  EXPECT_LE(RangeOfLogRatios({4, 5, 4}, {4, 4, 4}, eta), eta + 1e-12);
}

TEST(MistakesCanary, AForgottenFactorTwoForNonMonotoneScoresIsCaught) {
  const double eta = 0.8;
  EXPECT_GT(RangeOfLogRatios(kScores, kNeighbouringScores, eta), eta + 1e-12);
}

// Whether noise of this sigma on a count is (10, 1e-5)-DP.
bool IsPrivateAtTen(double sigma) {
  return GaussianDelta(Interval(1) / Interval::OfDouble(sigma), Interval(10))
      .CertainlyAtMost(Quotient({1}, {100'000}));
}

TEST(Mistakes, TheClassicGaussianFormulaIsRefusedAboveEpsilonOne) {
  const Interval delta = Quotient({1}, {100'000});
  EXPECT_TRUE(ClassicGaussianSigma(Interval(1), delta).ok());
  EXPECT_EQ(ClassicGaussianSigma(Quotient({101}, {100}), delta).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(ClassicGaussianSigma(Interval::OfDouble(std::nan("")), delta).ok());
  EXPECT_TRUE(IsPrivateAtTen(GaussianSigma(Interval(10), delta)));
}

TEST(MistakesCanary, TheClassicSigmaAboveEpsilonOneIsCaught) {
  EXPECT_FALSE(IsPrivateAtTen(std::sqrt(2 * std::log(1.25e5)) / 10));
}

// Whether what an account says is the same after it has been asked.
template <typename Account>
bool SaysTheSameTwice(Account& account, const std::vector<int64_t>& cost) {
  const std::vector<int64_t> before = account.spent();
  const bool fits = account.Fits(cost);
  return account.Fits(cost) == fits && account.spent() == before;
}

TEST(Mistakes, AReportChangesNothing) {
  const RuleSpec spec = SpecOf(RuleKind::kZcdp);
  CounterAccount account(Limits(spec));
  account.Charge(*Cost(spec, PureOf("0.5")));
  EXPECT_TRUE(SaysTheSameTwice(account, *Cost(spec, PureOf("0.1"))));
  EXPECT_TRUE(SaysTheSameTwice(account, Limits(spec)));
  EXPECT_EQ(Cost(spec, PureOf("0.5")), Cost(spec, PureOf("0.5")));
  EXPECT_EQ(Limits(spec), Limits(spec));
}

// An account that notes what it is asked about, as if it were charged.
struct NotingAccount {
  std::vector<int64_t> amounts = {0};
  bool Fits(const std::vector<int64_t>& cost) {
    amounts[0] += cost[0];
    return amounts[0] <= 100;
  }
  const std::vector<int64_t>& spent() const { return amounts; }
};

TEST(MistakesCanary, AReportThatChangesTheAccountIsCaught) {
  NotingAccount account;
  EXPECT_FALSE(SaysTheSameTwice(account, {60}));
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

using Verdict = CounterAccount::Verdict;

// Which of the three mistakes with holds an account of limit 100 makes.
template <typename Account>
std::string MistakesWithHolds(Account account) {
  std::string mistakes;
  account.Reserve("a", {60});
  if (account.Commit("a", {61}) == Verdict::kOk) mistakes += "a commit larger than its hold; ";
  account.Reserve("b", {30});
  account.Commit("b", {10});
  if (account.Commit("b", {10}) == Verdict::kOk) mistakes += "a commit that happens twice; ";
  if (account.Reserve("b", {1}) == Verdict::kOk) mistakes += "an id that is used again; ";
  return mistakes;
}

TEST(Mistakes, ACommitNeverExceedsItsHoldNorHappensTwice) {
  EXPECT_EQ(MistakesWithHolds(CounterAccount({100})), "");
  CounterAccount account({100});
  EXPECT_EQ(account.Reserve("a", {60}), Verdict::kOk);
  EXPECT_EQ(account.Commit("a", {-1}), Verdict::kError);
  EXPECT_EQ(account.Commit("a", {20}), Verdict::kOk);
  EXPECT_EQ(account.Cancel("a", CounterAccount::Look::kNotYet), Verdict::kError);
  EXPECT_EQ(account.spent(), (std::vector<int64_t>{20}));
  EXPECT_EQ(account.held(), (std::vector<int64_t>{0}));
}

// An account that forgets to look: commits anything, twice, under any id.
struct CarelessAccount {
  Verdict Reserve(const std::string&, const std::vector<int64_t>&) { return Verdict::kOk; }
  Verdict Commit(const std::string&, const std::vector<int64_t>&) { return Verdict::kOk; }
};

TEST(MistakesCanary, ACarelessAccountIsCaughtAtEachMistakeWithHolds) {
  EXPECT_EQ(MistakesWithHolds(CarelessAccount()),
            "a commit larger than its hold; a commit that happens twice; an id that is used again; ");
}

using CostFunction = std::function<std::vector<int64_t>(const RuleSpec&, const Event&)>;

// Whether seven times a part costs seven times its cost, under every rule.
bool CountsParts(const CostFunction& cost) {
  return std::ranges::all_of(testing::EveryRule(), [&](const RuleSpec& spec) {
    return cost(spec, {ComposedEvent{{{PureOf("0.1"), 7}}}}) == testing::Times(cost(spec, PureOf("0.1")), 7);
  });
}

TEST(Mistakes, ACountIsHonouredByEveryRule) {
  EXPECT_TRUE(CountsParts([](const RuleSpec& spec, const Event& event) { return *Cost(spec, event); }));
}

TEST(MistakesCanary, ACountIgnoredByOneRuleIsCaught) {
  EXPECT_FALSE(CountsParts([](const RuleSpec& spec, Event event) {
    auto* composed = std::get_if<ComposedEvent>(&event.what);
    if (composed != nullptr && spec.kind == RuleKind::kRdp) composed->parts[0].count = 1;
    return *Cost(spec, event);
  }));
}

}  // namespace
}  // namespace curator::dp
