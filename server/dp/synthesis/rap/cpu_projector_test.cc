#include "dp/synthesis/rap/cpu_projector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stop_token>
#include <thread>

#include "dp/synthesis/rap/projection.h"
#include "dp/synthesis/rap/testing/projection_cases.h"
#include "dp/synthesis/rap/testing/reference_projection.h"

namespace curator::dp {
namespace {

class CpuProjectorWith : public testing::TestWithParam<Relaxation> {};

// Blocks that go through a step at once, fewer than shards and more; and sections.
std::vector<Case> AllWaysOfWalking() {
  std::vector<Case> cases;
  cases.push_back({RandomRelaxedRows(kSizes, 300, 8), Everything()});
  cases.push_back({RandomRelaxedRows(kSizes, 700, 9, kCellBlockRows), Everything()});
  cases.push_back(WideMarginal(50, kCellBlockRows));
  return cases;
}

TEST_P(CpuProjectorWith, HasTheSameBitsOnEveryInstructionSet) {
  for (const Case& each : AllWaysOfWalking()) {
    const LossAndGradient first = LossOf(each.problem, each.rows, GetParam());
    for (const ProjectionLoops* loops : AvailableProjectionLoops()) {
      const auto other = LossAt(each.problem, each.rows, GetParam(), *loops);
      EXPECT_EQ(other.loss, first.loss) << loops->name;
      EXPECT_TRUE(SameBits(other.gradient, first.gradient)) << loops->name;
    }
  }
}

// Two threads, whoever is first.
class TwoThreads final : public Executor {
 public:
  void RunOnFreeCores(int /*most*/, const std::function<void(int)>& work) override {
    std::jthread other([&work] { work(1); });
    work(0);
  }
};

TEST_P(CpuProjectorWith, HasTheSameBitsOnAnyThreads) {
  const ProjectionRule rule{.relaxation = GetParam(), .most_steps = 3, .rate = 0.1F, .tolerance = -1};
  Pacer pacer{std::stop_token()};
  TwoThreads two_threads;
  for (const Case& each : AllWaysOfWalking()) {
    const auto alone = CpuProjector().Project(each.problem, each.rows, rule, pacer).value();
    const auto together = CpuProjector(two_threads).Project(each.problem, each.rows, rule, pacer).value();
    EXPECT_EQ(alone.steps, 3);
    EXPECT_EQ(alone.last_loss, together.last_loss);
    EXPECT_TRUE(SameBits(alone.rows.parameters, together.rows.parameters));
  }
}

TEST_P(CpuProjectorWith, FindsRowsWithTheAnswersOfOtherRows) {
  const RelaxedRows truth = RandomRelaxedRows({3, 5, 2}, 40, 10);
  const auto shares = ReferenceShares(truth, GetParam());
  ProjectionProblem problem;
  MarginalAnswer whole{.positions = {0, 1, 2}, .answers = {}};
  for (size_t cell = 0; cell < 30; ++cell)
    whole.answers.push_back(static_cast<float>(ReferenceCell(truth.layout, shares, whole.positions, cell)));
  problem.marginals.push_back(whole);
  Pacer pacer{std::stop_token()};
  const auto found =
      CpuProjector()
          .Project(problem, RandomRelaxedRows({3, 5, 2}, 20, 11),
                   {.relaxation = GetParam(), .most_steps = 500, .rate = 0.02F, .patience = 50}, pacer)
          .value();
  EXPECT_LT(found.last_loss, 1e-3 * found.first_loss);
  EXPECT_GT(pacer.steps(), 0);
}

INSTANTIATE_TEST_SUITE_P(Both, CpuProjectorWith,
                         testing::Values(Relaxation::kSparseMax, Relaxation::kSoftmax),
                         [](const auto& relaxation) {
                           return relaxation.param == Relaxation::kSoftmax ? "Softmax" : "SparseMax";
                         });

// Rows that know nothing give most values nothing. Where most records have one value, the rows that dropped
// it must take it up again, which the gradient through SparseMax does not see.
TEST(CpuProjector, TakesUpDroppedValuesAlongSlopesByShares) {
  const RelaxedRows start = UniformStart(RelaxedLayout::Create(CodedDomain({40}), {0}, 100).value());
  ProjectionProblem problem;
  problem.polynomials.push_back(AtLeast(1, {7}));
  problem.polynomials.back().answer = 0.7F;
  const auto loss_along = [&](GradientMode mode) {
    Pacer pacer{std::stop_token()};
    const ProjectionRule rule{
        .gradient_mode = mode, .most_steps = 500, .rate = 0.01F, .tolerance = -1, .bound = 60};
    return CpuProjector().Project(problem, start, rule, pacer).value().last_loss;
  };
  EXPECT_LT(loss_along(GradientMode::kByShares), 1e-4);
  EXPECT_GT(loss_along(GradientMode::kByParameters), 0.1);
}

TEST(CpuProjector, StopsWhenTheLossIsEnoughOrNoLongerFalls) {
  const RelaxedRows rows = RandomRelaxedRows(kSizes, 20, 12);
  const ProjectionProblem problem = Marginals(rows.layout, 13);
  Pacer pacer{std::stop_token()};
  const double first_loss = LossOf(problem, rows, Relaxation::kSoftmax).loss;
  const auto projected_with = [&](ProjectionRule rule) {
    rule.relaxation = Relaxation::kSoftmax;
    rule.most_steps = 60;
    return CpuProjector().Project(problem, rows, rule, pacer).value();
  };
  const auto steps_with = [&](const ProjectionRule& rule) { return projected_with(rule).steps; };
  const Projected at_once = projected_with({.enough = first_loss});
  EXPECT_EQ(at_once.steps, 0);
  EXPECT_TRUE(SameBits(at_once.rows.parameters, rows.parameters));
  const Projected one_step = projected_with({.tolerance = 1});
  EXPECT_EQ(one_step.steps, 1);
  EXPECT_FALSE(SameBits(one_step.rows.parameters, rows.parameters));
  EXPECT_EQ(one_step.last_loss, LossOf(problem, one_step.rows, Relaxation::kSoftmax).loss);
  EXPECT_EQ(steps_with({.tolerance = 1, .patience = 10}), 10);
  EXPECT_EQ(steps_with({.tolerance = -1}), 60);
}

// Cells that are alike, each answered with noise of most of its size.
TEST(CpuProjector, StopsWhereMoreStepsWouldFollowTheNoise) {
  const RelaxedLayout layout = RelaxedLayout::Create(CodedDomain({6, 6, 6, 6}), {0, 1, 2, 3}, 64).value();
  const std::vector<std::vector<double>> even(4, std::vector<double>(6, 1.0 / 6));
  constexpr float kNoise = 0.02F;
  std::mt19937 random(1);
  std::normal_distribution<float> noise(0, kNoise);
  ProjectionProblem noisy;
  ProjectionProblem exact;
  for (size_t a = 0; a < 4; ++a) {
    for (size_t b = a + 1; b < 4; ++b) {
      exact.marginals.push_back({.positions = {a, b}, .answers = std::vector<float>(36, 1.0F / 36)});
      noisy.marginals.push_back(exact.marginals.back());
      noisy.marginals.back().weight = 1 / (kNoise * kNoise);
      for (float& answer : noisy.marginals.back().answers) answer += noise(random);
    }
  }
  Pacer pacer{std::stop_token()};
  const auto projected_with = [&](double least_gain) {
    const ProjectionRule rule{.relaxation = Relaxation::kSoftmax,
                              .most_steps = 500,
                              .rate = 0.1F,
                              .tolerance = -1,
                              .least_gain = least_gain,
                              .least_steps = 5,
                              .bound = 60};
    return CpuProjector().Project(noisy, IndependentStart(layout, even, 3), rule, pacer).value();
  };
  const Projected stopped = projected_with(0.12);
  const Projected followed = projected_with(0);
  EXPECT_LT(stopped.steps, 100);
  EXPECT_EQ(followed.steps, 500);
  EXPECT_LT(LossOf(exact, stopped.rows, Relaxation::kSoftmax).loss,
            0.7 * LossOf(exact, followed.rows, Relaxation::kSoftmax).loss);
  EXPECT_EQ(stopped.rows.shadow.size(), stopped.rows.parameters.size()) << "for the round that goes on";
}

TEST(CpuProjector, RefusesWhatDoesNotFitTheLayout) {
  const RelaxedRows rows = RandomRelaxedRows({2, 3}, 4, 14);
  Pacer pacer{std::stop_token()};
  const auto code_of = [&](const ProjectionProblem& problem) {
    return CpuProjector().Project(problem, rows, {}, pacer).status().code();
  };
  EXPECT_EQ(code_of({.marginals = {{.positions = {0, 1}, .answers = std::vector<float>(5)}}}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({.marginals = {{.positions = {1, 0}, .answers = std::vector<float>(6)}}}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({.polynomials = {{.terms = {{.columns = {5}}}}}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({.polynomials = {{.terms = {{.columns = {}}}}}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of({.polynomials = {{.terms = {{.columns = {1, 3, 1}}}}}}),
            absl::StatusCode::kInvalidArgument);
}

// Asks to stop when it is called for the n-th time, and counts the calls.
class AsksToStop final : public Executor {
 public:
  AsksToStop(std::stop_source& source, int call) : source_(source), call_(call) {}
  void RunOnFreeCores(int /*most*/, const std::function<void(int)>& work) override {
    work(0);
    if (++calls_ == call_) source_.request_stop();
  }
  int calls() const { return calls_; }

 private:
  std::stop_source& source_;
  const int call_;
  int calls_ = 0;
};

// One polynomial of ten products, each so many times.
ProjectionProblem TenProducts(int times) {
  PolynomialAnswer sum{.constant = 0.5F, .terms = {}, .answer = 3, .weight = 2};
  for (int i = 0; i < 10 * times; ++i) {
    const auto kind = static_cast<uint32_t>(i % 10);
    sum.terms.push_back({.coefficient = static_cast<float>(1.0 / times),
                         .columns = {kind % 2, 2 + kind / 2},
                         .complemented = kind % 3 == 0});
  }
  return {.marginals = {}, .polynomials = {sum}};
}

// The sum of 300 columns of the first attribute, as it is or each times all 700 of the second.
ProjectionProblem ThreeHundredColumns(uint32_t times) {
  PolynomialAnswer sum{.terms = {}, .answer = 0.1F, .weight = 2};
  for (uint32_t i = 0; i < 300 * times; ++i) {
    sum.terms.push_back({.columns = {i % 300}});
    if (times > 1) sum.terms.back().columns.push_back(700 + i / 300);
  }
  return {.marginals = {}, .polynomials = {sum}};
}

TEST(CpuProjector, StopsBetweenTheProductsOfOneStep) {
  const RelaxedRows rows = RandomRelaxedRows({700, 700}, 700, 16);
  std::stop_source source;
  Pacer pacer(source.get_token());
  AsksToStop executor(source, 2);  // when shares, and the first products, have been computed
  EXPECT_EQ(CpuProjector(executor)
                .Project(ThreeHundredColumns(700), rows, {.most_steps = 1}, pacer)
                .status()
                .code(),
            absl::StatusCode::kCancelled);
  EXPECT_LE(executor.calls(), 4);  // of 16 that a whole step takes: at most half a million products later
}

void ExpectNearlyTheSame(const LossAndGradient& found, const LossAndGradient& expected) {
  EXPECT_NEAR(found.loss, expected.loss, 1e-3 * expected.loss);
  float largest = 0;
  for (size_t i = 0; i < expected.gradient.size(); ++i)
    largest = std::max(largest, std::abs(expected.gradient[i]));
  for (size_t i = 0; i < expected.gradient.size(); ++i)
    ASSERT_NEAR(found.gradient[i], expected.gradient[i], 1e-2F * largest);
}

TEST(CpuProjector, TakesAnyNumberOfProducts) {
  const RelaxedRows rows = RandomRelaxedRows({700, 700}, 100, 16);
  ExpectNearlyTheSame(LossOf(ThreeHundredColumns(700), rows, Relaxation::kSoftmax),
                      LossOf(ThreeHundredColumns(1), rows, Relaxation::kSoftmax));
}

TEST(CpuProjector, TakesEqualProductsOnce) {
  const RelaxedRows rows = RandomRelaxedRows({2, 5}, 700, 16);
  ExpectNearlyTheSame(LossOf(TenProducts(2000), rows, Relaxation::kSoftmax),
                      LossOf(TenProducts(1), rows, Relaxation::kSoftmax));
}

TEST(CpuProjector, StopsWhenToldTo) {
  std::stop_source source;
  source.request_stop();
  Pacer pacer(source.get_token());
  const RelaxedRows rows = RandomRelaxedRows({700, 700}, 200, 15);
  ProjectionProblem problem;
  problem.marginals.push_back({.positions = {0, 1}, .answers = std::vector<float>(490'000)});
  EXPECT_EQ(CpuProjector().Project(problem, rows, {.most_steps = 3}, pacer).status().code(),
            absl::StatusCode::kCancelled);
}

// Shares are computed in one call; then the pieces of the marginal are summed, and their gradients added.
TEST(CpuProjector, StopsBetweenThePiecesOfOneMarginal) {
  const RelaxedRows rows = RandomRelaxedRows({2000, 2000}, 32, 15, kCellBlockRows);
  ProjectionProblem problem;
  problem.marginals.push_back({.positions = {0, 1}, .answers = std::vector<float>(4'000'000)});
  const int of_sums = 16;
  for (const int call : {2, 1 + of_sums + 3}) {
    std::stop_source source;
    Pacer pacer(source.get_token());
    AsksToStop executor(source, call);
    EXPECT_EQ(CpuProjector(executor).Project(problem, rows, {.most_steps = 3}, pacer).status().code(),
              absl::StatusCode::kCancelled);
    EXPECT_EQ(executor.calls(), call);
  }
}

}  // namespace
}  // namespace curator::dp
