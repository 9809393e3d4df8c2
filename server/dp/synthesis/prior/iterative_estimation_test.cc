#include "dp/synthesis/prior/iterative_estimation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace curator::dp {
namespace {

using testing::DoubleNear;
using testing::Pointwise;

// A 4 x 3 x 2 table; its three two-way marginals in row-major order.
constexpr size_t kRecords = 24;

MarginalOfRecords MarginalBy(size_t (*cell_of)(size_t a, size_t b, size_t c), size_t cells) {
  MarginalOfRecords marginal{.cell_of_record = {}, .reachable = std::vector<uint8_t>(cells, 1)};
  for (size_t i = 0; i < kRecords; ++i)
    marginal.cell_of_record.push_back(static_cast<uint32_t>(cell_of(i / 6, i / 2 % 3, i % 2)));
  return marginal;
}

std::vector<MarginalOfRecords> TwoWayMarginals() {
  return {MarginalBy([](size_t a, size_t b, size_t) { return a * 3 + b; }, 12),
          MarginalBy([](size_t a, size_t, size_t c) { return a * 2 + c; }, 8),
          MarginalBy([](size_t, size_t b, size_t c) { return b * 2 + c; }, 6)};
}

std::vector<double> RandomDistribution(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> shares(kRecords);
  for (double& share : shares) share = 0.05 + std::uniform_real_distribution<double>(0, 1)(random);
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

std::vector<double> SharesOf(const MarginalOfRecords& marginal, const std::vector<double>& table) {
  std::vector<double> shares(marginal.reachable.size());
  for (size_t i = 0; i < table.size(); ++i) shares[marginal.cell_of_record[i]] += table[i];
  return shares;
}

// Iterative proportional fitting as in the textbook, written on its own.
std::vector<double> ProportionallyFitted(std::vector<double> q,
                                         const std::vector<MarginalOfRecords>& marginals,
                                         const std::vector<std::vector<double>>& wanted, int sweeps) {
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (size_t m = 0; m < marginals.size(); ++m) {
      const std::vector<double> now = SharesOf(marginals[m], q);
      for (size_t i = 0; i < q.size(); ++i) {
        const uint32_t cell = marginals[m].cell_of_record[i];
        q[i] *= wanted[m][cell] / now[cell];
      }
    }
  }
  return q;
}

struct Problem {
  std::vector<MarginalOfRecords> marginals = TwoWayMarginals();
  std::vector<double> truth = RandomDistribution(1);
  std::vector<double> prior = RandomDistribution(2);
  std::vector<std::vector<double>> answers;
  Problem() {
    for (const auto& marginal : marginals) answers.push_back(SharesOf(marginal, truth));
  }
};

TEST(EstimateDistribution, ConvergesToIterativeProportionalFittingWhenAnswersAreConsistent) {
  const Problem problem;
  for (const Projection projection : {Projection::kNearest, Projection::kScale}) {
    std::vector<double> q = problem.prior;
    Pacer pacer{std::stop_token()};
    const Convergence convergence =
        EstimateDistribution(problem.marginals, problem.answers,
                             {.most_sweeps = 1000, .converged = 1e-12, .projection = projection}, q, pacer)
            .value();
    EXPECT_THAT(q, Pointwise(DoubleNear(1e-10),
                             ProportionallyFitted(problem.prior, problem.marginals, problem.answers, 3000)));
    EXPECT_LT(convergence.sweeps, 1000);
    EXPECT_LT(convergence.last_movement, 1e-12);
    EXPECT_LT(convergence.distance, 1e-10);
  }
}

// The limit has the answers, and is prior times one factor for each cell of each marginal: ln(q / prior) has
// no three-way interaction. Together these characterise the least relative entropy to the prior.
TEST(EstimateDistribution, KeepsThePriorsInteractionWhereItIsNotMeasured) {
  const Problem problem;
  std::vector<double> q = problem.prior;
  Pacer pacer{std::stop_token()};
  ASSERT_TRUE(EstimateDistribution(problem.marginals, problem.answers,
                                   {.most_sweeps = 1000, .converged = 1e-13}, q, pacer)
                  .ok());
  const auto ratio = [&](size_t a, size_t b, size_t c) {
    const size_t i = a * 6 + b * 2 + c;
    return std::log(q[i] / problem.prior[i]);
  };
  for (size_t a = 1; a < 4; ++a) {
    for (size_t b = 1; b < 3; ++b) {
      double interaction = 0;
      for (size_t corner = 0; corner < 8; ++corner) {
        const double value = ratio(corner & 1 ? a : 0, corner & 2 ? b : 0, corner & 4 ? 1 : 0);
        const bool is_odd = ((corner & 1) + (corner >> 1 & 1) + (corner >> 2 & 1)) % 2 == 1;
        interaction += is_odd ? value : -value;
      }
      EXPECT_NEAR(interaction, 0, 1e-9);
    }
  }
}

TEST(EstimateDistribution, StaysAtThePriorWhenTheAnswersAreThePriorsOwn) {
  Problem problem;
  for (size_t i = 0; i < problem.marginals.size(); ++i)
    problem.answers[i] = SharesOf(problem.marginals[i], problem.prior);
  std::vector<double> q = problem.prior;
  Pacer pacer{std::stop_token()};
  const Convergence convergence =
      EstimateDistribution(problem.marginals, problem.answers, {}, q, pacer).value();
  EXPECT_THAT(q, Pointwise(DoubleNear(1e-14), problem.prior));
  EXPECT_EQ(convergence.sweeps, 1);
}

TEST(EstimateDistribution, TellsThatContradictingAnswersDoNotSettle) {
  Problem problem;
  problem.answers[0] = SharesOf(problem.marginals[0], RandomDistribution(3));
  std::vector<double> q = problem.prior;
  Pacer pacer{std::stop_token()};
  const Convergence convergence =
      EstimateDistribution(problem.marginals, problem.answers, {.most_sweeps = 50}, q, pacer).value();
  EXPECT_EQ(convergence.sweeps, 50);
  EXPECT_GT(convergence.last_movement, 1e-3);
  EXPECT_GT(convergence.distance, 1e-3);
}

TEST(EstimateDistribution, TellsWhichShareOfTheAnswersNoRecordCanHave) {
  const MarginalOfRecords marginal{.cell_of_record = {0, 0, 2}, .reachable = {1, 0, 1}};
  const std::vector<std::vector<double>> answers = {{0.5, 0.3, 0.2}};
  std::vector<double> q = {0.2, 0.2, 0.6};
  Pacer pacer{std::stop_token()};
  const Convergence convergence =
      EstimateDistribution(std::span(&marginal, 1), answers, {}, q, pacer).value();
  EXPECT_NEAR(convergence.unreachable, 0.3, 1e-12);
  EXPECT_NEAR(std::accumulate(q.begin(), q.end(), 0.0), 1, 1e-12);
}

// The conditions of the minimum: for each marginal's cells there are factors with ln(q / prior) = their sum
// (up to a constant), and each is gain times what its answer is missed by.
TEST(EstimateWeighed, FindsTheMinimumThatItsConditionsCharacterise) {
  Problem problem;
  problem.answers[0] = SharesOf(problem.marginals[0], RandomDistribution(3));
  const Trust trust{.deviation = 0.02, .trust = 50};
  std::vector<double> q = problem.prior;
  Pacer pacer{std::stop_token()};
  const Convergence convergence = EstimateWeighed(problem.marginals, problem.answers, trust,
                                                  {.most_sweeps = 5000, .converged = 1e-13}, q, pacer)
                                      .value();
  EXPECT_LT(convergence.last_movement, 1e-12);
  const double gain = 1 / (trust.deviation * trust.deviation * trust.trust);
  std::vector<double> constants;
  for (size_t i = 0; i < kRecords; ++i) {
    double expected = 0;
    for (size_t m = 0; m < problem.marginals.size(); ++m) {
      const uint32_t cell = problem.marginals[m].cell_of_record[i];
      expected += gain * (problem.answers[m][cell] - SharesOf(problem.marginals[m], q)[cell]);
    }
    constants.push_back(std::log(q[i] / problem.prior[i]) - expected);
  }
  // Up to the factor that all records share.
  for (const double constant : constants) EXPECT_NEAR(constant, constants[0], 1e-6);
}

TEST(EstimateWeighed, StaysNearThePriorWhereNoiseIsLargeAndHeedsAnswersWhereItIsSmall) {
  const Problem problem;
  double last = -1;
  for (const double deviation : {0.001, 0.1, 1.0, 100.0}) {
    std::vector<double> q = problem.prior;
    Pacer pacer{std::stop_token()};
    ASSERT_TRUE(EstimateWeighed(problem.marginals, problem.answers, {.deviation = deviation, .trust = 100},
                                {}, q, pacer)
                    .ok());
    double missed = 0;
    for (size_t m = 0; m < problem.marginals.size(); ++m) {
      const auto have = SharesOf(problem.marginals[m], q);
      for (size_t i = 0; i < have.size(); ++i) missed += std::abs(have[i] - problem.answers[m][i]);
    }
    EXPECT_GT(missed, last) << deviation;
    last = missed;
    EXPECT_LT(missed, deviation < 0.01 ? 0.1 : 10.0);
    EXPECT_THAT(q, Pointwise(DoubleNear(deviation > 10 ? 1e-5 : 1.0), problem.prior));
  }
}

TEST(EstimateDistribution, StopsWhenItIsTold) {
  const Problem problem;
  std::vector<double> q = problem.prior;
  std::stop_source stop;
  stop.request_stop();
  Pacer pacer{stop.get_token()};
  EXPECT_EQ(EstimateDistribution(problem.marginals, problem.answers,
                                 {.most_sweeps = int64_t{1} << 40, .converged = -1}, q, pacer)
                .status()
                .code(),
            absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace curator::dp
