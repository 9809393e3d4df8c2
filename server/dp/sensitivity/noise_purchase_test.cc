#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/errors.h"
#include "dp/domain/testing_domain.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/sensitivity/spend.h"

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

absl::StatusOr<NoisePurchase> PlanMarginals(const Domain& domain, const UnitBound& unit, const RuleSpec& rule,
                                            const std::vector<AttributeSet>& marginals, const Spend& spend,
                                            std::optional<Mechanism> mechanism) {
  if (absl::Status valid = ValidateMarginals(domain, marginals); !valid.ok()) return valid;
  const auto count = static_cast<int64_t>(marginals.size());
  const UnitBound leaving{NeighbourRelation::kAddRemove, unit.max_records};
  return BuyNoise(rule, spend, MarginalsSensitivity(unit, count).value(),
                  MarginalsSensitivity(leaving, count).value(), mechanism);
}

bool CostsAtMost(const RuleSpec& rule, const Event& event, const Event& limit) {
  const auto cost = CostOf(rule, event).value();
  const auto most = CostOf(rule, limit).value();
  for (size_t i = 0; i < cost.size(); ++i) {
    if (cost[i].amount > most[i].amount) return false;
  }
  return true;
}

TEST(BuyNoise, SplitsEpsilonEquallyOverTheMarginals) {
  const Domain domain = CodedDomain({2, 3, 4});
  const NoisePurchase plan = PlanMarginals(domain, kRecord, Rule(RuleKind::kPure), {{0, 1}, {1, 2}, {0, 2}},
                                           {.epsilon = Epsilon(kEpsilonUnitsPerOne)}, std::nullopt)
                                 .value();
  EXPECT_EQ(plan.noise, (NoiseSpec{Mechanism::kDiscreteLaplace, {3, 1}}));
  EXPECT_EQ(plan.event,
            (Event{DiscreteLaplaceEvent{.scale = {3, 1}, .l1_sensitivity = 3, .linf_sensitivity = 1}}));
  ASSERT_EQ(plan.draws.size(), 1u);
  EXPECT_EQ(plan.draws[0], (CountedEvent{plan.event, 1}));
}

TEST(BuyNoise, BuysGaussianNoiseWithRho) {
  const NoisePurchase plan =
      PlanMarginals(CodedDomain({2, 3}), {NeighbourRelation::kReplaceOne, 3}, Rule(RuleKind::kZcdp),
                    {{0}, {1}}, {.rho = Rho(kRhoUnitsPerOne / 10)}, std::nullopt)
          .value();
  // L2^2 = 2 marginals * 2 * 3^2 = 36; sigma^2 = 36 / 0.2.
  EXPECT_EQ(plan.noise, (NoiseSpec{Mechanism::kDiscreteGaussian, {180, 1}}));
  EXPECT_EQ(CostOf(Rule(RuleKind::kZcdp), plan.event).value()[0].amount, kRhoUnitsPerOne / 10);
}

TEST(BuyNoise, ChargesEpsilonAndDeltaForAGaussianUnderAdvanced) {
  const Spend spend{.epsilon = Epsilon(kEpsilonUnitsPerOne), .delta = Delta(1'000'000'000)};
  const NoisePurchase plan =
      PlanMarginals(CodedDomain({2, 3}), kRecord, Rule(RuleKind::kAdvanced), {{0}, {1}}, spend, std::nullopt)
          .value();
  const auto& charged = std::get<CertifiedEvent>(plan.event.what);
  EXPECT_EQ(charged.schedule, std::vector<Event>{plan.draws[0].event});
  EXPECT_EQ(charged.delta, *spend.delta);
  EXPECT_LE(charged.epsilon, *spend.epsilon);
  EXPECT_GT(charged.epsilon.units(), spend.epsilon->units() / 1000 * 999);
  const auto& drawn = std::get<DiscreteGaussianEvent>(plan.draws[0].event.what);
  EXPECT_EQ(drawn.l2_sensitivity_squared, 2);
  EXPECT_EQ(drawn.sigma_squared, plan.noise.parameter);
}

double RhoOf(const NoisePurchase& plan) {
  const auto cost = CostOf(Rule(RuleKind::kZcdp), {ComposedEvent{plan.draws}}).value();
  return static_cast<double>(cost[0].amount) / kRhoUnitsPerOne;
}

// A request's epsilon and delta buy the noise that its own curve allows, less than by way of zCDP; and the
// same on every machine, so the number is written out.
TEST(BuyNoise, BuysMoreWithADeltaThanTheZcdpConversionWould) {
  const Domain domain = CodedDomain({2, 2, 2, 2, 2});
  const Spend spend{.epsilon = Epsilon(kEpsilonUnitsPerOne), .delta = Delta(1'000'000'000'000)};
  const auto sets = AllKWayMarginals(domain, 2, {}).value();
  const Budget budget = BudgetOf(Rule(RuleKind::kAdvanced), spend).value();
  const double by_zcdp = static_cast<double>(std::get<ZcdpBudget>(budget).rho.units()) / kRhoUnitsPerOne;
  for (const NeighbourRelation relation : {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne}) {
    const auto plan =
        PlanMarginals(domain, {relation, 1}, Rule(RuleKind::kAdvanced), sets, spend, std::nullopt).value();
    EXPECT_GT(RhoOf(plan), by_zcdp * 1.15);
    EXPECT_NEAR(RhoOf(plan), 0.02801, 1e-5);
  }
  // A person of many records may shift a cell by more than 1, which only the conversion covers.
  const auto persons = PlanMarginals(domain, {NeighbourRelation::kAddRemove, 2}, Rule(RuleKind::kAdvanced),
                                     sets, spend, std::nullopt)
                           .value();
  EXPECT_NEAR(RhoOf(persons), by_zcdp, 1e-9);
}

// Budgets without a pattern, in every unit, under every rule: the price never exceeds the offer, not by one
// unit.
TEST(BuyNoise, NeverCostsMoreThanTheSpend) {
  std::mt19937_64 random(20261101);
  const Domain domain = CodedDomain({2, 3, 4, 5, 6});
  int planned = 0;
  for (int trial = 0; trial < 150; ++trial) {
    const int64_t magnitude = static_cast<int64_t>(std::pow(10.0, 5 + static_cast<double>(random() % 8)));
    const int64_t units = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(magnitude));
    const UnitBound unit{random() % 2 == 0 ? NeighbourRelation::kAddRemove : NeighbourRelation::kReplaceOne,
                         1 + static_cast<int64_t>(random() % 7)};
    auto sets = AllKWayMarginals(domain, 1 + static_cast<int>(random() % 5), {}).value();
    const std::pair<RuleKind, Spend> offers[] = {
        {RuleKind::kPure, {.epsilon = Epsilon(units)}},
        {RuleKind::kZcdp, {.epsilon = Epsilon(units)}},
        {RuleKind::kZcdp, {.rho = Rho(units)}},
        {RuleKind::kAdvanced, {.epsilon = Epsilon(units)}},
        {RuleKind::kAdvanced,
         {.epsilon = Epsilon(units), .delta = Delta(1 + static_cast<int64_t>(random() % 1'000'000'000))}}};
    for (const auto& [kind, spend] : offers) {
      if (spend.delta && trial % 6 != 0) continue;  // certified arithmetic takes its time
      const auto plan = PlanMarginals(domain, unit, Rule(kind), sets, spend, std::nullopt);
      if (!plan.ok()) {
        EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << plan.status();
        continue;
      }
      ++planned;
      const Event offer = EventOf(BudgetOf(Rule(kind), spend).value());
      EXPECT_TRUE(CostsAtMost(Rule(kind), plan->event, offer))
          << Describe(plan->event) << " for " << Describe(offer);
    }
  }
  EXPECT_GT(planned, 300);
}

TEST(BuyNoiseCanary, NoiseFiveHundredthsTooSmallIsCaughtByThePrice) {
  const RuleSpec rule = Rule(RuleKind::kPure);
  const NoisePurchase plan = PlanMarginals(CodedDomain({2, 3}), kRecord, rule, {{0}, {1}},
                                           {.epsilon = Epsilon(kEpsilonUnitsPerOne)}, std::nullopt)
                                 .value();
  auto broken = std::get<DiscreteLaplaceEvent>(plan.event.what);
  broken.scale = {broken.scale.numerator * 95, broken.scale.denominator * 100};
  EXPECT_FALSE(CostsAtMost(rule, {broken}, {PureEvent{Epsilon(kEpsilonUnitsPerOne)}}));
}

TEST(BuyNoise, RefusesAMechanismThatTheSpendDoesNotBuy) {
  const auto plan = PlanMarginals(CodedDomain({2}), kRecord, Rule(RuleKind::kPure), {{0}},
                                  {.epsilon = Epsilon(kEpsilonUnitsPerOne)}, Mechanism::kDiscreteGaussian);
  EXPECT_EQ(FieldViolationOf(plan.status())->field, "mechanism");
}

TEST(BuyNoise, RefusesABudgetThatBuysOnlyNoise) {
  const auto plan = PlanMarginals(CodedDomain({2}), kRecord, Rule(RuleKind::kPure), {{0}},
                                  {.epsilon = Epsilon(1)}, std::nullopt);
  EXPECT_EQ(FieldViolationOf(plan.status())->field, "spend.epsilon");
}

}  // namespace
}  // namespace curator::dp
