#include "dp/workload/marginal_consistency.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <map>
#include <random>

#include "base/errors.h"
#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

struct Workload {
  std::vector<int64_t> sizes;
  std::vector<MeasuredShape> marginals;
};

// Overlaps of every kind: nested, chains, a duplicate with other noise, attributes of one value, disjoint
// ones.
std::vector<Workload> Workloads() {
  return {{{3, 4}, {{{0, 1}, 2}, {{0}, 1}, {{1}, 0.5}}},
          {{2, 3, 4}, {{{0, 1}, 1}, {{1, 2}, 3}, {{0, 2}, 0.1}}},
          {{2, 3, 2, 2}, {{{0, 1, 2}, 1}, {{1, 2, 3}, 2}, {{0, 3}, 7}, {{2}, 1}, {{0, 1, 2}, 5}}},
          {{2, 2, 2, 2}, {{{0, 1}, 4}, {{2, 3}, 1}}},
          {{5, 1, 3}, {{{0, 1}, 1}, {{0, 2}, 1}, {{1, 2}, 1}}},
          {{4}, {{{0}, 3}}}};
}

size_t CellsOf(const Workload& workload, const AttributeSet& set) {
  size_t cells = 1;
  for (const uint32_t attribute : set) cells *= static_cast<size_t>(workload.sizes[attribute]);
  return cells;
}

// The cell of marginal `set` in which cell `x` of the whole table lies.
size_t CellIn(const Workload& workload, const AttributeSet& set, size_t x) {
  std::vector<size_t> digits(workload.sizes.size());
  for (size_t i = workload.sizes.size(); i-- > 0;) {
    digits[i] = x % static_cast<size_t>(workload.sizes[i]);
    x /= static_cast<size_t>(workload.sizes[i]);
  }
  size_t cell = 0;
  for (const uint32_t attribute : set)
    cell = cell * static_cast<size_t>(workload.sizes[attribute]) + digits[attribute];
  return cell;
}

AttributeSet Everything(const Workload& workload) {
  AttributeSet all;
  for (uint32_t i = 0; i < workload.sizes.size(); ++i) all.push_back(i);
  return all;
}

// The matrix that sums the whole table to all marginals, one below the other.
Eigen::MatrixXd Summing(const Workload& workload) {
  size_t rows = 0;
  for (const MeasuredShape& marginal : workload.marginals) rows += CellsOf(workload, marginal.attributes);
  const size_t columns = CellsOf(workload, Everything(workload));
  Eigen::MatrixXd matrix =
      Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
  size_t first = 0;
  for (const MeasuredShape& marginal : workload.marginals) {
    for (size_t x = 0; x < columns; ++x)
      matrix(static_cast<Eigen::Index>(first + CellIn(workload, marginal.attributes, x)),
             static_cast<Eigen::Index>(x)) = 1;
    first += CellsOf(workload, marginal.attributes);
  }
  return matrix;
}

// One standard deviation for each row of Summing().
Eigen::VectorXd Deviations(const Workload& workload) {
  std::vector<double> deviations;
  for (const MeasuredShape& marginal : workload.marginals)
    deviations.insert(deviations.end(), CellsOf(workload, marginal.attributes), std::sqrt(marginal.variance));
  return Eigen::Map<Eigen::VectorXd>(deviations.data(), static_cast<Eigen::Index>(deviations.size()));
}

// The matrix that maps measured cells to their weighted least-squares estimates, by a dense solver.
Eigen::MatrixXd DenseEstimator(const Workload& workload) {
  const Eigen::MatrixXd summing = Summing(workload);
  const Eigen::VectorXd deviations = Deviations(workload);
  const Eigen::MatrixXd scaled = deviations.cwiseInverse().asDiagonal() * summing;
  return summing * scaled.completeOrthogonalDecomposition().pseudoInverse() *
         deviations.cwiseInverse().asDiagonal();
}

std::vector<CellValues> RandomTables(const Workload& workload, std::mt19937& random) {
  std::normal_distribution<double> normal(20, 15);
  std::vector<CellValues> tables;
  for (const MeasuredShape& marginal : workload.marginals) {
    CellValues& cells = tables.emplace_back(CellsOf(workload, marginal.attributes));
    for (double& cell : cells) cell = std::round(normal(random));
  }
  return tables;
}

Eigen::VectorXd Stacked(const std::vector<CellValues>& tables) {
  std::vector<double> all;
  for (const CellValues& table : tables) all.insert(all.end(), table.begin(), table.end());
  return Eigen::Map<Eigen::VectorXd>(all.data(), static_cast<Eigen::Index>(all.size()));
}

// The largest by which two marginals differ on a cell of what they share.
double Disagreement(const Workload& workload, const std::vector<CellValues>& tables) {
  double most = 0;
  for (size_t i = 0; i < tables.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      AttributeSet shared;
      for (const uint32_t a : workload.marginals[i].attributes)
        for (const uint32_t b : workload.marginals[j].attributes)
          if (a == b) shared.push_back(a);
      const auto summed = [&](size_t which) {
        std::vector<double> sums(CellsOf(workload, shared), 0);
        const size_t all = CellsOf(workload, Everything(workload));
        const AttributeSet& own = workload.marginals[which].attributes;
        std::map<size_t, size_t> shared_cell;
        for (size_t x = 0; x < all; ++x) shared_cell[CellIn(workload, own, x)] = CellIn(workload, shared, x);
        for (const auto& [cell, place] : shared_cell) sums[place] += tables[which][cell];
        return sums;
      };
      const std::vector<double> a = summed(i);
      const std::vector<double> b = summed(j);
      for (size_t c = 0; c < a.size(); ++c) most = std::max(most, std::abs(a[c] - b[c]));
    }
  }
  return most;
}

TEST(MarginalConsistency, IsTheWeightedLeastSquaresSolutionOfADenseSolver) {
  std::mt19937 random(1);
  for (const Workload& workload : Workloads()) {
    const Domain domain = CodedDomain(workload.sizes);
    const auto consistency = MarginalConsistency::Create(domain, workload.marginals).value();
    const std::vector<CellValues> measured = RandomTables(workload, random);
    const std::vector<CellValues> estimate = consistency.Estimate(measured, std::nullopt);
    const Eigen::VectorXd expected = DenseEstimator(workload) * Stacked(measured);
    EXPECT_LT((Stacked(estimate) - expected).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT(Disagreement(workload, estimate), 1e-9);
  }
}

TEST(MarginalConsistency, TheVarianceIsThatOfTheDenseEstimator) {
  for (const Workload& workload : Workloads()) {
    const auto consistency =
        MarginalConsistency::Create(CodedDomain(workload.sizes), workload.marginals).value();
    const Eigen::MatrixXd spread = DenseEstimator(workload) * Deviations(workload).asDiagonal();
    Eigen::Index row = 0;
    for (size_t i = 0; i < workload.marginals.size(); ++i) {
      const double variance = consistency.variances()[i];
      EXPECT_LE(variance, workload.marginals[i].variance * (1 + 1e-12));
      for (size_t c = 0; c < CellsOf(workload, workload.marginals[i].attributes); ++c)
        EXPECT_NEAR(spread.row(row++).squaredNorm() / variance, 1, 1e-9);
    }
  }
}

// Averaging without the weights agrees as well, but is not nearest: the comparison above can fail.
TEST(MarginalConsistencyCanary, EqualWeightsAreNotTheSolution) {
  Workload workload = Workloads()[1];
  std::mt19937 random(1);
  const std::vector<CellValues> measured = RandomTables(workload, random);
  const Eigen::VectorXd expected = DenseEstimator(workload) * Stacked(measured);
  for (MeasuredShape& marginal : workload.marginals) marginal.variance = 1;
  const auto unweighted =
      MarginalConsistency::Create(CodedDomain(workload.sizes), workload.marginals).value();
  const std::vector<CellValues> estimate = unweighted.Estimate(measured, std::nullopt);
  EXPECT_LT(Disagreement(workload, estimate), 1e-9);
  EXPECT_GT((Stacked(estimate) - expected).cwiseAbs().maxCoeff(), 0.1);
}

TEST(MarginalConsistency, LeavesTablesThatAgreeAlone) {
  std::mt19937 random(2);
  for (const Workload& workload : Workloads()) {
    const auto consistency =
        MarginalConsistency::Create(CodedDomain(workload.sizes), workload.marginals).value();
    const std::vector<CellValues> once = consistency.Estimate(RandomTables(workload, random), std::nullopt);
    const std::vector<CellValues> twice = consistency.Estimate(once, std::nullopt);
    EXPECT_LT((Stacked(once) - Stacked(twice)).cwiseAbs().maxCoeff(), 1e-9);
  }
}

TEST(MarginalConsistency, AGivenTotalIsKept) {
  const Workload workload = Workloads()[2];
  std::mt19937 random(3);
  const auto consistency =
      MarginalConsistency::Create(CodedDomain(workload.sizes), workload.marginals).value();
  const std::vector<CellValues> estimate = consistency.Estimate(RandomTables(workload, random), 1234);
  EXPECT_LT(Disagreement(workload, estimate), 1e-9);
  for (const CellValues& table : estimate) {
    double total = 0;
    for (const double cell : table) total += cell;
    EXPECT_NEAR(total, 1234, 1e-9);
  }
}

TEST(MarginalConsistency, RoundingAgreesExactlyAndStaysNear) {
  std::mt19937 random(4);
  for (const Workload& workload : Workloads()) {
    const auto consistency =
        MarginalConsistency::Create(CodedDomain(workload.sizes), workload.marginals).value();
    for (int trial = 0; trial < 50; ++trial) {
      const std::vector<CellValues> estimate =
          consistency.Estimate(RandomTables(workload, random), std::nullopt);
      const std::vector<CellValues> rounded = consistency.Rounded(estimate);
      EXPECT_EQ(Disagreement(workload, rounded), 0);
      for (size_t i = 0; i < rounded.size(); ++i) {
        const double reach = std::exp2(static_cast<double>(workload.marginals[i].attributes.size()) - 1);
        for (size_t c = 0; c < rounded[i].size(); ++c) {
          EXPECT_EQ(rounded[i][c], std::round(rounded[i][c]));
          EXPECT_LT(std::abs(rounded[i][c] - estimate[i][c]), reach + 0.01);
        }
      }
    }
  }
}

TEST(MarginalConsistency, UnknownNoiseAndTooManyCellsAreRefused) {
  const Domain domain = CodedDomain({5000, 5000});
  const auto field = [&](const std::vector<MeasuredShape>& marginals) {
    return FieldViolationOf(MarginalConsistency::Create(domain, marginals).status())->field;
  };
  EXPECT_EQ(field({}), "post_processing");
  EXPECT_EQ(field({{{0}, 0}}), "post_processing");
  EXPECT_EQ(field({{{0}, std::nan("")}}), "post_processing");
  EXPECT_EQ(field({{{0}, 1}, {{0, 1}, 1}}), "post_processing");
}

}  // namespace
}  // namespace curator::dp
