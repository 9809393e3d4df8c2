#include "dp/synthesis/rap/projection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <stop_token>
#include <thread>

#include "dp/synthesis/rap/cpu_projector.h"
#include "dp/synthesis/rap/relaxed_start.h"
#include "dp/synthesis/rap/testing/reference_projection.h"
#include "dp/workload/testing_domain.h"

namespace curator::dp {
namespace {

RelaxedRows RandomRelaxedRows(const std::vector<int64_t>& sizes, int64_t rows, uint64_t seed,
                              size_t block_rows = kMarginalBlockRows) {
  const Domain domain = CodedDomain(sizes);
  AttributeSet all;
  for (size_t i = 0; i < sizes.size(); ++i) all.push_back(static_cast<uint32_t>(i));
  RelaxedRows relaxed{.layout = RelaxedLayout::Create(domain, all, rows, block_rows).value(),
                      .parameters = {}};
  relaxed.parameters = AlignedFloats(relaxed.layout.elements());
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  for (size_t i = 0; i < relaxed.parameters.size(); ++i) relaxed.parameters[i] = uniform(random);
  return relaxed;
}

// Whole marginals of one to four attributes, of which the largest comes first, last and in between.
ProjectionProblem Marginals(const RelaxedLayout& layout, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform(0, 0.1F);
  ProjectionProblem problem;
  float weight = 1;
  for (const std::vector<size_t>& positions : std::vector<std::vector<size_t>>{
           {1}, {0, 1}, {1, 2}, {0, 2, 3}, {1, 2, 4}, {0, 1, 2, 3}, {5}, {0, 5}}) {
    size_t cells = 1;
    for (const size_t position : positions) cells *= layout.sizes()[position];
    MarginalAnswer answer{.positions = positions, .answers = {}, .weight = weight};
    for (size_t cell = 0; cell < cells; ++cell) answer.answers.push_back(uniform(random));
    problem.marginals.push_back(answer);
    weight *= 1.5F;
  }
  return problem;
}

// Cells of one to six columns, 1-of-k and t-of-k thresholds.
ProjectionProblem Polynomials() {
  ProjectionProblem problem;
  const auto cell = [&](std::vector<uint32_t> columns, float answer) {
    problem.polynomials.push_back({.terms = {{.columns = std::move(columns)}}, .answer = answer});
  };
  cell({4}, 0.3F);
  cell({0, 7}, 0.1F);
  cell({1, 8, 22}, 0.4F);
  cell({2, 9, 22, 27}, 0.2F);
  cell({0, 5, 21, 25, 29}, 0.1F);
  cell({0, 5, 21, 25, 29, 30}, 0.1F);
  for (const size_t threshold : {1, 2, 3}) {
    PolynomialAnswer query = AtLeast(threshold, {1, 6, 23});
    query.answer = 0.25F;
    query.weight = 3;
    problem.polynomials.push_back(query);
  }
  for (const size_t threshold : {1, 2, 4}) problem.polynomials.push_back(AtLeast(threshold, {2, 10, 21, 26}));
  return problem;
}

const std::vector<int64_t> kSizes = {4, 17, 3, 4, 2, 1};

// Cells and complements of one to six attributes at random: so many that they share stems of all lengths.
ProjectionProblem ManyProducts(uint64_t seed) {
  std::mt19937_64 random(seed);
  ProjectionProblem problem;
  while (problem.polynomials.size() < 300) {
    ProductTerm term{.coefficient = 1.5F, .columns = {}, .complemented = random() % 3 == 0};
    uint32_t first = 0;
    for (const int64_t size : kSizes) {
      const auto columns = static_cast<uint32_t>(size);
      if (random() % 3 != 0) term.columns.push_back(first + static_cast<uint32_t>(random() % columns));
      first += columns;
    }
    if (term.columns.empty()) continue;
    problem.polynomials.push_back({.terms = {term}, .answer = 0.1F});
  }
  return problem;
}

ProjectionProblem Everything() {
  const RelaxedRows rows = RandomRelaxedRows(kSizes, 3, 1);
  ProjectionProblem problem = Polynomials();
  problem.marginals = Marginals(rows.layout, 2).marginals;
  for (PolynomialAnswer& each : ManyProducts(3).polynomials) problem.polynomials.push_back(std::move(each));
  return problem;
}

bool SameBits(const AlignedFloats& a, const AlignedFloats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

const ProjectionLoops& Fastest() {
  return *AvailableProjectionLoops().front();
}

LossAndGradient LossOf(const ProjectionProblem& problem, const RelaxedRows& rows, Relaxation relaxation) {
  return LossAt(problem, rows, relaxation, Fastest(), OnlyThisThread()).value();
}

class EveryRelaxation : public testing::TestWithParam<Relaxation> {};

TEST_P(EveryRelaxation, HasTheSharesOfItsDefinition) {
  const RelaxedRows rows = RandomRelaxedRows({4, 17, 1, 300}, 37, 3);
  const AlignedFloats shares = SharesOf(rows, GetParam(), Fastest());
  const auto reference = ReferenceShares(rows, GetParam());
  for (size_t row = 0; row < 37; ++row) {
    for (size_t column = 0; column < rows.layout.columns(); ++column)
      EXPECT_NEAR(static_cast<double>(shares[rows.layout.ElementAt(row, column)]), reference[row][column],
                  2e-6);
  }
}

TEST_P(EveryRelaxation, HasTheLossOfItsDefinition) {
  const RelaxedRows rows = RandomRelaxedRows(kSizes, 300, 4);
  const double reference = ReferenceLoss(Everything(), rows, GetParam());
  EXPECT_NEAR(LossOf(Everything(), rows, GetParam()).loss, reference, 1e-5 * reference);
}

// The gradient is that of rows * loss / rows: per row and unscaled.
double FiniteDifference(const ProjectionProblem& problem, RelaxedRows rows, Relaxation relaxation,
                        size_t element) {
  constexpr float kStep = 1e-3F;
  const float middle = rows.parameters[element];
  rows.parameters[element] = middle + kStep;
  const double above = ReferenceLoss(problem, rows, relaxation);
  const auto far = static_cast<double>(rows.parameters[element]);
  rows.parameters[element] = middle - kStep;
  const double below = ReferenceLoss(problem, rows, relaxation);
  return (above - below) / (far - static_cast<double>(rows.parameters[element])) *
         static_cast<double>(rows.layout.rows());
}

int WrongSlopes(const ProjectionProblem& problem, const RelaxedRows& rows, Relaxation relaxation,
                const AlignedFloats& gradient) {
  int wrong = 0;
  for (size_t row = 0; row < rows.layout.rows(); ++row) {
    for (size_t column = 0; column < rows.layout.columns(); ++column) {
      const size_t element = rows.layout.ElementAt(row, column);
      const double expected = FiniteDifference(problem, rows, relaxation, element);
      const auto found = static_cast<double>(gradient[element]);
      if (!(std::abs(found - expected) <= 2e-3 * std::abs(expected) + 2e-4)) ++wrong;
    }
  }
  return wrong;
}

TEST_P(EveryRelaxation, DescendsMarginalsAlongTheGradient) {
  const RelaxedRows rows = RandomRelaxedRows(kSizes, 19, 5);
  const ProjectionProblem problem = Marginals(rows.layout, 6);
  // SparseMax has corners: a parameter within a step of its threshold has no slope there.
  const int corners = GetParam() == Relaxation::kSparseMax ? 6 : 0;
  EXPECT_LE(WrongSlopes(problem, rows, GetParam(), LossOf(problem, rows, GetParam()).gradient), corners);
}

TEST_P(EveryRelaxation, DescendsPolynomialsAlongTheGradient) {
  const RelaxedRows rows = RandomRelaxedRows(kSizes, 19, 7);
  const ProjectionProblem problem = Polynomials();
  const int corners = GetParam() == Relaxation::kSparseMax ? 6 : 0;
  EXPECT_LE(WrongSlopes(problem, rows, GetParam(), LossOf(problem, rows, GetParam()).gradient), corners);
}

// Each class of queries by itself, so that none hides behind another's slopes.
std::vector<std::pair<std::string, ProjectionProblem>> QueryClasses() {
  std::vector<std::pair<std::string, ProjectionProblem>> classes;
  const auto add = [&](const std::string& name, PolynomialAnswer query) {
    query.answer = 0.2F;
    classes.push_back({name, ProjectionProblem{.marginals = {}, .polynomials = {std::move(query)}}});
  };
  const std::vector<uint32_t> columns = {2, 10, 21, 25, 29, 30};
  for (size_t k = 1; k <= columns.size(); ++k) {
    const std::vector<uint32_t> some(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(k));
    add("cell of " + std::to_string(k), {.terms = {{.columns = some}}});
    for (size_t threshold = 1; threshold <= k; ++threshold)
      add(std::to_string(threshold) + " of " + std::to_string(k), AtLeast(threshold, some));
  }
  // A junta of two attributes: the box of three cells, and an exclusive or.
  add("box", {.terms = {{.columns = {1, 5}}, {.columns = {1, 6}}, {.columns = {1, 7}}}});
  add("exclusive or", {.terms = {{.columns = {21, 29}}, {.columns = {22, 28}}}});
  for (const MarginalAnswer& marginal : Marginals(RandomRelaxedRows(kSizes, 3, 1).layout, 6).marginals) {
    classes.push_back({"marginal of " + std::to_string(marginal.positions.size()),
                       ProjectionProblem{.marginals = {marginal}, .polynomials = {}}});
  }
  return classes;
}

TEST_P(EveryRelaxation, DescendsEachClassOfQueriesAlongTheGradient) {
  const RelaxedRows rows = RandomRelaxedRows(kSizes, 5, 7);
  const int corners = GetParam() == Relaxation::kSparseMax ? 3 : 0;
  for (const auto& [name, problem] : QueryClasses()) {
    EXPECT_LE(WrongSlopes(problem, rows, GetParam(), LossOf(problem, rows, GetParam()).gradient), corners)
        << name;
  }
}

TEST_P(EveryRelaxation, DescendsProductsThatShareStemsAlongTheGradient) {
  const ProjectionProblem problem = ManyProducts(15);
  const int corners = GetParam() == Relaxation::kSparseMax ? 12 : 0;
  for (const size_t block_rows : {kCellBlockRows, 2 * kCellBlockRows}) {
    const RelaxedRows rows = RandomRelaxedRows(kSizes, 19, 7, block_rows);
    EXPECT_LE(WrongSlopes(problem, rows, GetParam(), LossOf(problem, rows, GetParam()).gradient), corners);
  }
}

// So many cells that blocks do not go through a whole step at once.
TEST_P(EveryRelaxation, DescendsALargeMarginalAlongTheGradient) {
  const RelaxedRows rows = RandomRelaxedRows({600, 500}, 18, 8, kCellBlockRows);
  std::mt19937_64 random(9);
  std::uniform_real_distribution<float> uniform(0, 1e-3F);
  MarginalAnswer whole{.positions = {0, 1}, .answers = std::vector<float>(300'000), .weight = 1e4F};
  for (float& answer : whole.answers) answer = uniform(random);
  const ProjectionProblem problem{.marginals = {whole}, .polynomials = {}};
  const AlignedFloats gradient = LossOf(problem, rows, GetParam()).gradient;
  // Where distributions are positive, so that a step of a difference does not reach a corner.
  const AlignedFloats shares = SharesOf(rows, GetParam(), Fastest());
  int looked_at = 0;
  for (size_t element = 0; looked_at < 4; element += 37) {
    const size_t row = element / rows.layout.block_elements() * kCellBlockRows + element % kCellBlockRows;
    if (row >= 18 || shares[element] < 1.5e-3F) continue;
    ++looked_at;
    const double expected = FiniteDifference(problem, rows, GetParam(), element);
    EXPECT_NEAR(static_cast<double>(gradient[element]), expected, 5e-3 * std::abs(expected) + 2e-3);
  }
}

// The canary: the slopes of a problem that lacks one of the thresholds.
TEST_P(EveryRelaxation, AGradientWithoutOneQueryIsCaught) {
  const RelaxedRows rows = RandomRelaxedRows(kSizes, 19, 7);
  ProjectionProblem problem = Polynomials();
  const AlignedFloats gradient = LossOf(problem, rows, GetParam()).gradient;
  problem.polynomials.erase(problem.polynomials.begin() + 7);
  EXPECT_GT(WrongSlopes(problem, rows, GetParam(), gradient), 50);
}

TEST_P(EveryRelaxation, HasTheSameBitsOnEveryInstructionSet) {
  const RelaxedRows rows = RandomRelaxedRows(kSizes, 300, 8);
  const LossAndGradient first = LossOf(Everything(), rows, GetParam());
  for (const ProjectionLoops* loops : AvailableProjectionLoops()) {
    const auto other = LossAt(Everything(), rows, GetParam(), *loops, OnlyThisThread()).value();
    EXPECT_EQ(other.loss, first.loss) << loops->name;
    EXPECT_TRUE(SameBits(other.gradient, first.gradient)) << loops->name;
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

TEST_P(EveryRelaxation, HasTheSameBitsOnAnyThreads) {
  RelaxedRows rows = RandomRelaxedRows(kSizes, 700, 9);
  ProjectionRule rule{.relaxation = GetParam(), .most_steps = 5, .rate = 0.1F};
  Pacer pacer{std::stop_token()};
  TwoThreads two_threads;
  const auto alone = CpuProjector().Project(Everything(), rows, rule, pacer).value();
  const auto together = CpuProjector(two_threads).Project(Everything(), rows, rule, pacer).value();
  EXPECT_EQ(alone.last_loss, together.last_loss);
  EXPECT_TRUE(SameBits(alone.rows.parameters, together.rows.parameters));
}

TEST_P(EveryRelaxation, FindsRowsWithTheAnswersOfOtherRows) {
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

INSTANTIATE_TEST_SUITE_P(Both, EveryRelaxation, testing::Values(Relaxation::kSparseMax, Relaxation::kSoftmax),
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
  const auto loss_along = [&](Slopes slopes) {
    Pacer pacer{std::stop_token()};
    const ProjectionRule rule{
        .slopes = slopes, .most_steps = 500, .rate = 0.01F, .tolerance = -1, .bound = 60};
    return CpuProjector().Project(problem, start, rule, pacer).value().last_loss;
  };
  EXPECT_LT(loss_along(Slopes::kByShares), 1e-4);
  EXPECT_GT(loss_along(Slopes::kByParameters), 0.1);
}

// On certain rows a polynomial means what its threshold says.
TEST(AtLeast, CountsTheColumnsOfCertainRows) {
  for (size_t k = 1; k <= 5; ++k) {
    std::vector<uint32_t> columns;
    for (size_t i = 0; i < k; ++i) columns.push_back(static_cast<uint32_t>(i));
    for (uint32_t bits = 0; bits < (1U << k); ++bits) {
      std::vector<std::vector<double>> row(1);
      for (size_t i = 0; i < k; ++i) row[0].push_back(bits >> i & 1);
      for (size_t threshold = 1; threshold <= k; ++threshold) {
        const double expected = static_cast<size_t>(std::popcount(bits)) >= threshold ? 1 : 0;
        EXPECT_NEAR(ReferencePolynomial(row, AtLeast(threshold, columns)), expected, 1e-12);
      }
    }
  }
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

// Asks to stop when it is called for the second time, and counts the calls.
class AsksToStop final : public Executor {
 public:
  explicit AsksToStop(std::stop_source& source) : source_(source) {}
  void RunOnFreeCores(int /*most*/, const std::function<void(int)>& work) override {
    work(0);
    if (++calls_ == 2) source_.request_stop();
  }
  int calls() const { return calls_; }

 private:
  std::stop_source& source_;
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
  AsksToStop executor(source);  // when shares, and the first products, have been computed
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

TEST(ProductsOf, CountsEveryCellAndTerm) {
  const ProjectionProblem problem{.marginals = {{.positions = {0, 1}, .answers = std::vector<float>(6)}},
                                  .polynomials = {AtLeast(2, {0, 2, 4}), AtLeast(1, {0, 2, 4})}};
  EXPECT_EQ(ProductsOf(problem), 6 + 4 + 1);
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

}  // namespace
}  // namespace curator::dp
