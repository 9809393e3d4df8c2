// Problems of projections, rows, and losses, for tests.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "dp/domain/testing_domain.h"
#include "dp/synthesis/rap/cpu_projector.h"
#include "dp/synthesis/rap/descent.h"
#include "dp/synthesis/rap/product_list.h"
#include "dp/synthesis/rap/projection.h"

namespace curator::dp {

inline RelaxedRows RandomRelaxedRows(const std::vector<int64_t>& sizes, int64_t rows, uint64_t seed,
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
inline ProjectionProblem Marginals(const RelaxedLayout& layout, uint64_t seed) {
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
inline ProjectionProblem Polynomials() {
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

inline const std::vector<int64_t> kSizes = {4, 17, 3, 4, 2, 1};

// Cells and complements of one to six attributes at random: so many that they share stems of all lengths.
inline ProjectionProblem ManyProducts(uint64_t seed) {
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

inline ProjectionProblem Everything() {
  const RelaxedRows rows = RandomRelaxedRows(kSizes, 3, 1);
  ProjectionProblem problem = Polynomials();
  problem.marginals = Marginals(rows.layout, 2).marginals;
  for (PolynomialAnswer& each : ManyProducts(3).polynomials) problem.polynomials.push_back(std::move(each));
  return problem;
}

// Rows and what is asked of them.
struct Case {
  RelaxedRows rows;
  ProjectionProblem problem;
};

// One marginal of so many cells that blocks do not go through a whole step at once but section by section,
// and some products.
inline Case WideMarginal(int64_t rows, size_t block_rows) {
  Case wide{.rows = RandomRelaxedRows({600, 500}, rows, 8, block_rows), .problem = {}};
  std::mt19937_64 random(9);
  std::uniform_real_distribution<float> uniform(0, 1e-3F);
  MarginalAnswer whole{.positions = {0, 1}, .answers = std::vector<float>(300'000), .weight = 1e4F};
  for (float& answer : whole.answers) answer = uniform(random);
  wide.problem.marginals.push_back(std::move(whole));
  for (uint32_t i = 0; i < 20; ++i)
    wide.problem.polynomials.push_back({.terms = {{.columns = {i % 4, 600 + i}}}, .answer = 0.1F});
  return wide;
}

inline bool SameBits(const AlignedFloats& a, const AlignedFloats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

inline const ProjectionLoops& Fastest() {
  return *AvailableProjectionLoops().front();
}

// The gradient of a descent by the parameters, at its last loss.
struct DescentProbe {
  static AlignedFloats GradientOf(Descent& descent, Pacer& pacer) {
    const RelaxedLayout& layout = descent.layout_;
    AlignedFloats whole(layout.elements());
    std::vector<Descent::Stage> stages = descent.GradientStages();
    stages.push_back({.work = [&](size_t block, const float* gradient) {
      std::copy_n(gradient, layout.block_elements(), whole.data() + block * layout.block_elements());
    }});
    (void)descent.Pass(stages, pacer);
    return whole;
  }
};

// The loss at `rows`, and its gradient by their parameters. `problem` fits their layout.
struct LossAndGradient {
  double loss = 0;
  AlignedFloats gradient;
};
inline LossAndGradient LossAt(const ProjectionProblem& problem, const RelaxedRows& rows,
                              Relaxation relaxation, const ProjectionLoops& loops) {
  Pacer pacer{std::stop_token()};
  RelaxedRows same = rows;
  ProductList products = ProductList::Create(problem.polynomials, rows.layout, pacer).value();
  Descent descent(problem, std::move(products), relaxation, GradientMode::kByParameters, loops,
                  OnlyThisThread(), same);
  LossAndGradient result;
  result.loss = descent.Loss(pacer).value();
  result.gradient = DescentProbe::GradientOf(descent, pacer);
  return result;
}

inline LossAndGradient LossOf(const ProjectionProblem& problem, const RelaxedRows& rows,
                              Relaxation relaxation) {
  return LossAt(problem, rows, relaxation, Fastest());
}

}  // namespace curator::dp
