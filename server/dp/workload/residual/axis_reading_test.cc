#include "dp/workload/residual/axis_reading.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "dp/queries/testing/all_intervals.h"
#include "dp/workload/residual/testing/measured_residuals.h"

namespace curator::dp {
namespace {

// The measured queries, and below them 1^T.
Eigen::MatrixXd DenseOf(const AxisQueries& queries, int64_t codes) {
  Eigen::MatrixXd rows = Eigen::MatrixXd::Ones(codes, codes);
  for (int64_t k = 1; k < codes; ++k) {
    for (int64_t code = 0; code < codes; ++code) {
      rows(k - 1, code) = queries.weights.empty()
                              ? (code < k ? 1 : (code == k ? -static_cast<double>(k) : 0))
                              : queries.weights[static_cast<size_t>((k - 1) * codes + code)];
    }
  }
  return rows;
}

struct Case {
  AxisQueries queries;
  int64_t codes;
};

std::vector<Case> Cases() {
  std::mt19937_64 random(1);
  std::vector<Case> cases;
  for (const int64_t codes : {2, 3, 8, 31}) {
    cases.push_back({{}, codes});
    cases.push_back({RandomAxis(random, codes), codes});
  }
  return cases;
}

std::string NameOf(const Case& tested) {
  return (tested.queries.weights.empty() ? "contrasts of " : "weights of ") + std::to_string(tested.codes);
}

// What Expand() is for: answers along the axis, the sum in the last place.
std::vector<double> AnswersAlong(const Eigen::MatrixXd& rows, const std::vector<double>& table, size_t outer,
                                 size_t inner) {
  const auto codes = static_cast<size_t>(rows.cols());
  std::vector<double> answers(table.size());
  for (size_t place = 0; place < outer; ++place) {
    for (size_t line = 0; line < inner; ++line) {
      for (size_t row = 0; row < codes; ++row) {
        double sum = 0;
        for (size_t code = 0; code < codes; ++code)
          sum += rows(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(code)) *
                 table[(place * codes + code) * inner + line];
        answers[(place * codes + row) * inner + line] = sum;
      }
    }
  }
  return answers;
}

double LargestDifference(const std::vector<double>& left, const std::vector<double>& right) {
  double largest = 0;
  for (size_t i = 0; i < left.size(); ++i) largest = std::max(largest, std::abs(left[i] - right[i]));
  return largest;
}

std::vector<double> RandomTable(std::mt19937_64& random, size_t cells) {
  std::vector<double> table;
  for (const int64_t count : RandomCounts(random, cells)) table.push_back(static_cast<double>(count));
  return table;
}

TEST(AxisReading, ExpandsAnswersToTheTable) {
  struct Shape {
    size_t outer;
    size_t inner;
  };
  std::mt19937_64 random(2);
  for (const Case& tested : Cases()) {
    const AxisReading reading = AxisReading::Create(tested.queries, tested.codes).value();
    const Eigen::MatrixXd rows = DenseOf(tested.queries, tested.codes);
    for (const auto& [outer, inner] : std::vector<Shape>{{1, 1}, {600, 1}, {3, 2}, {2, 600}, {1, 512}}) {
      const std::vector<double> table =
          RandomTable(random, outer * static_cast<size_t>(tested.codes) * inner);
      std::vector<double> values = AnswersAlong(rows, table, outer, inner);
      reading.Expand(values, outer, inner);
      EXPECT_LT(LargestDifference(values, table), 1e-7) << NameOf(tested) << ", " << outer << " x " << inner;
    }
  }
}

TEST(AxisReadingCanary, ContrastsInAnotherOrderMakeAnotherTable) {
  std::mt19937_64 random(3);
  const std::vector<double> table = RandomTable(random, 5);
  Eigen::MatrixXd rows = DenseOf({}, 5);
  rows.row(0).swap(rows.row(3));
  std::vector<double> values = AnswersAlong(rows, table, 1, 1);
  AxisReading::Create({}, 5).value().Expand(values, 1, 1);
  EXPECT_GT(LargestDifference(values, table), 10);
}

TEST(AxisReading, HasTheOffsetOnWhichAllQueriesAreZero) {
  for (const Case& tested : Cases()) {
    const AxisReading reading = AxisReading::Create(tested.queries, tested.codes).value();
    EXPECT_EQ(reading.is_helmert(), tested.queries.weights.empty());
    EXPECT_EQ(reading.codes(), tested.codes);
    const std::vector<double> answers =
        AnswersAlong(DenseOf(tested.queries, tested.codes), reading.offset(), 1, 1);
    for (size_t row = 0; row + 1 < answers.size(); ++row)
      EXPECT_NEAR(answers[row], 0, 1e-10) << NameOf(tested);
    EXPECT_NEAR(answers.back(), 1, 1e-12);
  }
}

// The error of a query from the inverse of the dense matrix.
AxisError ErrorByDefinition(const Case& tested, const Eigen::VectorXd& weights) {
  const Eigen::VectorXd read =
      DenseOf(tested.queries, tested.codes).fullPivLu().inverse().transpose() * weights;
  const std::vector<int64_t> factors = VarianceFactors(tested.queries, tested.codes);
  AxisError error;
  for (size_t k = 0; k < factors.size(); ++k) {
    const double entry = read(static_cast<Eigen::Index>(k));
    error.spread += entry * entry * static_cast<double>(factors[k]);
    error.largest_spread = std::max(error.largest_spread, std::abs(entry));
  }
  error.level = std::pow(read(tested.codes - 1), 2);
  return error;
}

TEST(AxisReading, HasTheErrorOfEveryInterval) {
  for (const Case& tested : Cases()) {
    const AxisReading reading = AxisReading::Create(tested.queries, tested.codes).value();
    for (const CodeInterval& interval : AllIntervals(tested.codes).sides) {
      Eigen::VectorXd weights = Eigen::VectorXd::Zero(tested.codes);
      for (uint32_t code = interval.first; code <= interval.last; ++code) weights(code) = 1;
      const AxisError exact = ErrorByDefinition(tested, weights);
      const AxisError error = reading.ErrorOf(interval);
      EXPECT_NEAR(error.spread, exact.spread, 1e-12) << NameOf(tested);
      EXPECT_NEAR(error.level, exact.level, 1e-12) << NameOf(tested);
      EXPECT_GE(error.largest_spread, exact.largest_spread - 1e-12) << NameOf(tested);
      if (reading.is_helmert()) {
        EXPECT_NEAR(error.largest_spread, exact.largest_spread, 1e-12);
      }
    }
  }
}

TEST(AxisReading, HasTheErrorOfQueriesWithWeights) {
  std::mt19937_64 random(4);
  for (const Case& tested : Cases()) {
    const AxisReading reading = AxisReading::Create(tested.queries, tested.codes).value();
    for (int i = 0; i < 10; ++i) {
      std::vector<double> weights;
      for (int64_t code = 0; code < tested.codes; ++code)
        weights.push_back(static_cast<double>(RandomInteger(random, -3, 3)));
      const AxisError exact =
          ErrorByDefinition(tested, Eigen::Map<const Eigen::VectorXd>(weights.data(), tested.codes));
      const AxisError error = reading.ErrorOf(weights);
      EXPECT_NEAR(error.spread, exact.spread, 1e-11 * (1 + exact.spread)) << NameOf(tested);
      EXPECT_NEAR(error.level, exact.level, 1e-11 * (1 + exact.level)) << NameOf(tested);
      EXPECT_NEAR(error.largest_spread, exact.largest_spread, 1e-11) << NameOf(tested);
    }
  }
}

TEST(AxisReading, OfAllCodesHasNoSpread) {
  for (const Case& tested : Cases()) {
    const AxisError error = AxisReading::Create(tested.queries, tested.codes)
                                .value()
                                .ErrorOf(CodeInterval{0, static_cast<uint32_t>(tested.codes - 1)});
    EXPECT_EQ(error, (AxisError{.spread = 0, .level = 1, .largest_spread = 0})) << NameOf(tested);
  }
}

TEST(AxisReading, RefusesQueriesThatDoNotGiveTheTable) {
  const auto is_readable = [](const std::vector<int32_t>& weights, int64_t codes) {
    return AxisReading::Create({.weights = weights}, codes).ok();
  };
  EXPECT_TRUE(is_readable({5, -3, -2, 1, 1, -2}, 3));
  EXPECT_FALSE(is_readable({}, 1)) << "one code";
  EXPECT_FALSE(is_readable({5, -3, -2}, 3)) << "too few queries";
  EXPECT_FALSE(is_readable({5, -3, -2, 1, 1, -2, 1, 0, -1}, 3)) << "too many queries";
  EXPECT_FALSE(is_readable({5, -3, -2, 1, 1}, 3)) << "no whole queries";
  EXPECT_FALSE(is_readable({5, -3, -2, -10, 6, 4}, 3)) << "dependent queries";
  EXPECT_FALSE(is_readable({5, -3, -2, 6, -2, -1}, 3)) << "dependent with 1";
  EXPECT_FALSE(is_readable({0, 0, 0, 1, 1, -2}, 3)) << "a query of weights 0";
  EXPECT_FALSE(is_readable(std::vector<int32_t>(size_t{513} * 512), 513)) << "too many weights";
}

}  // namespace
}  // namespace curator::dp
