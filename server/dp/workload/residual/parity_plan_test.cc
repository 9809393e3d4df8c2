// Plans by parities: held against the optimum in closed form, and against other weights.
#include "dp/workload/residual/parity_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "dp/domain/testing_domain.h"
#include "dp/queries/marginals.h"
#include "dp/workload/residual/noise_selection.h"
#include "dp/workload/residual/parity_reader.h"

namespace curator::dp {
namespace {

constexpr UnitBound kAdded{NeighbourRelation::kAddRemove, 1};
constexpr UnitBound kReplaced{NeighbourRelation::kReplaceOne, 1};

QuerySet MarginalsOf(const Domain& domain, int k) {
  QuerySet set;
  const std::vector<AttributeSet> all = AllKWayMarginals(domain, k, {}).value();
  for (const AttributeSet& attributes : all) set.groups.push_back({attributes, EveryCell()});
  return set;
}

Domain Bits(size_t attributes) {
  return CodedDomain(std::vector<int64_t>(attributes, 2));
}

JointMeasurement Planned(const Domain& domain, const UnitBound& unit, const std::vector<QuerySet>& sets,
                         ErrorMeasure measure = ErrorMeasure::kMean) {
  auto joint = ParitiesFor(domain, unit, sets, measure);
  EXPECT_TRUE(joint.ok() && joint->has_value()) << joint.status();
  return joint.ok() && *joint ? **std::move(joint) : JointMeasurement();
}

int64_t L1Of(const Domain& domain, const UnitBound& unit, const std::vector<QueryGroup>& measured) {
  return MeasuredSensitivity(domain, unit, measured)->l1;
}

// Of all cells of a set's marginals at epsilon = 1, in units of the variance of Laplace noise of scale 1.
double MeanVariance(const Domain& domain, const UnitBound& unit, const QuerySet& set,
                    const std::vector<QueryGroup>& measured) {
  const ParityReader reader = ParityReader::Create(measured).value();
  double sum = 0;
  double cells = 0;
  for (const QueryGroup& group : set.groups) {
    const auto own = static_cast<double>(NumberOfQueries(domain, group));
    sum += own * reader.ErrorOfCells(group.attributes).variance_factor;
    cells += own;
  }
  return sum / cells * std::pow(static_cast<double>(L1Of(domain, unit, measured)), 2);
}

int32_t WeightOf(const QueryGroup& group) {
  if (const auto* parity = std::get_if<Parity>(&group.queries)) return parity->weight;
  return std::get<std::vector<LinearQuery>>(group.queries)[0][0].weight;
}

std::vector<QueryGroup> Scaled(std::vector<QueryGroup> measured, std::mt19937_64& random) {
  std::uniform_real_distribution<double> factor(0.8, 1.25);
  for (size_t i = 0; i < measured.size(); ++i) {
    const auto weight = static_cast<int32_t>(std::lround(100 * WeightOf(measured[i]) * factor(random)));
    measured[i] = ParityGroup(i == 0 ? AttributeSet() : measured[i].attributes, weight, 0);
  }
  return measured;
}

TEST(ParitiesFor, HasTheLeastMeanVarianceThatParitiesCanHave) {
  const Domain domain = Bits(14);
  const QuerySet pairs = MarginalsOf(domain, 2);
  const JointMeasurement joint = Planned(domain, kAdded, {pairs});
  EXPECT_EQ(joint.measured.size(), 1u + 14 + 91);
  // (sum of cbrt(v_B))^3: the number of records is in 91 pairs, an attribute in 13 and a pair in itself.
  const double optimum = std::pow(std::cbrt(91.0) + 14 * std::cbrt(13.0) + 91, 3) / (91 * 16);
  const double planned = MeanVariance(domain, kAdded, pairs, joint.measured);
  EXPECT_NEAR(planned / optimum, 1, 1e-3);
  EXPECT_LT(planned, 0.18 * 91 * 91) << "each pair measured by itself has 91^2";
}

TEST(ParitiesFor, HasNoBetterWeightsUnderEitherRelation) {
  std::mt19937_64 random(1);
  const Domain domain = Bits(5);
  const QuerySet set = MarginalsOf(domain, 3);
  for (const UnitBound& unit : {kAdded, kReplaced}) {
    const JointMeasurement joint = Planned(domain, unit, {set});
    const double planned = MeanVariance(domain, unit, set, joint.measured);
    for (int i = 0; i < 50; ++i)
      EXPECT_GT(MeanVariance(domain, unit, set, Scaled(joint.measured, random)), planned * (1 - 1e-3));
  }
}

// The sum of the weights of all parities, each of which counts every record.
TEST(ParitiesFor, CostsTheSumOfTheWeights) {
  const Domain domain = Bits(4);
  const JointMeasurement joint = Planned(domain, kAdded, {MarginalsOf(domain, 2)});
  int64_t sum = 0;
  for (const QueryGroup& group : joint.measured) sum += WeightOf(group);
  const int64_t of_records = WeightOf(joint.measured[0]);
  EXPECT_EQ(L1Of(domain, kAdded, joint.measured), sum);
  EXPECT_EQ(L1Of(domain, kReplaced, joint.measured), 2 * sum - of_records);
  EXPECT_EQ(L1Of(domain, {NeighbourRelation::kAddRemove, 3}, joint.measured), 3 * sum);
}

// Of all cells of the sets, as above.
double LargestVariance(const Domain& domain, const std::vector<QuerySet>& sets,
                       const JointMeasurement& joint) {
  const ParityReader reader = ParityReader::Create(joint.measured).value();
  double largest = 0;
  for (const QuerySet& set : sets) {
    for (const QueryGroup& group : set.groups)
      largest = std::max(largest, reader.ErrorOfCells(group.attributes).variance_factor);
  }
  return largest * std::pow(static_cast<double>(L1Of(domain, kAdded, joint.measured)), 2);
}

TEST(ParitiesFor, MakesTheWorstVarianceLeast) {
  const Domain domain = Bits(6);
  const std::vector<QuerySet> sets = {MarginalsOf(domain, 1), MarginalsOf(domain, 3)};
  const double least = LargestVariance(domain, sets, Planned(domain, kAdded, sets, ErrorMeasure::kLargest));
  EXPECT_LT(least, 0.99 * LargestVariance(domain, sets, Planned(domain, kAdded, sets)));
  // A lower bound: all marginals of as many attributes are alike, so that for them alone the mean is the
  // worst.
  for (const QuerySet& set : sets)
    EXPECT_GE(least, LargestVariance(domain, {set}, Planned(domain, kAdded, {set})) * (1 - 1e-3));
  // No weights near these do better.
  std::mt19937_64 random(2);
  JointMeasurement other = Planned(domain, kAdded, sets, ErrorMeasure::kLargest);
  const std::vector<QueryGroup> best = other.measured;
  for (int i = 0; i < 50; ++i) {
    other.measured = Scaled(best, random);
    EXPECT_GT(LargestVariance(domain, sets, other), least * (1 - 1e-3));
  }
}

TEST(ParitiesFor, AnswersEachMarginalFromItsOwnParity) {
  const Domain domain = Bits(4);
  const std::vector<QuerySet> sets = {MarginalsOf(domain, 2),
                                      {{{{3}, EveryCell()}, {{0, 1, 2}, EveryCell()}}}};
  const JointMeasurement joint = Planned(domain, kAdded, sets);
  const ParityReader reader = ParityReader::Create(joint.measured).value();
  ASSERT_EQ(joint.plans.size(), sets.size());
  for (size_t i = 0; i < sets.size(); ++i) {
    EXPECT_EQ(joint.plans[i].strategy, Strategy::kParity);
    for (size_t j = 0; j < sets[i].groups.size(); ++j)
      EXPECT_EQ(joint.plans[i].sources[j], reader.PositionOf(sets[i].groups[j].attributes));
  }
}

TEST(ParitiesFor, AreOfMarginalsOverAttributesOfTwoCodesAlone) {
  const auto are_possible = [](const Domain& domain, const QuerySet& set) {
    const std::vector<QuerySet> sets = {set};
    return ParitiesFor(domain, kAdded, sets, ErrorMeasure::kMean)->has_value();
  };
  const Domain mixed = CodedDomain({2, 2, 3, 1});
  EXPECT_TRUE(are_possible(mixed, {{{{0, 1}, EveryCell()}}}));
  EXPECT_FALSE(are_possible(mixed, {{{{0, 2}, EveryCell()}}}));
  EXPECT_FALSE(are_possible(mixed, {{{{0, 3}, EveryCell()}}}));
  EXPECT_FALSE(are_possible(mixed, {{{{0}, Boxes{{{0, 0}}}}}}));
  AttributeSet nine;
  for (uint32_t i = 0; i < 9; ++i) nine.push_back(i);
  EXPECT_FALSE(are_possible(Bits(9), {{{nine, EveryCell()}}}));
}

// ---- The choice of noise

TEST(LeastSumOfLaplace, SpendsOneAndIsAsLargeAsItsBound) {
  const std::vector<double> costs = {1, 2, 2, 5};
  const std::vector<double> factors = {7, 1, 3, 0.01};
  const NoiseSelection selection = LeastSumOfLaplace(costs, factors);
  double spent = 0;
  double bound = 0;
  for (size_t i = 0; i < costs.size(); ++i) {
    spent += costs[i] / std::sqrt(selection.parameters[i]);
    bound += std::cbrt(factors[i] * costs[i] * costs[i]);
  }
  EXPECT_NEAR(spent, 1, 1e-12);
  EXPECT_NEAR(selection.objective / std::pow(bound, 3), 1, 1e-12);
}

TEST(LeastLargestOfLaplace, IsWithinItsGapOfABound) {
  const std::vector<double> costs = {1, 1, 1};
  const std::vector<ErrorForm> forms = {{.sets = {0, 1}, .factors = {1, 1}},
                                        {.sets = {0, 2}, .factors = {1, 4}},
                                        {.sets = {0}, .factors = {2}}};
  const NoiseSelection selection = LeastLargestOfLaplace(costs, forms);
  EXPECT_LE(selection.gap, 10 * kMostSelectionGap);
  for (const ErrorForm& form : forms) {
    double variance = 0;
    for (size_t i = 0; i < form.sets.size(); ++i)
      variance += form.factors[i] * selection.parameters[form.sets[i]];
    EXPECT_LE(variance, selection.objective * (1 + 1e-12));
  }
}

}  // namespace
}  // namespace curator::dp
