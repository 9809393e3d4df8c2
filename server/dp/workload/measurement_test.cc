#include "dp/workload/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "dp/domain/attribute_set.h"
#include "dp/domain/testing_domain.h"
#include "dp/queries/testing/all_intervals.h"
#include "dp/workload/answer_reader.h"
#include "dp/workload/strategy_choice.h"
#include "dp/workload/sum_out.h"

namespace curator::dp {
namespace {

const Domain& Facts() {
  static const Domain domain = CodedDomain({20, 2, 3});
  return domain;
}

// The exact values of a measured group, from the counts of all cells of the domain.
std::vector<int64_t> ExactValues(const QueryGroup& group, const std::vector<int64_t>& joint) {
  return AnswersFromCounts(Facts(), group, SumOut(Facts(), {0, 1, 2}, joint, group.attributes));
}

// The answers of the group at `i`, by itself.
GroupAnswers AnswersBy(const Measurement& way, const QuerySet& set, size_t i,
                       const std::vector<int64_t>& values_of_source) {
  std::vector<std::vector<int64_t>> values(way.measured.size());
  values[way.plan.sources[i]] = values_of_source;
  return AnswerReader(Facts(), way.measured, values).AnswersOf(set.groups[i], way.plan, way.plan.sources[i]);
}

std::vector<int64_t> RandomJoint() {
  std::mt19937_64 random(5);
  std::vector<int64_t> joint(120);
  for (int64_t& count : joint) count = static_cast<int64_t>(random() % 50);
  return joint;
}

const QueryGroup kRanges{{0}, AllIntervals(20)};
const QueryGroup kBoxes{{0, 2}, Boxes{{{3, 9}, {0, 1}, {0, 19}, {2, 2}}}};
const QueryGroup kParity{{1}, std::vector<LinearQuery>{{{0, 1}, {1, -1}}}};
const QueryGroup kWhole{{1, 2}, EveryCell()};

TEST(MeasurementsFor, ResidualsAreNoWayToMeasureASetAlone) {
  const QuerySet set{{{{0}, EveryCell()}}, Strategy::kResidual};
  EXPECT_EQ(MeasurementsFor(CodedDomain({3}), set).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(MeasurementsFor, EveryWayGivesTheExactAnswersFromExactValues) {
  const std::vector<int64_t> joint = RandomJoint();
  for (const QuerySet& set :
       {QuerySet{{kRanges}}, QuerySet{{kBoxes, kParity}}, QuerySet{{kParity, kRanges, kBoxes}},
        QuerySet{{kWhole, kParity}, Strategy::kBaseHistogram}}) {
    const std::vector<Measurement> ways = MeasurementsFor(Facts(), set).value();
    for (const Measurement& way : ways) {
      for (size_t i = 0; i < set.groups.size(); ++i) {
        const QueryGroup& source = way.measured[way.plan.sources[i]];
        const GroupAnswers answers = AnswersBy(way, set, i, ExactValues(source, joint));
        const std::vector<int64_t> truth = ExactValues(set.groups[i], joint);
        if (way.plan.strategy != Strategy::kTree) {
          EXPECT_EQ(answers.counts, truth) << Describe(Facts(), way);
          continue;
        }
        ASSERT_EQ(answers.estimates.size(), truth.size());
        for (size_t q = 0; q < truth.size(); ++q)
          EXPECT_NEAR(answers.estimates[q], static_cast<double>(truth[q]), 1e-6);
      }
    }
  }
}

// The rarest attribute decides which sets are compared; which marginals are measured must not depend on that.
TEST(MeasurementsFor, ABaseHistogramIsOfTheSetsThatLieInNoOtherAndAnswersFromTheFirstThatHoldsAGroup) {
  const Domain domain = CodedDomain(std::vector<int64_t>(8, 2));
  std::mt19937_64 random(9);
  for (int repetition = 0; repetition < 50; ++repetition) {
    QuerySet set{.groups = {}, .strategy = Strategy::kBaseHistogram};
    std::set<AttributeSet> sets;
    for (int i = 0; i < 12; ++i) {
      AttributeSet attributes;
      for (uint32_t attribute = 0; attribute < 8; ++attribute) {
        if (random() % 3 == 0 || (attribute == 7 && attributes.empty())) attributes.push_back(attribute);
      }
      set.groups.push_back({attributes, std::vector<LinearQuery>{{{0, 1}}}});
      sets.insert(attributes);
    }
    std::vector<AttributeSet> largest;
    std::ranges::copy_if(sets, std::back_inserter(largest), [&](const AttributeSet& one) {
      return std::ranges::none_of(
          sets, [&](const AttributeSet& other) { return other != one && IsSubset(one, other); });
    });
    const Measurement way = MeasurementsFor(domain, set).value().front();
    std::vector<AttributeSet> measured;
    for (const QueryGroup& group : way.measured) measured.push_back(group.attributes);
    EXPECT_EQ(measured, largest);
    for (size_t i = 0; i < set.groups.size(); ++i) {
      const auto first = std::ranges::find_if(
          largest, [&](const AttributeSet& each) { return IsSubset(set.groups[i].attributes, each); });
      EXPECT_EQ(way.plan.sources[i], static_cast<size_t>(first - largest.begin()));
    }
  }
}

TEST(MeasurementsFor, OffersATreeToIntervalsOfOneAttributeOnly) {
  const auto offers_tree = [](const QuerySet& set) {
    return std::ranges::any_of(MeasurementsFor(Facts(), set).value(),
                               [](const Measurement& way) { return way.plan.strategy == Strategy::kTree; });
  };
  EXPECT_TRUE(offers_tree({{kRanges}}));
  EXPECT_FALSE(offers_tree({{kBoxes}}));
  EXPECT_FALSE(offers_tree({{kRanges, kParity}}));
  EXPECT_EQ(MeasurementsFor(Facts(), {{kBoxes}, Strategy::kTree}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MeasurementsFor(Facts(), {{kWhole}}).value().size(), 1u) << "marginals are measured as such";
}

// The variance of sums with noise of every kind, over the noise itself: 200 draws would not tell 1 % apart,
// so the noise is a basis vector at a time.
TEST(ErrorsOf, AreTheSquaredWeightsOfTheMeasuredValues) {
  for (const QuerySet& set : {QuerySet{{kRanges}}, QuerySet{{kBoxes, kParity}}}) {
    const std::vector<Measurement> ways = MeasurementsFor(Facts(), set).value();
    for (const Measurement& way : ways) {
      if (way.plan.strategy == Strategy::kTree) continue;  // interval_tree_test.cc
      for (size_t i = 0; i < set.groups.size(); ++i) {
        const QueryGroup& source = way.measured[way.plan.sources[i]];
        const std::vector<AnswerError> errors = ErrorsOf(Facts(), set.groups[i], way.plan, source);
        const auto values = static_cast<size_t>(NumberOfQueries(Facts(), source));
        std::vector<int64_t> squares(static_cast<size_t>(NumberOfQueries(Facts(), set.groups[i])));
        for (size_t one = 0; one < values; ++one) {
          std::vector<int64_t> basis(values);
          basis[one] = 1;
          const auto answers = AnswersBy(way, set, i, basis).counts;
          for (size_t q = 0; q < answers.size(); ++q) squares[q] += answers[q] * answers[q];
        }
        for (size_t q = 0; q < squares.size(); ++q) {
          EXPECT_EQ(errors[errors.size() == 1 ? 0 : q].terms, squares[q]);
          EXPECT_EQ(errors[errors.size() == 1 ? 0 : q].variance_factor, static_cast<double>(squares[q]));
        }
      }
    }
  }
}

TEST(HalfWidthOf, BoundsTheTailOfLeastSquaresEstimates) {
  const AnswerError sum{.variance_factor = 7, .terms = 7};
  const AnswerError estimate{.variance_factor = 7, .terms = 0};
  for (const NoiseSpec& noise :
       {NoiseSpec{Mechanism::kDiscreteLaplace, {10, 1}}, NoiseSpec{Mechanism::kDiscreteGaussian, {400, 1}}}) {
    for (const double level : {0.5, 0.95, 0.999}) {
      const double exact = HalfWidthOf(noise, sum, level).value();
      const double bound = HalfWidthOf(noise, estimate, level).value();
      EXPECT_GE(bound, exact) << "a bound for any weights covers equal ones";
      EXPECT_LE(bound, exact * 3.5);
      EXPECT_LE(TailOf(noise, sum, exact), 1 - level);
      EXPECT_GT(TailOf(noise, sum, exact - 1), 1 - level);
      EXPECT_LE(TailOf(noise, estimate, bound), (1 - level) * 1.001);
    }
  }
  EXPECT_FALSE(HalfWidthOf({Mechanism::kDiscreteLaplace, {1, 1}}, sum, 1.0).ok());
}

std::vector<Strategy> Chosen(const std::vector<QuerySet>& sets, Mechanism mechanism) {
  std::vector<Strategy> strategies;
  const UnitBound record{NeighbourRelation::kAddRemove, 1};
  const auto ways = ChooseMeasurements(Facts(), record, mechanism, sets, ErrorMeasure::kMean).value();
  for (const Measurement& way : ways) strategies.push_back(way.plan.strategy);
  return strategies;
}

TEST(ChooseMeasurements, DoesNotAnswerAllRangesOneByOne) {
  const Domain domain = CodedDomain({1024});
  const QuerySet ranges{{{{0}, AllIntervals(1024)}}};
  const UnitBound record{NeighbourRelation::kAddRemove, 1};
  for (const Mechanism mechanism : {Mechanism::kDiscreteLaplace, Mechanism::kDiscreteGaussian}) {
    const auto way =
        ChooseMeasurements(domain, record, mechanism, std::span(&ranges, 1), ErrorMeasure::kMean).value();
    EXPECT_EQ(way[0].plan.strategy, Strategy::kTree);
    // Levels cost their square in Laplace noise, so that fewer and wider ones are better (Qardaji, Yang, Li
    // 2013).
    EXPECT_EQ(way[0].plan.branching, mechanism == Mechanism::kDiscreteLaplace ? 32 : 2);
  }
}

TEST(ChooseMeasurements, MeasuresAFewAnswersDirectly) {
  const QuerySet few{{{{0, 2}, Boxes{{{3, 9}, {0, 1}}}}}};
  EXPECT_EQ(Chosen({few}, Mechanism::kDiscreteLaplace), std::vector<Strategy>{Strategy::kDirect});
  EXPECT_EQ(Chosen({few}, Mechanism::kDiscreteGaussian), std::vector<Strategy>{Strategy::kDirect});
}

TEST(ChooseMeasurements, SharesAMarginalThatAnotherSetMeasures) {
  const QuerySet whole{{{{0}, EveryCell()}}};
  const QuerySet prefixes{{{{0}, Boxes{{{0, 4}, {0, 9}}}}}};
  EXPECT_EQ(Chosen({prefixes}, Mechanism::kDiscreteGaussian), std::vector<Strategy>{Strategy::kDirect});
  const std::vector<QuerySet> sets = {whole, whole, prefixes};
  const UnitBound record{NeighbourRelation::kAddRemove, 1};
  const auto ways =
      ChooseMeasurements(Facts(), record, Mechanism::kDiscreteLaplace, sets, ErrorMeasure::kMean);
  const JointMeasurement joint = Join(*ways);
  for (const SetPlan& plan : joint.plans) EXPECT_LT(plan.sources[0], joint.measured.size());
  EXPECT_EQ(joint.plans[0].sources, joint.plans[1].sources);
}

QuerySet OneInterval(Strategy strategy) {
  return {{{{0}, Boxes{{{7, 7}}}}}, strategy};
}

TEST(MeasurementsFor, TreesThatOneRequestDoesNotPlanAreLeftOutOfAuto) {
  const Domain wide = CodedDomain({kMostTreeBins + 1});
  for (const Measurement& way : MeasurementsFor(wide, OneInterval(Strategy::kAuto)).value())
    EXPECT_NE(way.plan.strategy, Strategy::kTree);
  const Domain fitting = CodedDomain({kMostTreeBins});
  EXPECT_EQ(MeasurementsFor(fitting, OneInterval(Strategy::kAuto))->back().plan.strategy, Strategy::kTree);
}

TEST(MeasurementsFor, ATreeThatOneRequestDoesNotPlanIsRefusedWithTheLimit) {
  const Domain wide = CodedDomain({int64_t{1} << 24});
  const absl::Status refused = MeasurementsFor(wide, OneInterval(Strategy::kTree)).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("at most 1048576 bins in one request"));
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("has 16777216"));
}

TEST(ChooseMeasurements, TheTreesOfAllSetsTogetherAreBounded) {
  const Domain domain = CodedDomain({kMostTreeBins / 2});
  const UnitBound unit{.relation = NeighbourRelation::kAddRemove, .max_records = 1};
  const auto choose = [&](size_t sets) {
    return ChooseMeasurements(domain, unit, Mechanism::kDiscreteGaussian,
                              std::vector<QuerySet>(sets, OneInterval(Strategy::kTree)), ErrorMeasure::kMean);
  };
  EXPECT_TRUE(choose(2).ok());
  EXPECT_THAT(std::string(choose(3).status().message()),
              ::testing::StartsWith("workload.query_sets[2].strategy: "));
}

}  // namespace
}  // namespace curator::dp
