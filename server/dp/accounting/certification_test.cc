#include "dp/accounting/certification.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/comparison.h"
#include "dp/accounting/rule.h"

namespace curator::dp {
namespace {

const Delta kMillionth(1'000'000'000'000);
const Epsilon kOne(kEpsilonUnitsPerOne);

Event Gaussian(int64_t variance) {
  return {GaussianEvent{{variance, 1}, {1, 1}}};
}
Event DiscreteGaussian(int64_t variance) {
  return {DiscreteGaussianEvent{{variance, 1}, 1}};
}
Event Selection(int64_t thousandths) {
  return {ExponentialMechanismEvent{Epsilon(thousandths * 1'000'000'000)}};
}

RuleSpec Account(RuleKind kind) {
  RuleSpec rule{kind, Epsilon(8 * kEpsilonUnitsPerOne), Delta(4'000'000'000'000), {}, {}};
  if (kind == RuleKind::kPure) rule.delta = Delta(0);
  if (kind == RuleKind::kRdp) rule.order = Rational{8, 1};
  return rule;
}

std::vector<int64_t> CostIn(RuleKind kind, const Event& event) {
  std::vector<int64_t> amounts;
  const auto cost = CostOf(Account(kind), event);
  EXPECT_TRUE(cost.ok()) << cost.status();
  for (const CounterAmount& amount : *cost) amounts.push_back(amount.amount);
  return amounts;
}

TEST(AskedEvent, HasAPriceOnlyOnceItIsCertified) {
  const Event schedule{ComposedEvent{{{Gaussian(400), 36}}}};
  const AskedEvent asked(Event{CertifiedEvent{{schedule}, Epsilon(0), kMillionth}});
  EXPECT_EQ(asked.size(), 3);
  const Event certified = *asked.Certify({});
  EXPECT_EQ(certified, Event{*Certified(schedule, kMillionth)});
  const AskedEvent again(certified);
  EXPECT_EQ(again.as_asked(), asked.as_asked()) << "an epsilon that a caller states is dropped";
  EXPECT_EQ(*AskedEvent(schedule).Certify({}), schedule);
  const AskedEvent within(Event{ComposedEvent{{{certified, 2}}}});
  EXPECT_TRUE(absl::IsInvalidArgument(within.Certify({}).status()));
}

TEST(CertifiedSchedules, AGaussianScheduleCostsItsExactEpsilonUnderAdvanced) {
  const CertifiedEvent certified = *Certified({ComposedEvent{{{Gaussian(400), 36}}}}, kMillionth);
  const double exact = GaussianEpsilon(Quotient({3}, {10}), Interval::Of(kMillionth));
  EXPECT_GE(static_cast<double>(certified.epsilon.units()) * 1e-12, exact * (1 - 1e-15));
  EXPECT_LE(static_cast<double>(certified.epsilon.units()) * 1e-12, exact + 1e-9);
  EXPECT_EQ(CostIn(RuleKind::kAdvanced, {certified}),
            CostIn(RuleKind::kAdvanced, {ApproximateEvent{certified.epsilon, kMillionth}}));
}

TEST(CertifiedSchedules, CountAsWhatWasDoneUnderRulesWithoutDeltas) {
  const Event schedule{ComposedEvent{{{DiscreteGaussian(400), 36}, {Selection(20), 4}}}};
  const Event certified{*Certified(schedule, kMillionth)};
  EXPECT_EQ(CostIn(RuleKind::kZcdp, certified), CostIn(RuleKind::kZcdp, schedule));
  EXPECT_EQ(CostIn(RuleKind::kRdp, certified), CostIn(RuleKind::kRdp, schedule));
  EXPECT_EQ(CostOf(Account(RuleKind::kPure), certified).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(*ScheduleOf(certified), *ScheduleOf(schedule));
}

// Canary: a rule that counted the schedule as well as its certificate, or neither, is caught here.
TEST(CertifiedSchedules, AreCountedOnceAndScaleWithTheirCountAndGroup) {
  const CertifiedEvent certified = *Certified(DiscreteGaussian(400), kMillionth);
  const std::vector<int64_t> once = CostIn(RuleKind::kAdvanced, {certified});
  const std::vector<int64_t> thrice = CostIn(RuleKind::kAdvanced, {ComposedEvent{{{{certified}, 3}}}});
  const Event plain{ApproximateEvent{certified.epsilon, certified.delta}};
  for (size_t i = 0; i < once.size(); ++i) EXPECT_EQ(thrice[i], 3 * once[i]);
  EXPECT_EQ(CostIn(RuleKind::kAdvanced, {GroupEvent{{{certified}}, 2}}),
            CostIn(RuleKind::kAdvanced, {GroupEvent{{plain}, 2}}));
  EXPECT_EQ(CostIn(RuleKind::kZcdp, {GroupEvent{{{certified}}, 2}}),
            CostIn(RuleKind::kZcdp, {GroupEvent{{DiscreteGaussian(400)}, 2}}));
}

TEST(CertifiedSchedules, WhatCannotBeCertifiedIsRefused) {
  const Event spends_delta{ComposedEvent{{{{ApproximateEvent{Epsilon(1), kMillionth}}, 2}}}};
  EXPECT_EQ(Certified(spends_delta, kMillionth).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_FALSE(Certified(Gaussian(1), Delta(kDeltaUnitsPerOne)).ok());
  EXPECT_FALSE(Certified(Gaussian(1), Delta(0)).ok());
}

TEST(CertifiedSchedules, ShiftsOfUnknownKindFallBackToConcentratedPrivacy) {
  const CertifiedEvent unknown = *Certified({DiscreteGaussianEvent{{400, 1}, 9}}, kMillionth);
  const CertifiedEvent units = *Certified({DiscreteGaussianEvent{{400, 1}, 9, 1}}, kMillionth);
  EXPECT_LT(units.epsilon, unknown.epsilon);
}

TEST(CheapestCertified, IsNeverDearerThanOneCertificateForAll) {
  const std::vector<CountedEvent> draws = {
      {DiscreteGaussian(2'000), 1}, {Selection(40), 8}, {DiscreteGaussian(900), 8}};
  const Event cheapest = *CheapestCertified(draws, kOne, kMillionth);
  const CertifiedEvent whole = *Certified({ComposedEvent{draws}}, kMillionth);
  const std::vector<int64_t> cost = CostIn(RuleKind::kAdvanced, cheapest);
  const std::vector<int64_t> together = CostIn(RuleKind::kAdvanced, {whole});
  EXPECT_LT(cost[0], together[0]);
  EXPECT_EQ(cost[1], kMillionth.units());
  // Whatever its form, it covers the same draws.
  EXPECT_EQ(CostIn(RuleKind::kZcdp, cheapest), CostIn(RuleKind::kZcdp, {ComposedEvent{draws}}));
}

TEST(CheapestCertified, IsTighterThanTheZcdpConversion) {
  const std::vector<CountedEvent> draws = {{DiscreteGaussian(2'000), 1}, {DiscreteGaussian(900), 8}};
  const std::vector<CalculatedEpsilon> rows =
      *CompareCalculators(*ScheduleOf({ComposedEvent{draws}}), kMillionth, Effort::kBounded);
  const Event event = *CheapestCertified(draws, kOne, kMillionth);
  const auto& certified = std::get<CertifiedEvent>(event.what);
  for (const CalculatedEpsilon& row : rows) {
    if (row.calculator != "zcdp-tight") continue;
    EXPECT_LT(static_cast<double>(certified.epsilon.units()) * 1e-12, *row.epsilon * 0.95);
  }
}

TEST(CheapestCertified, RefusesDrawsThatBreakThePromise) {
  const absl::StatusOr<Event> refused = CheapestCertified({{DiscreteGaussian(10), 1}}, kOne, kMillionth);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(FieldViolationOf(refused.status())->field, "epsilon");
}

TEST(Certificates, AreFoundWhereverTheyStand) {
  const Event certified{*Certified(DiscreteGaussian(400), kMillionth)};
  EXPECT_TRUE(HasCertificate(certified));
  EXPECT_TRUE(HasCertificate({ComposedEvent{{{Selection(10), 2}, {certified, 1}}}}));
  EXPECT_TRUE(HasCertificate({GroupEvent{{{ParallelEvent{{Selection(10), certified}}}}, 2}}));
  EXPECT_FALSE(HasCertificate({ComposedEvent{{{Selection(10), 2}, {DiscreteGaussian(400), 1}}}}));
}

TEST(AsAsked, LeavesOutWhatWasComputed) {
  CertifiedEvent one = *Certified(DiscreteGaussian(400), kMillionth);
  CertifiedEvent other = one;
  other.epsilon = Epsilon(one.epsilon.units() + 1);
  const auto composed = [](const CertifiedEvent& e) { return Event{ComposedEvent{{{{e}, 1}}}}; };
  EXPECT_EQ(AsAsked(composed(one)), AsAsked(composed(other)));
  other.delta = Delta(one.delta.units() + 1);
  EXPECT_FALSE(AsAsked(composed(one)) == AsAsked(composed(other)));
  EXPECT_EQ(AsAsked(DiscreteGaussian(7)), DiscreteGaussian(7));
}

TEST(CertifiedBefore, KnowsWhatIsCharged) {
  const Epsilon most(8 * kEpsilonUnitsPerOne);
  for (const std::vector<CountedEvent>& draws : {std::vector<CountedEvent>{{DiscreteGaussian(400), 1}},
                                                 {{DiscreteGaussian(400), 36}},
                                                 {{Selection(20), 100}, {Selection(40), 4}},
                                                 {{DiscreteGaussian(400), 36}, {Selection(20), 4}}}) {
    const Event charged = *CheapestCertified(draws, most, kMillionth);
    EXPECT_EQ(CertifiedBefore(charged, draws, most, kMillionth), charged) << Describe(charged);
  }
}

// Another version or machine may compute other digits, and so prefer the other form.
TEST(CertifiedBefore, KeepsAnyEpsilonInEitherForm) {
  const std::vector<CountedEvent> draws = {{DiscreteGaussian(400), 36}, {Selection(20), 4}};
  const Event together{CertifiedEvent{{{ComposedEvent{draws}}}, Epsilon(1'234'567'890'123), kMillionth}};
  const Event rest{CertifiedEvent{{{ComposedEvent{{draws[0]}}}}, Epsilon(1'123'456'789'012), kMillionth}};
  const Event apart{ComposedEvent{{draws[1], {rest, 1}}}};
  for (const Event& charged : {together, apart}) {
    const Epsilon most(2 * kEpsilonUnitsPerOne);
    EXPECT_EQ(CertifiedBefore(charged, draws, most, kMillionth), charged) << Describe(charged);
    EXPECT_NE(*CheapestCertified(draws, most, kMillionth), charged);
  }
}

TEST(CertifiedBefore, KeepsNoChargeOfAnotherRequest) {
  const std::vector<CountedEvent> draws = {{DiscreteGaussian(400), 36}, {Selection(20), 4}};
  const Epsilon most(2 * kEpsilonUnitsPerOne);
  const Event charged{CertifiedEvent{{{ComposedEvent{draws}}}, Epsilon(1'234'567'890'123), kMillionth}};
  EXPECT_TRUE(CertifiedBefore(charged, draws, most, kMillionth));
  EXPECT_FALSE(CertifiedBefore(charged, {{DiscreteGaussian(400), 36}}, most, kMillionth));
  EXPECT_FALSE(CertifiedBefore(charged, {draws[1], draws[0]}, most, kMillionth));
  EXPECT_FALSE(CertifiedBefore(charged, draws, most, Delta(1'000'000'000'001)));
  EXPECT_FALSE(CertifiedBefore(charged, draws, kOne, kMillionth));
  EXPECT_FALSE(CertifiedBefore({ComposedEvent{draws}}, draws, most, kMillionth));
}

}  // namespace
}  // namespace curator::dp
