#include "dp/workload/interval_tree.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "dp/queries/testing/all_intervals.h"

namespace curator::dp {
namespace {

// One row for each node: which bins it holds.
Eigen::MatrixXd NodesOf(const IntervalTree& tree) {
  const Boxes boxes = tree.Intervals();
  Eigen::MatrixXd nodes = Eigen::MatrixXd::Zero(tree.nodes(), tree.bins());
  for (Eigen::Index i = 0; i < nodes.rows(); ++i) {
    const CodeInterval interval = boxes.sides[static_cast<size_t>(i)];
    for (Eigen::Index bin = interval.first; bin <= Eigen::Index{interval.last}; ++bin) nodes(i, bin) = 1;
  }
  return nodes;
}

Eigen::VectorXd Indicator(int64_t bins, CodeInterval interval) {
  Eigen::VectorXd indicator = Eigen::VectorXd::Zero(bins);
  for (Eigen::Index bin = interval.first; bin <= Eigen::Index{interval.last}; ++bin) indicator(bin) = 1;
  return indicator;
}

struct Shape {
  int64_t bins;
  int64_t branching;
};
const std::vector<Shape> kShapes = {{1, 2},  {2, 2},  {8, 2},  {9, 2},  {13, 3},
                                    {17, 4}, {64, 8}, {65, 8}, {40, 64}};

TEST(IntervalTree, PutsEachBinIntoOneIntervalOfEachLevel) {
  for (const Shape& shape : kShapes) {
    const IntervalTree tree(shape.bins, shape.branching);
    const Eigen::VectorXd cover = NodesOf(tree).colwise().sum();
    EXPECT_EQ(cover.minCoeff(), static_cast<double>(tree.levels()));
    EXPECT_EQ(cover.maxCoeff(), static_cast<double>(tree.levels()));
  }
}

TEST(IntervalTree, EstimatesBinsByLeastSquares) {
  std::mt19937_64 random(1);
  for (const Shape& shape : kShapes) {
    const IntervalTree tree(shape.bins, shape.branching);
    const Eigen::MatrixXd nodes = NodesOf(tree);
    std::vector<int64_t> measured;
    Eigen::VectorXd values(tree.nodes());
    for (Eigen::Index i = 0; i < values.size(); ++i) {
      measured.push_back(static_cast<int64_t>(random() % 2000) - 1000);
      values(i) = static_cast<double>(measured.back());
    }
    const Eigen::VectorXd expected = nodes.colPivHouseholderQr().solve(values);
    const std::vector<double> estimates = tree.EstimateBins(measured);
    for (size_t bin = 0; bin < estimates.size(); ++bin)
      EXPECT_NEAR(estimates[bin], expected(static_cast<Eigen::Index>(bin)), 1e-8);
  }
}

TEST(IntervalTree, KnowsTheVarianceOfEveryInterval) {
  for (const Shape& shape : kShapes) {
    const IntervalTree tree(shape.bins, shape.branching);
    const Eigen::MatrixXd nodes = NodesOf(tree);
    const Eigen::MatrixXd covariance = (nodes.transpose() * nodes).inverse();
    for (const CodeInterval& interval : AllIntervals(shape.bins).sides) {
      const Eigen::VectorXd wanted = Indicator(shape.bins, interval);
      EXPECT_NEAR(tree.VarianceFactor(interval), wanted.dot(covariance * wanted), 1e-9);
    }
  }
}

TEST(IntervalTree, KnowsTheWeightOfEveryMeasurement) {
  for (const Shape& shape : kShapes) {
    const IntervalTree tree(shape.bins, shape.branching);
    const Eigen::MatrixXd nodes = NodesOf(tree);
    const Eigen::MatrixXd estimates = (nodes.transpose() * nodes).inverse() * nodes.transpose();
    for (const CodeInterval& interval : AllIntervals(shape.bins).sides) {
      const Eigen::VectorXd weights = estimates.transpose() * Indicator(shape.bins, interval);
      std::vector<double> expected;
      for (const double weight : weights) expected.push_back(std::abs(weight));
      std::ranges::sort(expected, std::greater<>());
      size_t at = 0;
      double squares = 0;
      double fourths = 0;
      for (const WeightedValues& each : tree.WeightsOf(interval)) {
        for (int64_t i = 0; i < std::llround(each.count); ++i, ++at) {
          ASSERT_LT(at, expected.size());
          EXPECT_NEAR(each.weight, expected[at], 1e-9);
        }
        squares += each.count * std::pow(each.weight, 2);
        fourths += each.count * std::pow(each.weight, 4);
      }
      for (; at < expected.size(); ++at) EXPECT_NEAR(expected[at], 0, 1e-9);
      EXPECT_NEAR(tree.VarianceFactor(interval), squares, 1e-9);
      EXPECT_NEAR(tree.FourthFactor(interval), fourths, 1e-9);
    }
  }
}

TEST(IntervalTreeCanary, BinsAddedUpWithoutTheLevelsAboveAreCaught) {
  const IntervalTree tree(64, 2);
  EXPECT_LT(tree.VarianceFactor({0, 62}), 10) << "the sum of 63 measured bins has 63";
}

}  // namespace
}  // namespace curator::dp
