#include "dp/workload/workload_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stop_token>

#include "base/errors.h"
#include "dp/domain/testing_domain.h"
#include "dp/queries/testing/all_intervals.h"
#include "dp/sensitivity/product_cost.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/workload/testing/simultaneous_tail.h"

namespace curator::dp {
namespace {

constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};

RuleSpec Rule(RuleKind kind) {
  RuleSpec rule;
  rule.kind = kind;
  rule.epsilon = Epsilon(1000 * kEpsilonUnitsPerOne);
  if (kind != RuleKind::kPure) rule.delta = Delta(1'000'000'000'000);
  return rule;
}

const Domain& Facts() {
  static const Domain domain = CodedDomain({50, 2, 3});
  return domain;
}

std::vector<QuerySet> Mixture() {
  return {{{{{1, 2}, EveryCell()}}},
          {{{{0}, AllIntervals(50)}}},
          {{{{1}, std::vector<LinearQuery>{{{0, 1}, {1, -1}}}}}},
          {{{{0, 1}, Boxes{{{3, 9}, {0, 0}}}}}}};
}

TEST(PlanWorkload, BuysOneDrawForAMixture) {
  const WorkloadPlan plan = PlanWorkload(Facts(), kRecord, Rule(RuleKind::kPure), Mixture(),
                                         {.epsilon = Epsilon(kEpsilonUnitsPerOne)}, std::nullopt)
                                .value();
  ASSERT_EQ(plan.bought.draws.size(), 1u);
  EXPECT_EQ(plan.bought.event, NoiseEvent(plan.bought.noise, plan.shape.sensitivity));
  EXPECT_EQ(plan.shape.sensitivity, QueriesSensitivity(Facts(), kRecord, plan.shape.joint.measured).value());
  EXPECT_EQ(plan.shape.answers, 6 + 1275 + 1 + 1);
  EXPECT_EQ(plan.shape.joint.plans[1].strategy, Strategy::kTree);
}

TEST(PlanWorkload, PricesMarginalsAsItAlwaysDid) {
  const WorkloadPlan plan = PlanWorkload(CodedDomain({1, 2}), {NeighbourRelation::kReplaceOne, 1},
                                         Rule(RuleKind::kPure), {{{{{0}, EveryCell()}, {{1}, EveryCell()}}}},
                                         {.epsilon = Epsilon(kEpsilonUnitsPerOne)}, std::nullopt)
                                .value();
  EXPECT_EQ(plan.bought.event,
            (Event{DiscreteLaplaceEvent{.scale = {4, 1}, .l1_sensitivity = 4, .linf_sensitivity = 1}}));
}

// ---- By residuals, where a set says so

std::vector<QuerySet> ByResiduals() {
  return {{{{{0, 1}, EveryCell()}, {{1, 2}, EveryCell()}}, Strategy::kResidual}, {{{{0}, AllIntervals(50)}}}};
}

constexpr Spend kTenthOfRho{.rho = Rho(kRhoUnitsPerOne / 10)};

absl::StatusOr<WorkloadPlan> PlanOf(const std::vector<QuerySet>& sets, RuleKind rule, const Spend& spend,
                                    std::optional<Mechanism> mechanism = std::nullopt) {
  return PlanWorkload(Facts(), kRecord, Rule(rule), sets, spend, mechanism);
}

TEST(PlanWorkload, MeasuresAllSetsByResidualsWhereOneSaysSo) {
  const WorkloadPlan plan = PlanOf(ByResiduals(), RuleKind::kZcdp, kTenthOfRho).value();
  ASSERT_TRUE(plan.residual.has_value());
  for (const SetPlan& each : plan.shape.joint.plans) EXPECT_EQ(each.strategy, Strategy::kResidual);
  EXPECT_EQ(plan.shape.answers, 100 + 6 + 1275);
  EXPECT_EQ(plan.shape.measured_values, 1 + 49 + 1 + 2 + 49 + 2) << "of the sets and all of their subsets";
}

TEST(PlanWorkload, ChargesTheSpendForResidualsWhichCostNoMore) {
  const WorkloadPlan plan = PlanOf(ByResiduals(), RuleKind::kZcdp, kTenthOfRho).value();
  const Rho cost =
      CostOfProducts(Facts(), kRecord, plan.residual->queries, plan.residual->sigma_squared).value();
  EXPECT_EQ(plan.bought.event, Event{ZcdpEvent{*kTenthOfRho.rho}});
  EXPECT_EQ(plan.bought.draws, (std::vector<CountedEvent>{{Event{ZcdpEvent{*kTenthOfRho.rho}}, 1}}));
  EXPECT_LE(cost, *kTenthOfRho.rho);
  EXPECT_GT(cost.units(), kTenthOfRho.rho->units() * 99 / 100);
}

TEST(PlanWorkload, MeasuresResidualsForEpsilonAndDeltaToo) {
  const auto plan = PlanOf(ByResiduals(), RuleKind::kAdvanced,
                           {.epsilon = Epsilon(kEpsilonUnitsPerOne), .delta = Delta(1'000'000)});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(plan->residual.has_value());
}

TEST(PlanWorkload, NamesTheSetWhoseResidualsCannotBeMeasured) {
  const auto field = [](const absl::StatusOr<WorkloadPlan>& plan) {
    return FieldViolationOf(plan.status()).value_or(FieldViolation{}).field;
  };
  const std::string first = "workload.query_sets[0].strategy";
  EXPECT_EQ(field(PlanOf(ByResiduals(), RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne)})), first);
  EXPECT_EQ(field(PlanForTarget(Facts(), kRecord, Rule(RuleKind::kPure), ByResiduals(), {.max_error = 40},
                                std::nullopt)),
            first);
  std::vector<QuerySet> sets = ByResiduals();
  sets[1].strategy = Strategy::kTree;
  EXPECT_EQ(field(PlanOf(sets, RuleKind::kZcdp, kTenthOfRho)), first);
  sets[1] = {{{{0, 1}, std::vector<LinearQuery>{{{0, 1}, {99, 1}}}}}};
  EXPECT_EQ(field(PlanOf(sets, RuleKind::kZcdp, kTenthOfRho)), first) << "no product over two attributes";
  EXPECT_EQ(field(PlanOf(ByResiduals(), RuleKind::kZcdp, {.rho = Rho(1)})), "spend");
  EXPECT_EQ(field(PlanOf(ByResiduals(), RuleKind::kZcdp, kTenthOfRho, Mechanism::kDiscreteLaplace)),
            "mechanism");
}

TEST(PlanForTarget, OfResidualsFindsTheLeastBudgetThatReachesIt) {
  const Target target{.max_error = 40, .confidence = 0.9};
  const WorkloadPlan plan =
      PlanForTarget(Facts(), kRecord, Rule(RuleKind::kZcdp), ByResiduals(), target, std::nullopt).value();
  ASSERT_TRUE(plan.residual.has_value());
  const ErrorClasses classes = OfAllSets(plan.classes);
  const auto noise = std::get<GaussianErrors>(ForecastNoiseOf(plan.shape, plan.bought));
  EXPECT_FALSE(ExceedsTail(noise, classes, 40, 0.1));
  // Parameters are known to a few parts in 10^9.
  EXPECT_TRUE(ExceedsTail(GaussianErrors{noise.variance * (1 + 1e-7)}, classes, 40, 0.1));
}

// ---- By residuals, where they are better

std::vector<QuerySet> Pairs() {
  return {{{{{0, 1}, EveryCell()}, {{1, 2}, EveryCell()}}}};
}

TEST(PlanWorkload, ChoosesResidualsWhereTheirForecastIsLower) {
  const WorkloadPlan plan = PlanOf(Pairs(), RuleKind::kZcdp, kTenthOfRho).value();
  ASSERT_TRUE(plan.residual.has_value());
  const WorkloadPlan direct = PlanWorkload(Facts(), kRecord, Rule(RuleKind::kZcdp), Pairs(), kTenthOfRho,
                                           std::nullopt, {.may_choose_joint_strategies = false})
                                  .value();
  EXPECT_FALSE(direct.residual.has_value());
  const auto deviation = [](const WorkloadPlan& each) {
    return MeanDeviation(ForecastNoiseOf(each.shape, each.bought),
                         OfAllSets(ErrorClassesOf(Facts(), each.shape)));
  };
  EXPECT_LT(deviation(plan), 0.99 * deviation(direct));
}

TEST(PlanWorkload, MeasuresOneMarginalItselfWhichIsAsGoodAndInWholeNumbers) {
  EXPECT_FALSE(PlanOf({{{{{0, 1}, EveryCell()}}}}, RuleKind::kZcdp, kTenthOfRho)->residual.has_value());
}

TEST(PlanWorkload, ChoosesResidualsForMoreMarginalsThanArePlannedTwice) {
  const Domain bits = CodedDomain(std::vector<int64_t>(46, 2));
  QuerySet pairs;
  for (uint32_t i = 0; i < 46; ++i) {
    for (uint32_t j = i + 1; j < 46; ++j) pairs.groups.push_back({{i, j}, EveryCell()});
  }
  ASSERT_GT(pairs.groups.size(), 1000u);
  const auto plan = [&](const UnitBound& unit, const PlanOptions& options) {
    return PlanWorkload(bits, unit, Rule(RuleKind::kZcdp), {pairs}, kTenthOfRho, std::nullopt, options)
        .value();
  };
  EXPECT_TRUE(plan(kRecord, {}).residual.has_value());
  EXPECT_TRUE(plan({NeighbourRelation::kReplaceOne, 1}, {}).residual.has_value());
  EXPECT_FALSE(plan(kRecord, {.may_choose_joint_strategies = false}).residual.has_value());
}

// ---- By parities, where they are better

constexpr Spend kOneEpsilon{.epsilon = Epsilon(kEpsilonUnitsPerOne)};

bool IsByParity(const WorkloadPlan& plan) {
  return AreByParity(plan.shape.joint.plans);
}

// All pairs of six attributes of two codes.
std::vector<QuerySet> PairsOfBits() {
  QuerySet pairs;
  for (uint32_t i = 0; i < 6; ++i) {
    for (uint32_t j = i + 1; j < 6; ++j) pairs.groups.push_back({{i, j}, EveryCell()});
  }
  return {pairs};
}

absl::StatusOr<WorkloadPlan> PlanOfBits(const std::vector<QuerySet>& sets, const Spend& spend,
                                        const PlanOptions& options = {}) {
  const RuleKind rule = spend.rho ? RuleKind::kZcdp : RuleKind::kPure;
  return PlanWorkload(CodedDomain({2, 2, 2, 2, 2, 2, 3}), kRecord, Rule(rule), sets, spend, std::nullopt,
                      options);
}

double DeviationOfBits(const WorkloadPlan& plan) {
  return MeanDeviation(ForecastNoiseOf(plan.shape, plan.bought),
                       OfAllSets(ErrorClassesOf(CodedDomain({2, 2, 2, 2, 2, 2, 3}), plan.shape)));
}

TEST(PlanWorkload, ChoosesParitiesWhereTheirForecastIsLower) {
  const WorkloadPlan plan = PlanOfBits(PairsOfBits(), kOneEpsilon).value();
  ASSERT_TRUE(IsByParity(plan));
  EXPECT_EQ(plan.shape.measured_values, 1 + 6 + 15);
  EXPECT_EQ(plan.shape.answers, 15 * 4);
  const WorkloadPlan direct =
      PlanOfBits(PairsOfBits(), kOneEpsilon, {.may_choose_joint_strategies = false}).value();
  EXPECT_FALSE(IsByParity(direct));
  EXPECT_LT(DeviationOfBits(plan), 0.65 * DeviationOfBits(direct));
}

// Four parities of weight 1 have half of the deviation at four times the noise.
TEST(PlanWorkload, MeasuresTwoMarginalsThatShareNothingThemselves) {
  const std::vector<QuerySet> apart = {{{{{0, 1, 2}, EveryCell()}, {{3, 4, 5}, EveryCell()}}}};
  EXPECT_FALSE(IsByParity(PlanOfBits(apart, kOneEpsilon).value()));
}

TEST(PlanWorkload, ChoosesNoParitiesForGaussianNoiseOrBesideAnythingElse) {
  EXPECT_FALSE(IsByParity(PlanOfBits(PairsOfBits(), kTenthOfRho).value()));
  const WorkloadPlan under_zcdp =
      PlanWorkload(CodedDomain({2, 2, 2, 2, 2, 2, 3}), kRecord, Rule(RuleKind::kZcdp), PairsOfBits(),
                   kOneEpsilon, std::nullopt)
          .value();
  EXPECT_FALSE(IsByParity(under_zcdp)) << "they would cost more there";
  std::vector<QuerySet> sets = PairsOfBits();
  sets.push_back({{{{6}, EveryCell()}}});
  EXPECT_FALSE(IsByParity(PlanOfBits(sets, kOneEpsilon).value())) << "an attribute of three codes";
  sets.back() = {{{{0}, Boxes{{{0, 0}}}}}};
  EXPECT_FALSE(IsByParity(PlanOfBits(sets, kOneEpsilon).value()));
  sets.back() = {{{{0, 1, 2}, EveryCell()}}, Strategy::kDirect};
  EXPECT_FALSE(IsByParity(PlanOfBits(sets, kOneEpsilon).value()));
}

TEST(PlanWorkload, MeasuresAllSetsByParitiesThatOneNamesOrNone) {
  std::vector<QuerySet> sets = {{{{{0, 1}, EveryCell()}}, Strategy::kParity}, {{{{3}, EveryCell()}}}};
  EXPECT_TRUE(IsByParity(PlanOfBits(sets, kOneEpsilon).value()));
  EXPECT_EQ(FieldViolationOf(PlanOfBits(sets, kTenthOfRho).status())->field,
            "workload.query_sets[0].strategy");
  const auto refused = [&](const QuerySet& other) {
    sets[1] = other;
    const auto violation = FieldViolationOf(PlanOfBits(sets, kOneEpsilon).status());
    return violation && violation->field == "workload.query_sets[0].strategy" &&
           violation->description.find("2 codes") != std::string::npos;
  };
  EXPECT_TRUE(refused({{{{6}, EveryCell()}}}));
  EXPECT_TRUE(refused({{{{0}, EveryCell()}}, Strategy::kDirect}));
  EXPECT_TRUE(refused({{{{0}, EveryCell()}}, Strategy::kResidual}));
}

// 1,035 pairs, and a budget so large that the noise of parities has no parameter that may be drawn.
TEST(PlanWorkload, MeasuresManyMarginalsByParitiesOrThemselvesWhereThoseCannotBeBought) {
  const Domain bits = CodedDomain(std::vector<int64_t>(46, 2));
  QuerySet pairs;
  for (uint32_t i = 0; i < 46; ++i) {
    for (uint32_t j = i + 1; j < 46; ++j) pairs.groups.push_back({{i, j}, EveryCell()});
  }
  const auto plan = [&](const Spend& spend, const PlanOptions& options) {
    return PlanWorkload(bits, {NeighbourRelation::kReplaceOne, 1}, Rule(RuleKind::kPure), {pairs}, spend,
                        std::nullopt, options)
        .value();
  };
  EXPECT_TRUE(IsByParity(plan(kOneEpsilon, {})));
  EXPECT_TRUE(IsByParity(plan(kOneEpsilon, {.objective = ErrorMeasure::kLargest})));
  // A scale of 2 * 1035 / epsilon is at most 2^30, one of parities is above.
  const Spend small{.epsilon = Epsilon(kEpsilonUnitsPerOne / 500'000)};
  EXPECT_FALSE(IsByParity(plan(small, {})));
}

TEST(PlanForTarget, ReachesAnErrorByParitiesAtALowerPrice) {
  const Target target{.rmse = 5};
  const auto priced = [&](const PlanOptions& options) {
    return PlanForTarget(CodedDomain({2, 2, 2, 2, 2, 2, 3}), kRecord, Rule(RuleKind::kPure), PairsOfBits(),
                         target, std::nullopt, options)
        .value();
  };
  const WorkloadPlan plan = priced({});
  ASSERT_TRUE(IsByParity(plan));
  EXPECT_LE(DeviationOfBits(plan), 5);
  EXPECT_GT(DeviationOfBits(plan), 4.999);
  const WorkloadPlan direct = priced({.may_choose_joint_strategies = false});
  EXPECT_LT(plan.spend.epsilon->units(), direct.spend.epsilon->units() * 65 / 100);
}

TEST(PlanWorkload, ChoosesNoResidualsBesideAnotherStrategyOrForLaplaceNoise) {
  std::vector<QuerySet> sets = Pairs();
  EXPECT_FALSE(
      PlanOf(sets, RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne)})->residual.has_value());
  sets.push_back({{{{0}, AllIntervals(50)}}, Strategy::kTree});
  EXPECT_FALSE(PlanOf(sets, RuleKind::kZcdp, kTenthOfRho)->residual.has_value());
}

// ---- What a plan makes least

std::vector<double> DeviationsOf(const WorkloadPlan& plan) {
  std::vector<double> deviations;
  for (const ErrorClasses& of_set : ErrorClassesOf(Facts(), plan.shape))
    deviations.push_back(MeanDeviation(ForecastNoiseOf(plan.shape, plan.bought), of_set));
  return deviations;
}

TEST(PlanWorkload, MakesASetOfMoreWeightMoreExact) {
  std::vector<QuerySet> sets = {{{{{0, 1}, EveryCell()}}}, {{{{2}, EveryCell()}}}};
  const std::vector<double> even = DeviationsOf(PlanOf(sets, RuleKind::kZcdp, kTenthOfRho).value());
  sets[1].weight = 100;
  const std::vector<double> weighted = DeviationsOf(PlanOf(sets, RuleKind::kZcdp, kTenthOfRho).value());
  EXPECT_LT(weighted[1], 0.8 * even[1]);
  EXPECT_GT(weighted[0], even[0]);
}

TEST(PlanWorkload, MakesTheWorstVarianceLeastWhereThatIsTheObjective) {
  const std::vector<QuerySet> sets = {{{{{0}, AllIntervals(50)}}}, {{{{1, 2}, EveryCell()}}}};
  const auto worst = [&](ErrorMeasure objective) {
    const WorkloadPlan plan = PlanWorkload(Facts(), kRecord, Rule(RuleKind::kZcdp), sets, kTenthOfRho,
                                           std::nullopt, {.objective = objective})
                                  .value();
    double largest = 0;
    for (const ErrorClass& each : OfAllSets(ErrorClassesOf(Facts(), plan.shape)))
      largest = std::max(largest, each.error.variance_factor);
    return largest * std::pow(MeanDeviation(ForecastNoiseOf(plan.shape, plan.bought), {{{}, 1}}), 2);
  };
  EXPECT_LT(worst(ErrorMeasure::kLargest), 0.99 * worst(ErrorMeasure::kMean));
}

TEST(PlanForTarget, FindsTheLeastBudgetForARootMeanSquaredError) {
  std::vector<QuerySet> sets = Pairs();
  sets.push_back({{{{2}, EveryCell()}}});
  sets[1].weight = 3;
  for (const RuleKind kind : {RuleKind::kPure, RuleKind::kZcdp}) {
    const WorkloadPlan plan =
        PlanForTarget(Facts(), kRecord, Rule(kind), sets, {.rmse = 7}, std::nullopt).value();
    EXPECT_EQ(plan.residual.has_value(), kind == RuleKind::kZcdp);
    const std::vector<double> deviations = DeviationsOf(plan);
    const double rmse = std::sqrt((std::pow(deviations[0], 2) + 3 * std::pow(deviations[1], 2)) / 4);
    EXPECT_LE(rmse, 7 * (1 + 1e-8));
    EXPECT_GT(rmse, 7 * (1 - 1e-4));
  }
}

TEST(PlanForTarget, HasNoWeightsWhereAllAnswersHaveToReachIt) {
  std::vector<QuerySet> sets = Pairs();
  sets[0].weight = 2;
  const auto plan =
      PlanForTarget(Facts(), kRecord, Rule(RuleKind::kZcdp), sets, {.max_error = 40}, std::nullopt);
  EXPECT_EQ(FieldViolationOf(plan.status()).value_or(FieldViolation{}).field,
            "workload.query_sets[0].weight");
}

// ---- Statistics: many draws for one spend

const Domain& Ages() {
  static const Domain domain = Domain::Create({Attribute::Create("region", CodedKind{3}).value(),
                                               Attribute::Create("age", IntegerKind{0, 99}).value()})
                                   .value();
  return domain;
}

// Selections by groups, and sums of every kind.
std::vector<AskedStatistics> ManyDraws() {
  AskedStatistics selected;
  for (const int32_t thousandths : {100, 250, 500, 750, 900})
    selected.statistics.push_back({StatisticKind::kQuantile, 1, thousandths});
  selected.by = {0};
  selected.quantiles = QuantileWay::kSelection;
  AskedStatistics summed = selected;
  summed.statistics = {{}, {StatisticKind::kVariance, 1}, {StatisticKind::kQuantile, 1}};
  summed.quantiles = QuantileWay::kTree;
  return {selected, summed};
}

std::vector<int64_t> AmountsOf(const RuleSpec& rule, const Event& event) {
  std::vector<int64_t> amounts;
  for (const CounterAmount& counter : CostOf(rule, event).value()) amounts.push_back(counter.amount);
  return amounts;
}

TEST(PlanStatistics, CostsTheSpendAtMostUnderEveryRule) {
  constexpr UnitBound kReplaced{NeighbourRelation::kReplaceOne, 1};
  std::vector<RuleSpec> rules = {Rule(RuleKind::kPure), Rule(RuleKind::kZcdp), Rule(RuleKind::kAdvanced)};
  for (const Rational& order : {Rational{101, 100}, Rational{3, 2}, Rational{17, 2}}) {
    rules.push_back(Rule(RuleKind::kRdp));
    rules.back().order = order;
  }
  const std::vector<AskedStatistics> sets = ManyDraws();
  for (const RuleSpec& rule : rules) {
    for (int64_t odd = 0; odd < 60; ++odd) {
      const int64_t units = kEpsilonUnitsPerOne / 2 + 7'654'321 * odd;
      std::vector<Spend> spends = {{.epsilon = Epsilon(units)}};
      if (rule.kind == RuleKind::kZcdp || rule.kind == RuleKind::kRdp) {
        spends.push_back({.rho = Rho(units)});
        spends.push_back({.rho = Rho(50'000'000 + 7 * odd)});
      }
      if (rule.kind == RuleKind::kAdvanced && odd == 0)
        spends.push_back({.epsilon = Epsilon(units), .delta = Delta(1'000'000'000)});
      for (const Spend& spend : spends) {
        const auto plan = PlanStatistics(Ages(), kReplaced, rule, sets, spend, std::nullopt);
        ASSERT_TRUE(plan.ok()) << plan.status() << RuleName(rule.kind) << units;
        EXPECT_EQ(plan->statistics.size(), plan->bought_draws.size());
        const std::vector<int64_t> cost = AmountsOf(rule, plan->bought.event);
        const std::vector<int64_t> most = AmountsOf(rule, EventOf(BudgetOf(rule, spend).value()));
        for (size_t i = 0; i < cost.size(); ++i) EXPECT_LE(cost[i], most[i]);
      }
    }
  }
}

// Each of four selections costs 1.01 times 250,001 units, rounded up; what they may cost is rounded up once.
TEST(PlanStatistics, LeavesOutWhatRdpRoundsUpForEachSelection) {
  RuleSpec rule = Rule(RuleKind::kRdp);
  rule.order = Rational{101, 100};
  AskedStatistics two = ManyDraws()[0];
  two.statistics.resize(2);
  const auto plan = PlanStatistics(Ages(), {NeighbourRelation::kReplaceOne, 1}, rule, std::span(&two, 1),
                                   {.rho = Rho(1'000'006)}, std::nullopt);
  EXPECT_TRUE(plan.ok()) << plan.status();
}

TEST(PlanWorkload, EndsWhenItsClientHasGone) {
  std::stop_source client;
  client.request_stop();
  const auto plan =
      PlanWorkload(Facts(), kRecord, Rule(RuleKind::kPure), Mixture(),
                   {.epsilon = Epsilon(kEpsilonUnitsPerOne)}, std::nullopt, {.stop = client.get_token()});
  EXPECT_TRUE(absl::IsCancelled(plan.status())) << plan.status();
  const auto cheapest = PlanForTarget(Facts(), kRecord, Rule(RuleKind::kPure), Mixture(), {.max_error = 40},
                                      std::nullopt, {.stop = client.get_token()});
  EXPECT_TRUE(absl::IsCancelled(cheapest.status())) << cheapest.status();
}

// Noise of one kind, on what is measured itself.
const PlanOptions kMeasured{.may_choose_joint_strategies = false};

TEST(PlanForTarget, FindsTheLeastBudgetThatReachesIt) {
  const Target target{.max_error = 40, .confidence = 0.9};
  for (const RuleKind kind : {RuleKind::kPure, RuleKind::kZcdp}) {
    const WorkloadPlan plan =
        PlanForTarget(Facts(), kRecord, Rule(kind), Mixture(), target, std::nullopt, kMeasured).value();
    const ErrorClasses classes = OfAllSets(ErrorClassesOf(Facts(), plan.shape));
    EXPECT_LE(SimultaneousTail(plan.bought.noise, classes, 40), 0.1);
    const bool is_pure = plan.spend.epsilon.has_value();
    const NoiseSpec worse =
        is_pure ? LaplaceNoiseFor(plan.shape.sensitivity, Epsilon(plan.spend.epsilon->units() - 1)).value()
                : GaussianNoiseFor(plan.shape.sensitivity, Rho(plan.spend.rho->units() - 1)).value();
    EXPECT_TRUE(ExceedsTail(worse, classes, 40, 0.1));
    EXPECT_EQ(is_pure, kind == RuleKind::kPure) << "Gaussian noise is cheaper for many answers";
  }
}

// The errors of all prefixes of 2^20 bins take a large part of a second.
TEST(PlanForTarget, KeepsTheErrorsThatItWasChosenByForItsForecasts) {
  const WorkloadPlan plan = PlanForTarget(Facts(), kRecord, Rule(RuleKind::kZcdp), Mixture(),
                                          {.max_error = 40, .confidence = 0.9}, std::nullopt)
                                .value();
  EXPECT_EQ(plan.classes, ErrorClassesOf(Facts(), plan.shape));
}

TEST(PlanForTarget, RefusesWhatNoBudgetReaches) {
  const auto field = [](const Target& target) {
    const auto plan = PlanForTarget(Facts(), kRecord, Rule(RuleKind::kPure), Mixture(), target, std::nullopt);
    return FieldViolationOf(plan.status()).value_or(FieldViolation{}).field;
  };
  EXPECT_EQ(field({.max_error = -1}), "target.max_error");
  EXPECT_EQ(field({.max_error = std::nan("")}), "target.max_error");
  EXPECT_EQ(field({.max_error = 1, .confidence = 1}), "target.confidence");
  EXPECT_EQ(field({.max_error = 0, .confidence = 1 - 1e-16}), "target.max_error");
  EXPECT_EQ(field({.rmse = -1}), "target.rmse");
  EXPECT_EQ(field({.rmse = std::nan("")}), "target.rmse");
}

TEST(ValidateSets, NamesTheLimitAndTheNumber) {
  const auto message = [](const std::vector<QuerySet>& sets, const PlanLimits& limits) {
    return std::string(ValidateSets(Facts(), sets, limits).message());
  };
  EXPECT_EQ(message(Mixture(), {}), "");
  EXPECT_EQ(message(Mixture(), {.most_sets = 3}),
            "workload: asks for 4 query sets; at most 3 are answered in one request");
  EXPECT_EQ(message(Mixture(), {.most_cells = 50}),
            "workload: asks for 56 cells of marginals; at most 50 are answered in one request");
  EXPECT_EQ(message(Mixture(), {.most_answers = 1000}),
            "workload: asks for 1275 answers; at most 1000 are answered in one request");
  EXPECT_NE(message({{}}, {}), "");
  EXPECT_NE(message({}, {}), "");
}

}  // namespace
}  // namespace curator::dp
