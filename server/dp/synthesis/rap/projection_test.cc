#include "dp/synthesis/rap/projection.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "dp/synthesis/rap/cpu_projector.h"
#include "dp/synthesis/rap/testing/projection_cases.h"
#include "dp/synthesis/rap/testing/reference_projection.h"

namespace curator::dp {
namespace {

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
  // Three long blocks; then short ones, more than there are shards, of which some add up several.
  for (const size_t block_rows : {kMarginalBlockRows, kCellBlockRows}) {
    const RelaxedRows rows = RandomRelaxedRows(kSizes, 300, 4, block_rows);
    const double reference = ReferenceLoss(Everything(), rows, GetParam());
    EXPECT_NEAR(LossOf(Everything(), rows, GetParam()).loss, reference, 1e-5 * reference);
  }
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
  auto [rows, problem] = WideMarginal(18, kCellBlockRows);
  problem.polynomials.clear();
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

// Section by section, as by its definition: in each row a cell of two attributes is the product of two
// values.
TEST_P(EveryRelaxation, HasTheLossOfItsDefinitionInSections) {
  const Case wide = WideMarginal(50, kCellBlockRows);
  const std::vector<std::vector<double>> shares = ReferenceShares(wide.rows, GetParam());
  const MarginalAnswer& whole = wide.problem.marginals.front();
  std::vector<double> cells(whole.answers.size());
  for (const std::vector<double>& row : shares) {
    for (size_t i = 0; i < 600; ++i) {
      if (row[i] == 0) continue;
      for (size_t j = 0; j < 500; ++j) cells[i * 500 + j] += row[i] * row[600 + j] / 50;
    }
  }
  double loss =
      ReferenceLoss({.marginals = {}, .polynomials = wide.problem.polynomials}, wide.rows, GetParam());
  for (size_t cell = 0; cell < cells.size(); ++cell) {
    const double error = cells[cell] - static_cast<double>(whole.answers[cell]);
    loss += static_cast<double>(whole.weight) * error * error;
  }
  EXPECT_NEAR(LossOf(wide.problem, wide.rows, GetParam()).loss, loss, 1e-5 * loss);
}

INSTANTIATE_TEST_SUITE_P(Both, EveryRelaxation, testing::Values(Relaxation::kSparseMax, Relaxation::kSoftmax),
                         [](const auto& relaxation) {
                           return relaxation.param == Relaxation::kSoftmax ? "Softmax" : "SparseMax";
                         });

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

TEST(ProductsOf, CountsEveryCellAndTerm) {
  const ProjectionProblem problem{.marginals = {{.positions = {0, 1}, .answers = std::vector<float>(6)}},
                                  .polynomials = {AtLeast(2, {0, 2, 4}), AtLeast(1, {0, 2, 4})}};
  EXPECT_EQ(ProductsOf(problem), 6 + 4 + 1);
}

}  // namespace
}  // namespace curator::dp
