#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "dp/synthesis/prior/iterative_estimation.h"

namespace curator::dp {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

Pacer NoStop() {
  return Pacer{std::stop_token()};
}

std::vector<double> Updated(const std::vector<uint32_t>& cells, const std::vector<double>& target,
                            std::vector<double> weights) {
  Pacer pacer = NoStop();
  EXPECT_TRUE(LeastEntropyUpdate(cells, target, weights, pacer).ok());
  return weights;
}

// sum q ln(q / p), infinite where q has mass and p has none.
double RelativeEntropy(const std::vector<double>& q, const std::vector<double>& p) {
  double sum = 0;
  for (size_t i = 0; i < q.size(); ++i) {
    if (q[i] > 0) sum += q[i] * std::log(q[i] / p[i]);
  }
  return sum;
}

// A random case of the update: a prior, cells (some records in none), and a target that they can have.
struct Case {
  std::vector<double> prior;
  std::vector<uint32_t> cells;
  std::vector<double> target;
};

class Random {
 public:
  explicit Random(uint64_t seed) : random_(seed) {}
  double Uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  size_t Below(size_t bound) { return random_() % bound; }
  std::vector<double> Distribution(size_t size) {
    std::vector<double> shares(size);
    for (double& share : shares) share = -std::log(1 - Uniform());
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (double& share : shares) share /= sum;
    return shares;
  }
  Case NewCase() {
    const size_t records = 3 + Below(9);
    const size_t cells = 1 + Below(4);
    Case made{.prior = Distribution(records), .cells = {}, .target = Distribution(cells + 1)};
    for (size_t i = 0; i < records; ++i) {
      const size_t cell = i <= cells ? i : Below(cells + 1);
      made.cells.push_back(cell == cells ? kUncovered : static_cast<uint32_t>(cell));
    }
    if (records <= cells) made.cells.back() = kUncovered;
    // What a cell without records, and the rest without any, cannot have, the first cell gets.
    for (size_t cell = 0; cell <= cells; ++cell) {
      const uint32_t number = cell == cells ? kUncovered : static_cast<uint32_t>(cell);
      if (std::ranges::find(made.cells, number) != made.cells.end()) continue;
      made.target[0] += made.target[cell];
      made.target[cell] = 0;
    }
    made.target.pop_back();
    return made;
  }

 private:
  std::mt19937_64 random_;
};

// Minimises the relative entropy under A q = b by Newton's method on the dual, for any constraints: q = prior
// exp(A' lambda). It knows nothing of cells.
std::vector<double> SolvedByNewton(const std::vector<double>& prior,
                                   const std::vector<std::vector<double>>& rows,
                                   const std::vector<double>& wanted) {
  const size_t m = rows.size();
  std::vector<double> lambda(m, 0.0);
  std::vector<double> q = prior;
  for (int step = 0; step < 200; ++step) {
    for (size_t j = 0; j < prior.size(); ++j) {
      double exponent = 0;
      for (size_t i = 0; i < m; ++i) exponent += lambda[i] * rows[i][j];
      q[j] = prior[j] * std::exp(exponent);
    }
    // (A diag(q) A') d = b - A q, by Gaussian elimination with a small ridge: constraints may repeat.
    std::vector<std::vector<double>> system(m, std::vector<double>(m + 1));
    for (size_t i = 0; i < m; ++i) {
      for (size_t k = 0; k < m; ++k) {
        for (size_t j = 0; j < q.size(); ++j) system[i][k] += rows[i][j] * rows[k][j] * q[j];
      }
      system[i][i] += 1e-13;
      system[i][m] = wanted[i];
      for (size_t j = 0; j < q.size(); ++j) system[i][m] -= rows[i][j] * q[j];
    }
    for (size_t i = 0; i < m; ++i) {
      size_t pivot = i;
      for (size_t k = i; k < m; ++k) {
        if (std::abs(system[k][i]) > std::abs(system[pivot][i])) pivot = k;
      }
      std::swap(system[i], system[pivot]);
      for (size_t k = 0; k < m; ++k) {
        if (k == i) continue;
        const double factor = system[k][i] / system[i][i];
        for (size_t c = i; c <= m; ++c) system[k][c] -= factor * system[i][c];
      }
    }
    for (size_t i = 0; i < m; ++i) lambda[i] += std::clamp(system[i][m] / system[i][i], -1.0, 1.0);
  }
  return q;
}

TEST(LeastEntropyUpdate, ScalesCellsWithMassAndSpreadsTargetsOfCellsWithoutEvenly) {
  // Cell 0 has mass 0.5, cell 1 has none and two records, the last record lies in no cell.
  EXPECT_THAT(Updated({0, 0, 1, 1, kUncovered}, {0.2, 0.6}, {0.1, 0.4, 0, 0, 0.5}),
              Pointwise(DoubleNear(1e-15), {0.04, 0.16, 0.3, 0.3, 0.2}));
}

TEST(LeastEntropyUpdate, SpreadsTheUncoveredRestEvenlyWhereItHasNoMass) {
  EXPECT_THAT(Updated({0, kUncovered, kUncovered}, {0.5}, {1, 0, 0}),
              Pointwise(DoubleNear(1e-15), {0.5, 0.25, 0.25}));
}

TEST(LeastEntropyUpdate, EmptiesACellWhoseTargetIsZero) {
  EXPECT_THAT(Updated({0, 1}, {0, 1}, {0.5, 0.5}), ElementsAre(0, 1));
}

// Theorem 3.1, by the conditions that characterise the minimiser: the problem is convex with linear
// constraints, so a feasible q is the minimiser exactly if ln(q / prior) is constant on every cell (and on
// the uncovered records), those being the combinations of the constraints' normals.
TEST(LeastEntropyUpdate, MeetsTheOptimalityConditionsOfTheLeastRelativeEntropy) {
  Random random(1);
  for (int trial = 0; trial < 500; ++trial) {
    const Case made = random.NewCase();
    const std::vector<double> q = Updated(made.cells, made.target, made.prior);
    std::vector<double> sums(made.target.size());
    for (size_t i = 0; i < q.size(); ++i) {
      ASSERT_GE(q[i], 0);
      if (made.cells[i] != kUncovered) sums[made.cells[i]] += q[i];
      for (size_t j = 0; j < i; ++j) {
        if (made.cells[i] != made.cells[j]) continue;
        ASSERT_NEAR(q[i] * made.prior[j], q[j] * made.prior[i], 1e-14);
      }
    }
    ASSERT_THAT(sums, Pointwise(DoubleNear(1e-12), made.target));
    ASSERT_NEAR(std::accumulate(q.begin(), q.end(), 0.0), 1, 1e-12);
  }
}

TEST(LeastEntropyUpdate, IsWhatAGeneralConvexSolverFinds) {
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const Case made = random.NewCase();
    std::vector<std::vector<double>> rows;
    std::vector<double> wanted;
    double rest = 1;
    for (size_t cell = 0; cell < made.target.size(); ++cell) {
      if (made.target[cell] == 0) continue;  // no record lies in it
      std::vector<double> row;
      for (const uint32_t of_record : made.cells) row.push_back(of_record == cell ? 1 : 0);
      rows.push_back(std::move(row));
      wanted.push_back(made.target[cell]);
      rest -= made.target[cell];
    }
    rows.emplace_back(made.prior.size(), 1.0);
    wanted.push_back(1);
    ASSERT_GE(rest, -1e-9);
    const std::vector<double> q = Updated(made.cells, made.target, made.prior);
    ASSERT_THAT(q, Pointwise(DoubleNear(1e-7), SolvedByNewton(made.prior, rows, wanted))) << trial;
  }
}

// A canary: the update that adds what is missing instead of scaling has the wanted answers too, and more
// relative entropy.
TEST(LeastEntropyUpdateCanary, AnAdditiveUpdateIsFurtherFromThePrior) {
  const std::vector<double> prior = {0.1, 0.3, 0.6};
  const std::vector<double> additive = {0.25, 0.45, 0.3};
  const std::vector<double> q = Updated({0, 0, 1}, {0.7, 0.3}, prior);
  EXPECT_LT(RelativeEntropy(q, prior), RelativeEntropy(additive, prior) - 1e-3);
  EXPECT_GT(std::abs(additive[0] * prior[1] - additive[1] * prior[0]), 1e-3);
}

double Distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum;
}

TEST(ProjectAnswers, IsADistributionAndTheLeastL1DistanceUnderBothProjections) {
  Random random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const size_t cells = 2 + random.Below(6);
    std::vector<double> noisy(cells);
    double positive = 0;
    double negative = 0;
    for (double& answer : noisy) {
      answer = random.Uniform() - 0.4;
      (answer > 0 ? positive : negative) += std::abs(answer);
    }
    if (positive == 0) continue;
    const std::vector<uint8_t> reachable(cells, 1);
    const std::vector<double> mass = random.Distribution(cells);
    for (const Projection projection : {Projection::kNearest, Projection::kScale}) {
      const std::vector<double> y = ProjectAnswers(noisy, reachable, mass, projection);
      ASSERT_NEAR(std::accumulate(y.begin(), y.end(), 0.0), 1, 1e-12);
      for (const double share : y) ASSERT_GE(share, 0);
      // No distribution is nearer: negative answers have to rise to 0, and the sum has to change to 1.
      ASSERT_NEAR(Distance(y, noisy), negative + std::abs(positive - 1), 1e-12);
    }
  }
}

TEST(ProjectAnswers, TakesTheNearestToWhatIsThereAmongAllMinimisers) {
  Random random(4);
  for (int trial = 0; trial < 200; ++trial) {
    const size_t cells = 2 + random.Below(5);
    std::vector<double> noisy(cells);
    for (double& answer : noisy) answer = 2 * random.Uniform() / static_cast<double>(cells) * 1.3 - 0.1;
    const std::vector<uint8_t> reachable(cells, 1);
    const std::vector<double> mass = random.Distribution(cells);
    const std::vector<double> nearest = ProjectAnswers(noisy, reachable, mass, Projection::kNearest);
    const std::vector<double> scaled = ProjectAnswers(noisy, reachable, mass, Projection::kScale);
    ASSERT_LE(RelativeEntropy(nearest, mass), RelativeEntropy(scaled, mass) + 1e-12);
    // Mixtures of minimisers are minimisers: none on the way to the other one is nearer.
    for (const double share : {0.01, 0.1, 0.5}) {
      std::vector<double> mixed(cells);
      for (size_t i = 0; i < cells; ++i) mixed[i] = (1 - share) * nearest[i] + share * scaled[i];
      ASSERT_LE(RelativeEntropy(nearest, mass), RelativeEntropy(mixed, mass) + 1e-12);
    }
  }
}

TEST(ProjectAnswers, LeavesOutCellsThatNoRecordLiesIn) {
  EXPECT_THAT(ProjectAnswers(std::vector<double>{0.5, 0.3, 0.2}, std::vector<uint8_t>{1, 0, 1},
                             std::vector<double>{0.5, 0, 0.5}, Projection::kScale),
              Pointwise(DoubleNear(1e-12), {0.5 / 0.7, 0.0, 0.2 / 0.7}));
}

TEST(ProjectAnswers, KeepsWhatIsThereWhenNoAnswerIsPositive) {
  EXPECT_THAT(ProjectAnswers(std::vector<double>{-0.5, 0, -0.2}, std::vector<uint8_t>{1, 1, 1},
                             std::vector<double>{0.5, 0.2, 0.3}, Projection::kNearest),
              ElementsAre(0.5, 0.2, 0.3));
}

TEST(ProjectAnswers, GivesAnswersOfCellsWithoutMassOnlyWhatOthersLeave) {
  // Cell 2 has no mass and 0.4 of answers; the others answer for 0.8.
  EXPECT_THAT(ProjectAnswers(std::vector<double>{0.3, 0.5, 0.4}, std::vector<uint8_t>{1, 1, 1},
                             std::vector<double>{0.5, 0.5, 0}, Projection::kNearest),
              Pointwise(DoubleNear(1e-12), {0.3, 0.5, 0.2}));
}

}  // namespace
}  // namespace curator::dp
