// What holds of every rule, on events at random.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/calculators/stated_composition.h"
#include "dp/accounting/divergence.h"
#include "dp/accounting/numerical/composition.h"
#include "dp/accounting/testing/random_events.h"
#include "dp/accounting/testing/rules.h"

namespace curator::dp {
namespace {

using testing::AtLeast;
using testing::Cost;
using testing::EveryRule;
using testing::Limits;
using testing::Plus;
using testing::RandomEvents;
using testing::SpecOf;
using testing::Times;

class EveryRuleTest : public ::testing::TestWithParam<RuleSpec> {
 protected:
  // An event that the rule under test can count.
  Event Countable(RandomEvents& random, int depth) {
    const RuleKind kind = GetParam().kind;
    return random.Tree(depth, [&]() -> Event {
      if (kind == RuleKind::kPure) return random.WithEpsilon();
      if (kind == RuleKind::kAdvanced && random.Between(0, 2) == 0) {
        return {ApproximateEvent{Epsilon(random.Between(0, kEpsilonUnitsPerOne)),
                                 Delta(random.Between(0, 1'000'000))}};
      }
      if (kind != RuleKind::kAdvanced && random.Between(0, 1) == 0) return random.Gaussian();
      return random.WithEpsilon();
    });
  }

  std::vector<int64_t> CostHere(const Event& event) {
    const auto cost = Cost(GetParam(), event);
    EXPECT_TRUE(cost) << Describe(event);
    return cost ? *cost : std::vector<int64_t>(2, 0);
  }
};

INSTANTIATE_TEST_SUITE_P(Rules, EveryRuleTest, ::testing::ValuesIn(EveryRule()),
                         [](const auto& rule) { return std::string(RuleName(rule.param.kind)); });

TEST_P(EveryRuleTest, NTimesOneIsOneTimesN) {
  RandomEvents random(31);
  for (int i = 0; i < 150; ++i) {
    const Event event = Countable(random, 3);
    const int64_t n = random.Between(1, 40);
    const std::vector<int64_t> expected = Times(CostHere(event), n);
    EXPECT_EQ(CostHere({ComposedEvent{{{event, n}}}}), expected) << Describe(event);
    EXPECT_EQ(CostHere({ComposedEvent{std::vector<CountedEvent>(static_cast<size_t>(n), {event, 1})}}),
              expected);
    EXPECT_EQ(CostHere({ComposedEvent{{{Event{ComposedEvent{{{event, n}}}}, 3}}}}), Times(expected, 3));
  }
}

TEST_P(EveryRuleTest, TheOrderOfPartsDoesNotMatter) {
  RandomEvents random(32);
  for (int i = 0; i < 150; ++i) {
    ComposedEvent composed;
    ParallelEvent parallel;
    for (int64_t n = random.Between(2, 5); n > 0; --n) {
      composed.parts.push_back({Countable(random, 2), random.Between(1, 5)});
      parallel.parts.push_back(Countable(random, 2));
    }
    const std::vector<int64_t> in_sequence = CostHere({composed});
    const std::vector<int64_t> side_by_side = CostHere({parallel});
    std::reverse(composed.parts.begin(), composed.parts.end());
    std::rotate(parallel.parts.begin(), parallel.parts.begin() + 1, parallel.parts.end());
    EXPECT_EQ(CostHere({composed}), in_sequence);
    EXPECT_EQ(CostHere({parallel}), side_by_side);
  }
}

TEST_P(EveryRuleTest, MoreNeverCostsLess) {
  RandomEvents random(33);
  for (int i = 0; i < 150; ++i) {
    const Event event = Countable(random, 2);
    const Event another = Countable(random, 2);
    const std::vector<int64_t> cost = CostHere(event);
    const std::vector<int64_t> both = CostHere({ComposedEvent{{{event, 1}, {another, 1}}}});
    EXPECT_TRUE(AtLeast(both, cost));
    EXPECT_EQ(both, Plus(cost, CostHere(another)));
    EXPECT_TRUE(AtLeast(CostHere({ParallelEvent{{event, another}}}), cost));
    EXPECT_TRUE(AtLeast(both, CostHere({ParallelEvent{{event, another}}})));
    EXPECT_TRUE(AtLeast(CostHere({GroupEvent{{event}, 3}}), CostHere({GroupEvent{{event}, 2}})));
    // Two records cost at least twice one, but for the rounding up of each mechanism.
    const std::vector<int64_t> rounding(cost.size(), 1000);
    EXPECT_TRUE(AtLeast(Plus(CostHere({GroupEvent{{event}, 2}}), rounding), Times(cost, 2)))
        << Describe(event);
    EXPECT_EQ(CostHere({GroupEvent{{event}, 1}}), cost);
  }
}

TEST_P(EveryRuleTest, EachArgumentIsMonotone) {
  RandomEvents random(34);
  for (int i = 0; i < 150; ++i) {
    const Rational scale = random.Ratio();
    const Rational wider{scale.numerator + random.Between(1, 50), scale.denominator};
    const int64_t linf = random.Between(1, 4);
    const int64_t l1 = linf + random.Between(0, 9);
    const DiscreteLaplaceEvent event{scale, l1, linf};
    const std::vector<int64_t> cost = CostHere({event});
    EXPECT_TRUE(AtLeast(cost, CostHere({DiscreteLaplaceEvent{wider, l1, linf}})));
    EXPECT_TRUE(AtLeast(CostHere({DiscreteLaplaceEvent{scale, l1 + 1, linf}}), cost));
    EXPECT_TRUE(AtLeast(CostHere({DiscreteLaplaceEvent{scale, l1 + 1, linf + 1}}),
                        CostHere({DiscreteLaplaceEvent{scale, l1 + 1, linf}})));
    EXPECT_TRUE(
        AtLeast(CostHere({LaplaceEvent{scale, {l1 + 1, 3}}}), CostHere({LaplaceEvent{wider, {l1, 3}}})));
    const int64_t units = random.Between(0, kEpsilonUnitsPerOne);
    EXPECT_TRUE(AtLeast(CostHere({PureEvent{Epsilon(units + 1)}}), CostHere({PureEvent{Epsilon(units)}})));
    EXPECT_TRUE(AtLeast(CostHere({ExponentialMechanismEvent{Epsilon(units + 1000)}}),
                        CostHere({ExponentialMechanismEvent{Epsilon(units)}})));
  }
}

TEST_P(EveryRuleTest, WhatIsNotNothingCostsAtLeastOneUnit) {
  constexpr int64_t kMost = 1'000'000'000'000'000'000;
  for (const Event& event :
       {Event{DiscreteLaplaceEvent{{kMost, 1}, 1, 1}}, Event{PureEvent{Epsilon(1)}},
        Event{LaplaceEvent{{kMost, 1}, {1, kMost}}}, Event{ExponentialMechanismEvent{Epsilon(1)}}}) {
    EXPECT_GE(CostHere(event)[0], 1) << Describe(event);
  }
  EXPECT_EQ(CostHere({PureEvent{Epsilon(0)}})[0], 0);
}

// What the account promises at what the schedule spent, from below: the promise is never broken.
TEST(NoRuleBreaksItsPromise, FullAccountsStayBelowTheProvenLowerBound) {
  RandomEvents random(35);
  for (const RuleSpec& spec : EveryRule()) {
    const std::vector<int64_t> limits = Limits(spec);
    for (int i = 0; i < 4; ++i) {
      const Event event = i % 2 == 0 ? Event{LaplaceEvent{{random.Between(5, 25), 1}, {1, 1}}}
                                     : Event{PureEvent{Epsilon(random.Between(40, 200) * 1'000'000'000)}};
      const int64_t fits = limits[0] / (*Cost(spec, event))[0];  // as often as the account admits
      const double delta = spec.kind == RuleKind::kPure ? 1e-15 : 1e-6;
      const absl::StatusOr<CertifiedBounds> truth = NumericalEpsilon({{event, fits}}, delta, {});
      ASSERT_TRUE(truth.ok()) << truth.status();
      EXPECT_LE(*truth->lower, 4.0) << RuleName(spec.kind) << " " << fits << " x " << Describe(event);
    }
  }
}

TEST(NoRuleBreaksItsPromise, TheRhoOfTheLimitConvertsToThePromise) {
  RandomEvents random(36);
  for (int i = 0; i < 25; ++i) {
    RuleSpec spec = SpecOf(RuleKind::kZcdp);
    spec.epsilon = Epsilon(random.Between(10'000'000'000, 20 * kEpsilonUnitsPerOne));
    spec.delta = Delta(random.Between(1'000, 1'000'000'000'000'000));
    const Interval promise = Interval::Of(spec.epsilon);
    const Interval delta = Interval::Of(spec.delta);
    const int64_t limit = Limits(spec)[0];
    EXPECT_TRUE(EpsilonOfZcdp(Interval::Of(Rho(limit)), delta).CertainlyAtMost(promise));
    EXPECT_TRUE(EpsilonOfZcdp(Interval::Of(Rho(limit + 2)), delta).CertainlyAbove(promise));
    // The Gaussian of that rho is a mechanism under which the promise must hold.
    EXPECT_LE(GaussianEpsilon(Sqrt(Interval(2) * Interval::Of(Rho(limit))), delta), promise.Upper());
  }
}

TEST(Divergences, TheRhoOfDiscreteLaplaceBoundsEveryOrder) {
  for (const Rational& scale : {Rational{1, 2}, Rational{1, 1}, Rational{7, 2}, Rational{40, 1}}) {
    for (const int64_t shift : {1, 2, 3, 10}) {
      const DiscreteLaplaceEvent event{scale, shift, shift};
      const Interval rho = ZcdpOfDiscreteLaplace(event);
      for (const double x : {1e-6, 1e-3, 0.1, 0.5, 1.0, 3.0, 10.0, 100.0}) {
        const Interval order_minus_one = Interval::OfDouble(x);
        const double at =
            (RenyiOfDiscreteLaplace(order_minus_one, event) / (order_minus_one + Interval(1))).Lower();
        EXPECT_LE(at, rho.Upper()) << x << " " << shift;
      }
      EXPECT_LE(rho.Upper(), ZcdpOfPure(Interval(shift) / Interval::Of(scale)).Upper() * (1 + 1e-15));
    }
  }
}

// All ways to write at most `l1` as a sum of parts at most `linf`, largest first.
void ForEachShift(int64_t l1, int64_t linf, std::vector<int64_t>& shift,
                  const std::function<void(const std::vector<int64_t>&)>& visit) {
  visit(shift);
  for (int64_t part = std::min(l1, shift.empty() ? linf : shift.back()); part >= 1; --part) {
    shift.push_back(part);
    ForEachShift(l1 - part, linf, shift, visit);
    shift.pop_back();
  }
}

TEST(Divergences, NoAllowedShiftOfAVectorCostsMoreThanTheWorst) {
  const Rational scale{5, 2};
  const Interval order_minus_one = Quotient({7}, {2});
  for (const int64_t linf : {1, 2, 3, 5}) {
    constexpr int64_t kL1 = 7;
    const DiscreteLaplaceEvent event{scale, kL1, linf};
    const double rho = ZcdpOfDiscreteLaplace(event).Upper();
    const double renyi = RenyiOfDiscreteLaplace(order_minus_one, event).Upper();
    std::vector<int64_t> shift;
    ForEachShift(kL1, linf, shift, [&](const std::vector<int64_t>& parts) {
      Interval rho_sum(0);
      Interval renyi_sum(0);
      for (const int64_t part : parts) {
        rho_sum = rho_sum + ZcdpOfDiscreteLaplace({scale, part, part});
        renyi_sum = renyi_sum + RenyiOfDiscreteLaplace(order_minus_one, {scale, part, part});
      }
      EXPECT_LE(rho_sum.Lower(), rho);
      EXPECT_LE(renyi_sum.Lower(), renyi);
    });
  }
}

// The sum over the integers themselves, without the closed form.
TEST(Divergences, TheClosedFormOfDiscreteLaplaceIsItsSum) {
  const double scale = 1.5;
  const int shift = 3;
  const int far = 60;
  for (const double alpha : {1.25, 2.0, 9.0}) {
    double sum = 0;
    double whole = 0;
    for (int y = -far; y <= far; ++y) {
      const double p = std::exp(-std::abs(y) / scale);
      const double q = std::exp(-std::abs(y - shift) / scale);
      sum += std::pow(p, alpha) * std::pow(q, 1 - alpha);
      whole += p;
    }
    const double expected = std::log(sum / whole) / (alpha - 1);
    const Interval computed = RenyiOfDiscreteLaplace(Interval::OfDouble(alpha - 1), {{3, 2}, shift, shift});
    EXPECT_NEAR(computed.Upper(), expected, 1e-12 * expected);
  }
}

}  // namespace
}  // namespace curator::dp
