#include "dp/workload/residual/residual_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "dp/domain/testing_domain.h"
#include "dp/noise/noise_spec.h"
#include "dp/queries/testing/all_intervals.h"
#include "dp/workload/noise_sum.h"
#include "dp/workload/residual/testing/measured_residuals.h"

namespace curator::dp {
namespace {

using ::testing::ElementsAre;

const Domain& Small() {
  static const Domain domain = CodedDomain({3, 2, 4});
  return domain;
}

// Helmert contrasts of the last two attributes, other queries over the first one.
ResidualMeasurement Mixed(std::mt19937_64& random) {
  return MeasurementOfAllSets(random, {RandomAxis(random, 3), {}, {}});
}

std::vector<QueryGroup> Groups() {
  std::vector<QueryGroup> groups;
  for (const AttributeSet& set : std::vector<AttributeSet>{{}, {0}, {1}, {2}, {0, 1}, {1, 2}, {0, 1, 2}})
    groups.push_back({set, EveryCell()});
  groups.push_back({{0}, AllIntervals(3)});
  groups.push_back({{2}, AllIntervals(4)});
  groups.push_back({{0, 2}, Boxes{.sides = {{0, 1}, {1, 3}, {2, 2}, {0, 3}, {0, 2}, {2, 2}}}});
  groups.push_back({{0, 1, 2}, Boxes{.sides = {{1, 2}, {0, 0}, {1, 2}, {0, 2}, {0, 1}, {0, 3}}}});
  groups.push_back({{0}, std::vector<LinearQuery>{{{0, 3}, {2, -1}}, {{1, 7}}}});
  groups.push_back({{2}, std::vector<LinearQuery>{{{0, 1}, {1, -1}, {3, 2}}, {{2, 1}, {3, 1}}}});
  return groups;
}

// The answers as a function of the cells of the domain, by their answers to a single record in each cell.
template <typename Answers>
Eigen::MatrixXd MatrixOf(const Domain& domain, const AttributeSet& attributes, const Answers& answers) {
  const auto cells = static_cast<size_t>(*domain.CellCount({0, 1, 2}));
  Eigen::MatrixXd matrix;
  for (size_t cell = 0; cell < cells; ++cell) {
    std::vector<int64_t> counts(cells);
    counts[cell] = 1;
    const std::vector<int64_t> column = answers(MarginalOf(domain, attributes, counts));
    if (cell == 0) matrix.resize(std::ssize(column), static_cast<Eigen::Index>(cells));
    for (size_t i = 0; i < column.size(); ++i)
      matrix(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(cell)) = static_cast<double>(column[i]);
  }
  return matrix;
}

// All measured values as a function of the cells, with the parameter of the noise of each.
struct DenseMeasurement {
  Eigen::MatrixXd rows;
  Eigen::VectorXd parameters;
};

DenseMeasurement DenseOf(const Domain& domain, const ResidualMeasurement& measurement) {
  const Eigen::Index cells = *domain.CellCount({0, 1, 2});
  DenseMeasurement dense{Eigen::MatrixXd(cells, cells), Eigen::VectorXd(cells)};
  Eigen::Index row = 0;
  for (size_t i = 0; i < measurement.queries.groups.size(); ++i) {
    const ProductGroup& group = measurement.queries.groups[i];
    const Eigen::MatrixXd own = MatrixOf(domain, group.attributes, [&](const std::vector<int64_t>& counts) {
      return AnswersFromCounts(domain, measurement.queries, group, counts);
    });
    dense.rows.middleRows(row, own.rows()) = own;
    std::vector<double> factors = {1};
    for (const std::vector<int64_t>& axis : VarianceFactors(domain, measurement.queries, group)) {
      std::vector<double> products;
      for (const double before : factors) {
        for (const int64_t factor : axis) products.push_back(before * static_cast<double>(factor));
      }
      factors = products;
    }
    const double parameter = static_cast<double>(measurement.sigma_squared[i].numerator) /
                             static_cast<double>(measurement.sigma_squared[i].denominator);
    for (const double factor : factors) dense.parameters(row++) = parameter * factor;
  }
  return dense;
}

// The errors of the only unbiased linear answers: there are as many measured values as cells.
std::vector<ResidualError> ErrorsByDefinition(const Domain& domain, const ResidualMeasurement& measurement,
                                              const QueryGroup& group) {
  const DenseMeasurement dense = DenseOf(domain, measurement);
  const Eigen::MatrixXd queries = MatrixOf(domain, group.attributes, [&](const std::vector<int64_t>& counts) {
    return AnswersFromCounts(domain, group, counts);
  });
  const Eigen::MatrixXd weights = queries * dense.rows.fullPivLu().inverse();
  std::vector<ResidualError> errors;
  for (Eigen::Index i = 0; i < weights.rows(); ++i) {
    ResidualError error{.variance = 0, .largest_weight = 0, .least_parameter = 1e9};
    for (Eigen::Index k = 0; k < weights.cols(); ++k) {
      error.variance += weights(i, k) * weights(i, k) * dense.parameters(k);
      error.largest_weight = std::max(error.largest_weight, std::abs(weights(i, k)));
      if (std::abs(weights(i, k)) > 1e-9)
        error.least_parameter = std::min(error.least_parameter, dense.parameters(k));
    }
    errors.push_back(error);
  }
  return errors;
}

TEST(ResidualErrors, AreThoseOfTheUnbiasedAnswers) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 5; ++round) {
    const ResidualMeasurement measurement = Mixed(random);
    const ResidualErrors errors = ResidualErrors::Create(Small(), measurement).value();
    for (const QueryGroup& group : Groups()) {
      ASSERT_TRUE(errors.CanRead(group));
      const std::vector<ResidualError> exact = ErrorsByDefinition(Small(), measurement, group);
      const std::vector<ResidualError> found = errors.ErrorsOf(group);
      ASSERT_TRUE(found.size() == exact.size() || found.size() == 1);
      for (size_t i = 0; i < exact.size(); ++i) {
        const ResidualError& error = found.size() == 1 ? found[0] : found[i];
        EXPECT_NEAR(error.variance, exact[i].variance, 1e-9 * exact[i].variance);
        EXPECT_GE(error.largest_weight, exact[i].largest_weight - 1e-9);
        EXPECT_LE(error.least_parameter, exact[i].least_parameter);
      }
    }
  }
}

TEST(ResidualErrors, OfHelmertContrastsHaveTheLargestWeightAndTheLeastParameterThemselves) {
  std::mt19937_64 random(2);
  const ResidualMeasurement measurement = MeasurementOfAllSets(random, {{}, {}, {}});
  const ResidualErrors errors = ResidualErrors::Create(Small(), measurement).value();
  for (const QueryGroup& group :
       {QueryGroup{{0, 1, 2}, EveryCell()}, {{2}, EveryCell()}, {{}, EveryCell()}}) {
    const std::vector<ResidualError> found = errors.ErrorsOf(group);
    ASSERT_EQ(found.size(), 1);
    ResidualError worst{.variance = found[0].variance, .largest_weight = 0, .least_parameter = 1e9};
    for (const ResidualError& each : ErrorsByDefinition(Small(), measurement, group)) {
      worst.largest_weight = std::max(worst.largest_weight, each.largest_weight);
      worst.least_parameter = std::min(worst.least_parameter, each.least_parameter);
    }
    EXPECT_NEAR(found[0].largest_weight, worst.largest_weight, 1e-9);
    EXPECT_NEAR(found[0].least_parameter, worst.least_parameter, 1e-9);
  }
}

TEST(ResidualErrorsCanary, TwiceTheVarianceFactorGivesAnotherError) {
  std::mt19937_64 random(3);
  ResidualMeasurement measurement = Mixed(random);
  LinearQuery measured;  // a query that is read from one value
  for (uint32_t code = 0; code < 3; ++code)
    measured.push_back({code, measurement.queries.axes[0].weights[code]});
  const QueryGroup group{{0}, std::vector<LinearQuery>{measured}};
  const double before = ErrorsByDefinition(Small(), measurement, group)[0].variance;
  measurement.queries.axes[0].variance_factor *= 2;
  const double after = ResidualErrors::Create(Small(), measurement).value().ErrorsOf(group)[0].variance;
  EXPECT_NEAR(after, 2 * before, 1e-9 * before);
}

TEST(SummedFactors, TimesTheParametersAreTheSumOfTheVariances) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 5; ++round) {
    const ResidualMeasurement measurement = Mixed(random);
    const ResidualErrors errors = ResidualErrors::Create(Small(), measurement).value();
    for (const QueryGroup& group : Groups()) {
      const std::vector<double> sums = SummedFactors(Small(), group, errors.readings().Of(group.attributes));
      const std::vector<uint32_t> subsets = errors.SubsetsOf(group.attributes);
      ASSERT_EQ(sums.size(), subsets.size());
      double sum = 0;
      for (size_t subset = 0; subset < sums.size(); ++subset) {
        const Rational& parameter = measurement.sigma_squared[subsets[subset]];
        sum += sums[subset] * static_cast<double>(parameter.numerator) /
               static_cast<double>(parameter.denominator);
      }
      double exact = 0;
      for (const ResidualError& each : ErrorsByDefinition(Small(), measurement, group))
        exact += each.variance;
      EXPECT_NEAR(sum, exact, 1e-9 * exact);
    }
  }
}

TEST(ResidualErrors, ReadMeasuredSetsAndFormsThatFactor) {
  const Domain domain = CodedDomain({2, 3, 4});
  const ResidualMeasurement measurement{
      .queries = {.axes = {{}}, .groups = {{{}, {}}, {{0}, {0}}, {{1}, {0}}, {{0, 1}, {0, 0}}, {{2}, {0}}}},
      .sigma_squared = std::vector<Rational>(5, {4, 1})};
  const ResidualErrors errors = ResidualErrors::Create(domain, measurement).value();
  EXPECT_TRUE(errors.CanRead({{}, EveryCell()}));
  EXPECT_TRUE(errors.CanRead({{0, 1}, EveryCell()}));
  EXPECT_TRUE(errors.CanRead({{2}, Boxes{.sides = {{0, 1}}}}));
  EXPECT_TRUE(errors.CanRead({{2}, std::vector<LinearQuery>{{{0, 1}}}}));
  EXPECT_FALSE(errors.CanRead({{0, 2}, EveryCell()})) << "not measured";
  EXPECT_FALSE(errors.CanRead({{0, 1, 2}, EveryCell()})) << "not measured";
  EXPECT_FALSE(errors.CanRead({{0, 1}, std::vector<LinearQuery>{{{0, 1}}}})) << "over two attributes";
  EXPECT_FALSE(errors.CanRead({{0, 1, 2, 3, 4, 5, 6, 7, 8}, EveryCell()})) << "too many attributes";
  EXPECT_THAT(errors.SubsetsOf({0, 1}), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(errors.readings().Of(2).codes(), 4);
}

TEST(ResidualErrors, KnowEachSetAmongMany) {
  const auto attributes = static_cast<uint32_t>(kMaxAttributes);
  const Domain domain = CodedDomain(std::vector<int64_t>(kMaxAttributes, 2));
  ResidualMeasurement measurement{.queries = {.axes = {{}}, .groups = {{{}, {}}}}, .sigma_squared = {}};
  for (uint32_t i = 0; i < attributes; ++i) measurement.queries.groups.push_back({{i}, {0}});
  for (uint32_t i = 1; i < attributes; ++i) measurement.queries.groups.push_back({{0, i}, {0, 0}});
  const size_t groups = measurement.queries.groups.size();
  measurement.sigma_squared.assign(groups, {4, 1});
  const ResidualErrors errors = ResidualErrors::Create(domain, measurement).value();
  EXPECT_THAT(errors.SubsetsOf({0, attributes - 1}), ElementsAre(0, 1, attributes, groups - 1));
  EXPECT_FALSE(errors.CanRead({{1, 2}, EveryCell()}));
  EXPECT_EQ(&errors.readings().Of(0), &errors.readings().Of(attributes - 1)) << "one reading for equal axes";
}

TEST(ResidualErrors, RefuseWhatCannotBeRead) {
  const auto is_readable = [](std::vector<ProductGroup> groups, std::vector<AxisQueries> axes = {{}, {}},
                              size_t parameters = 0) {
    if (parameters == 0) parameters = groups.size();
    return ResidualErrors::Create(Small(), {.queries = {.axes = std::move(axes), .groups = std::move(groups)},
                                            .sigma_squared = std::vector<Rational>(parameters, {4, 1})})
        .ok();
  };
  EXPECT_TRUE(is_readable({{{0, 1}, {0, 1}}, {{1}, {1}}, {{0}, {0}}, {{}, {}}}));
  EXPECT_FALSE(is_readable({{{0, 1}, {0, 1}}, {{1}, {1}}, {{}, {}}})) << "a subset is missing";
  EXPECT_FALSE(is_readable({{{1}, {1}}, {{0}, {0}}})) << "the empty set is missing";
  EXPECT_FALSE(is_readable({{{0, 1}, {0, 0}}, {{1}, {1}}, {{0}, {0}}, {{}, {}}}))
      << "two axes of one attribute";
  EXPECT_FALSE(is_readable({{{0}, {0}}, {{}, {}}}, {{.weights = {1, -1, 0, -2, 2, 0}}})) << "singular";
  EXPECT_FALSE(is_readable({{{0}, {0}}, {{}, {}}}, {{}}, 1)) << "a parameter is missing";
}

// Half widths.

// P(|S| > w) for w = 0, 1, ... of a sum of values with these whole weights, by convolution.
struct WeightedNoise {
  int64_t weight;
  Rational parameter;
};

std::vector<double> ExactTails(const std::vector<WeightedNoise>& values) {
  constexpr int64_t kLast = 4000;
  std::vector<double> law(2 * kLast + 1);
  law[kLast] = 1;
  for (const WeightedNoise& value : values) {
    const double parameter =
        static_cast<double>(value.parameter.numerator) / static_cast<double>(value.parameter.denominator);
    const auto reach = static_cast<int64_t>(10 * std::sqrt(parameter)) + 10;
    std::vector<double> masses;
    double total = 0;
    for (int64_t x = -reach; x <= reach; ++x) {
      masses.push_back(std::exp(-static_cast<double>(x * x) / (2 * parameter)));
      total += masses.back();
    }
    std::vector<double> next(law.size());
    for (int64_t at = 0; at < std::ssize(law); ++at) {
      const double mass = law[static_cast<size_t>(at)];
      if (mass == 0) continue;
      for (int64_t x = -reach; x <= reach; ++x) {
        const int64_t to = at + x * value.weight;
        if (to >= 0 && to < std::ssize(next))
          next[static_cast<size_t>(to)] += mass * masses[static_cast<size_t>(x + reach)] / total;
      }
    }
    law = next;
  }
  std::vector<double> tails(kLast);
  double tail = 0;
  for (int64_t w = kLast - 1; w >= 0; --w) {
    tail += law[static_cast<size_t>(kLast + w + 1)] + law[static_cast<size_t>(kLast - w - 1)];
    tails[static_cast<size_t>(w)] = tail;
  }
  return tails;
}

ResidualError ErrorOf(const std::vector<WeightedNoise>& values) {
  ResidualError error{.variance = 0, .largest_weight = 0, .least_parameter = 1e9};
  for (const WeightedNoise& value : values) {
    const double parameter =
        static_cast<double>(value.parameter.numerator) / static_cast<double>(value.parameter.denominator);
    const auto weight = static_cast<double>(value.weight);
    error.variance += parameter * weight * weight;
    error.largest_weight = std::max(error.largest_weight, weight);
    error.least_parameter = std::min(error.least_parameter, parameter);
  }
  return error;
}

const std::vector<std::vector<WeightedNoise>>& Sums() {
  static const std::vector<std::vector<WeightedNoise>> sums = {
      {{1, {2, 1}}},
      {{1, {100, 1}}},
      {{1, {1, 10}}},
      {{3, {2, 1}}, {1, {50, 1}}, {2, {9, 1}}},
      {{20, {2, 1}}, {1, {400, 1}}},
      {{20, {4, 1}}, {19, {4, 1}}, {19, {2, 1}}},
      {{7, {1, 4}}, {1, {30, 1}}, {2, {9, 5}}},
      {{1, {400, 1}}, {1, {2, 1}}, {1, {2, 1}}, {2, {25, 1}}},
  };
  return sums;
}

constexpr double kLevels[] = {0.1, 0.5, 0.8, 0.95, 0.99, 0.9999, 1 - 1e-9};

TEST(ResidualHalfWidths, HoldWhatTheirLevelSaysByTheExactLaw) {
  for (const std::vector<WeightedNoise>& values : Sums()) {
    const ResidualError error = ErrorOf(values);
    const std::vector<double> tails = ExactTails(values);
    for (size_t w = 0; w < tails.size() && tails[w] > 1e-12; ++w)
      EXPECT_GE(ResidualErrors::TailOf(error, static_cast<double>(w)), tails[w]);
    for (const double level : kLevels) {
      const double width = ResidualErrors::HalfWidthOf(error, level);
      EXPECT_LE(tails[static_cast<size_t>(width)], 1 - level) << level;
      EXPECT_LE(ResidualErrors::TailOf(error, width), 1 - level) << level;
    }
  }
}

TEST(ResidualHalfWidths, AreCloseToThoseOfOneValue) {
  for (const Rational parameter : {Rational{4, 1}, {100, 1}, {12345, 1}}) {
    const NoiseSpec noise{Mechanism::kDiscreteGaussian, parameter};
    const ResidualError error = ErrorOf({{1, parameter}});
    for (const double level : kLevels) {
      const auto exact = static_cast<double>(SumConfidenceHalfWidth(noise, 1, level).value());
      const double width = ResidualErrors::HalfWidthOf(error, level);
      EXPECT_GE(width, exact) << level;
      EXPECT_LE(width, exact + 1 + 0.01 * std::sqrt(error.variance)) << level;
    }
  }
}

// What the tests above would miss if nothing in them needed it.
TEST(ResidualHalfWidthsCanary, WithoutHalfTheLargestWeightAreTooNarrow) {
  const std::vector<WeightedNoise> values = {{1, {4, 1}}};
  ResidualError error = ErrorOf(values);
  error.largest_weight = 0;
  const double width = ResidualErrors::HalfWidthOf(error, 0.95);
  EXPECT_GT(ExactTails(values)[static_cast<size_t>(width)], 0.05);
}

TEST(ResidualHalfWidths, AreChernoffsWhereAParameterIsBelowTwo) {
  const ResidualError error{.variance = 25, .largest_weight = 1, .least_parameter = 1.99};
  EXPECT_NEAR(ResidualErrors::HalfWidthOf(error, 0.95), 5 * std::sqrt(2 * std::log(2 / 0.05)), 1e-6);
  EXPECT_NEAR(ResidualErrors::TailOf(error, 15), 2 * std::exp(-4.5), 1e-6);
  ResidualError smooth = error;
  smooth.least_parameter = 2;
  EXPECT_NEAR(ResidualErrors::HalfWidthOf(smooth, 0.95), 5 * 1.96 + 0.5, 0.1);
}

TEST(ResidualHalfWidths, OfOtherLevelsInBetweenAreTheSame) {
  const ResidualError error = ErrorOf({{1, {100, 1}}});
  const double width = ResidualErrors::HalfWidthOf(error, 0.95);
  EXPECT_NE(ResidualErrors::HalfWidthOf(error, 0.99), width);
  EXPECT_NE(ResidualErrors::HalfWidthOf(ErrorOf({{1, {2, 1}}}), 0.95), width);
  EXPECT_EQ(ResidualErrors::HalfWidthOf(error, 0.95), width);
}

}  // namespace
}  // namespace curator::dp
