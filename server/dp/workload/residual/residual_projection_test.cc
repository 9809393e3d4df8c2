#include "dp/workload/residual/residual_projection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "dp/domain/testing_domain.h"
#include "dp/workload/residual/residual_reader.h"
#include "dp/workload/residual/testing/measured_residuals.h"

namespace curator::dp {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;

// Small tables with few records beside the noise: many cells are measured below 0.
struct Measured {
  Domain domain;
  ResidualMeasurement measurement;
  std::vector<std::vector<int64_t>> values;
  std::vector<AttributeSet> widest;
};

Measured MeasuredOf(std::mt19937_64& random, const std::vector<int64_t>& sizes,
                    const std::vector<bool>& is_helmert, std::vector<AttributeSet> widest) {
  std::vector<AxisQueries> axes;
  size_t cells = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    axes.push_back(is_helmert[i] ? AxisQueries() : RandomAxis(random, sizes[i]));
    cells *= static_cast<size_t>(sizes[i]);
  }
  Measured measured{.domain = CodedDomain(sizes),
                    .measurement = MeasurementOfAllSets(random, std::move(axes)),
                    .values = {},
                    .widest = std::move(widest)};
  std::vector<int64_t> counts(cells);
  for (int64_t& count : counts) count = random() % 4 == 0 ? RandomInteger(random, 5, 30) : 0;
  measured.values = ValuesWithoutNoise(measured.domain, measured.measurement, counts);
  for (size_t group = 0; group < measured.values.size(); ++group) {
    const ProductGroup& of = measured.measurement.queries.groups[group];
    const Rational& parameter = measured.measurement.sigma_squared[group];
    double variance = static_cast<double>(parameter.numerator) / static_cast<double>(parameter.denominator);
    variance *= static_cast<double>(of.multiplier * of.multiplier);
    // About the size of the noise, which is all that matters here.
    for (size_t i = 0; i < of.attributes.size(); ++i) {
      const AxisQueries& axis = measured.measurement.queries.axes[of.axes[i]];
      variance *= axis.weights.empty() ? 4 : static_cast<double>(axis.variance_factor);
    }
    std::normal_distribution<double> noise(0, std::sqrt(variance));
    for (int64_t& value : measured.values[group]) value += std::llround(noise(random));
  }
  return measured;
}

const std::vector<AttributeSet> kPairs = {{0, 1}, {0, 2}, {1, 2}};

std::vector<Measured> Examples() {
  std::mt19937_64 random(7);
  return {MeasuredOf(random, {3, 4}, {true, true}, {{0, 1}}),
          MeasuredOf(random, {3, 2, 4}, {true, true, true}, kPairs),
          MeasuredOf(random, {3, 4, 2}, {false, true, true}, kPairs),
          MeasuredOf(random, {4, 3, 3}, {false, false, true}, kPairs),
          MeasuredOf(random, {2, 3, 2}, {true, false, true}, {{0, 1, 2}})};
}

Tables UnbiasedOf(const Measured& measured) {
  ResidualReader reader =
      ResidualReader::Create(measured.domain, measured.measurement, measured.values).value();
  Tables tables;
  for (const AttributeSet& set : measured.widest) tables.push_back(reader.AnswersOf({set, EveryCell()}));
  return tables;
}

NonNegativeTables NearestOf(const Measured& measured) {
  const ResidualErrors errors = ResidualErrors::Create(measured.domain, measured.measurement).value();
  return ResidualProjection(measured.measurement, errors, measured.widest)
      .Nearest(UnbiasedOf(measured), {})
      .value();
}

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

Matrix Kronecker(const Matrix& left, const Matrix& right) {
  Matrix product(left.rows() * right.rows(), left.cols() * right.cols());
  for (Eigen::Index i = 0; i < left.rows(); ++i)
    for (Eigen::Index j = 0; j < left.cols(); ++j)
      product.block(i * right.rows(), j * right.cols(), right.rows(), right.cols()) = left(i, j) * right;
  return product;
}

// The same problem as a dense one: parts in units of what they are held by, without that of the total, and
// the tables one below the other as `by_parts` times the parts, and `of_total` with the parts at 0.
struct Dense {
  Matrix by_parts;
  Vector measured;
  Vector of_total;
};

// [P F^(1/2) | c] of an axis, by inverting the queries.
Matrix InverseOf(const AxisQueries& queries, Eigen::Index codes) {
  Matrix rows = Matrix::Ones(codes, codes);
  Vector deviations = Vector::Ones(codes);
  for (Eigen::Index k = 0; k + 1 < codes; ++k) {
    for (Eigen::Index code = 0; code < codes; ++code) {
      if (!queries.weights.empty()) {
        rows(k, code) = queries.weights[static_cast<size_t>(k * codes + code)];
      } else {
        rows(k, code) = code <= k ? 1 : code == k + 1 ? -static_cast<double>(k + 1) : 0;
      }
    }
    const auto number = static_cast<double>(k + 1);
    deviations(k) = std::sqrt(queries.weights.empty() ? number * (number + 1)
                                                      : static_cast<double>(queries.variance_factor));
  }
  return rows.inverse() * deviations.asDiagonal();
}

Matrix TableOfPart(const Measured& measured, const AttributeSet& table, const AttributeSet& part) {
  Matrix product = Matrix::Ones(1, 1);
  for (const uint32_t attribute : table) {
    const Eigen::Index codes = measured.domain.attributes()[attribute].size();
    const Matrix inverse = InverseOf(measured.measurement.queries.axes[attribute], codes);
    product = Kronecker(product, std::ranges::find(part, attribute) != part.end()
                                     ? Matrix(inverse.leftCols(codes - 1))
                                     : Matrix(inverse.rightCols(1)));
  }
  return product;
}

Dense DenseOf(const Measured& measured) {
  Dense dense;
  std::vector<Matrix> blocks;
  std::vector<double> parts;
  Eigen::Index rows = 0;
  for (const AttributeSet& set : measured.widest) rows += *measured.domain.CellCount(set);
  dense.of_total = Vector::Zero(rows);
  for (size_t group = 0; group < measured.values.size(); ++group) {
    const ProductGroup& of = measured.measurement.queries.groups[group];
    const Rational& parameter = measured.measurement.sigma_squared[group];
    size_t missing = 0;
    for (const AttributeSet& set : measured.widest) {
      if (std::ranges::includes(set, of.attributes))
        missing = std::max(missing, set.size() - of.attributes.size());
    }
    const double deviation =
        std::sqrt(static_cast<double>(parameter.numerator) / static_cast<double>(parameter.denominator) /
                  std::pow(kFirmness, static_cast<double>(missing)));
    Matrix block = Matrix::Zero(rows, static_cast<Eigen::Index>(measured.values[group].size()));
    Eigen::Index first = 0;
    for (const AttributeSet& set : measured.widest) {
      const Eigen::Index cells = *measured.domain.CellCount(set);
      if (std::ranges::includes(set, of.attributes))
        block.middleRows(first, cells) = TableOfPart(measured, set, of.attributes);
      first += cells;
    }
    if (of.attributes.empty()) {
      const double total =
          static_cast<double>(measured.values[group][0]) / static_cast<double>(of.multiplier);
      dense.of_total = block.col(0) * std::max(total, 0.0);
      continue;
    }
    const std::vector<int64_t> factors = [&] {
      std::vector<int64_t> products = {1};
      for (const std::vector<int64_t>& axis :
           VarianceFactors(measured.domain, measured.measurement.queries,
                           {.attributes = of.attributes, .axes = of.axes, .multiplier = 1})) {
        std::vector<int64_t> longer;
        for (const int64_t left : products)
          for (const int64_t right : axis) longer.push_back(left * right);
        products = std::move(longer);
      }
      return products;
    }();
    for (size_t i = 0; i < factors.size(); ++i) {
      parts.push_back(static_cast<double>(measured.values[group][i]) / static_cast<double>(of.multiplier) /
                      std::sqrt(static_cast<double>(factors[i])) / deviation);
    }
    blocks.push_back(deviation * block);
  }
  dense.by_parts = Matrix(rows, static_cast<Eigen::Index>(parts.size()));
  Eigen::Index column = 0;
  for (const Matrix& block : blocks) {
    dense.by_parts.middleCols(column, block.cols()) = block;
    column += block.cols();
  }
  dense.measured = Eigen::Map<Vector>(parts.data(), std::ssize(parts));
  return dense;
}

Vector Stacked(const Tables& tables) {
  std::vector<double> all;
  for (const CellValues& table : tables) all.insert(all.end(), table.begin(), table.end());
  return Eigen::Map<Vector>(all.data(), std::ssize(all));
}

// The nearest parts, by many steps of the dual with the dense matrix.
Vector NearestParts(const Dense& dense) {
  const Matrix gram = dense.by_parts * dense.by_parts.transpose();
  const double step = 1 / Eigen::SelfAdjointEigenSolver<Matrix>(gram).eigenvalues().maxCoeff();
  const Vector start = dense.by_parts * dense.measured + dense.of_total;
  Vector last = Vector::Zero(start.size());
  Vector at = last;
  constexpr int kSteps = 20'000;
  for (int i = 0; i < kSteps; ++i) {
    const Vector next = (at - step * (start + gram * at)).cwiseMax(0.0);
    at = next + (i % 500) / (i % 500 + 3.0) * (next - last);
    last = next;
  }
  EXPECT_GT((start + gram * last).minCoeff(), -0.002);
  return dense.measured + dense.by_parts.transpose() * last;
}

TEST(ResidualProjection, TheDenseProblemIsThatOfTheReader) {
  for (const Measured& measured : Examples()) {
    const Dense dense = DenseOf(measured);
    EXPECT_LT((dense.by_parts * dense.measured + dense.of_total - Stacked(UnbiasedOf(measured))).norm(),
              1e-6);
  }
}

TEST(ResidualProjection, IsTheNearestOfTheDenseProblem) {
  for (const Measured& measured : Examples()) {
    const Dense dense = DenseOf(measured);
    EXPECT_LT(Stacked(UnbiasedOf(measured)).minCoeff(), -0.5) << "or there is nothing to do";
    const Vector expected = dense.by_parts * NearestParts(dense) + dense.of_total;
    const Vector nearest = Stacked(NearestOf(measured).tables);
    EXPECT_LT((nearest - expected).cwiseAbs().maxCoeff(), 0.2);
    EXPECT_LT((nearest - expected).norm() / std::sqrt(static_cast<double>(nearest.size())), kMostDistance);
  }
}

// Equal parameters give another answer: the comparison above can fail.
TEST(ResidualProjectionCanary, TheParametersMatter) {
  Measured measured = Examples()[1];
  const Vector nearest = Stacked(NearestOf(measured).tables);
  for (Rational& parameter : measured.measurement.sigma_squared) parameter = {10, 1};
  EXPECT_GT((Stacked(NearestOf(measured).tables) - nearest).cwiseAbs().maxCoeff(), 1);
}

TEST(ResidualProjection, HasNoNegativeCellAndAgrees) {
  for (const Measured& measured : Examples()) {
    const NonNegativeTables nearest = NearestOf(measured);
    EXPECT_LE(nearest.disagreement, kMostDisagreement);
    for (size_t i = 0; i < measured.widest.size(); ++i) {
      EXPECT_THAT(nearest.tables[i], Each(Ge(0)));
      for (size_t j = 0; j < i; ++j) {
        AttributeSet shared;
        std::ranges::set_intersection(measured.widest[i], measured.widest[j], std::back_inserter(shared));
        const CellValues a = SumTo(measured.domain, measured.widest[i], nearest.tables[i], shared);
        const CellValues b = SumTo(measured.domain, measured.widest[j], nearest.tables[j], shared);
        for (size_t c = 0; c < a.size(); ++c) EXPECT_NEAR(a[c], b[c], nearest.disagreement + 1e-9);
      }
    }
  }
}

TEST(ResidualProjection, KeepsTheMeasuredTotal) {
  for (const Measured& measured : Examples()) {
    const CellValues before = UnbiasedOf(measured)[0];
    const CellValues after = NearestOf(measured).tables[0];
    EXPECT_NEAR(std::accumulate(after.begin(), after.end(), 0.0),
                std::max(0.0, std::accumulate(before.begin(), before.end(), 0.0)), kMostDisagreement);
  }
}

TEST(ResidualProjection, LeavesPositiveTablesAlone) {
  std::mt19937_64 random(3);
  Measured measured = MeasuredOf(random, {3, 2, 4}, {true, false, true}, kPairs);
  measured.values = ValuesWithoutNoise(measured.domain, measured.measurement, std::vector<int64_t>(24, 50));
  EXPECT_LT((Stacked(NearestOf(measured).tables) - Stacked(UnbiasedOf(measured))).norm(), 1e-6);
}

TEST(ResidualProjection, ANegativeTotalLeavesNothing) {
  Measured measured = Examples()[1];
  measured.values.back() = {-5};  // the empty set is the last
  for (const CellValues& table : NearestOf(measured).tables) EXPECT_THAT(table, Each(0));
}

TEST(ResidualProjection, EndsWhenItIsAskedTo) {
  const Measured measured = Examples()[1];
  const ResidualErrors errors = ResidualErrors::Create(measured.domain, measured.measurement).value();
  std::stop_source client;
  client.request_stop();
  EXPECT_EQ(ResidualProjection(measured.measurement, errors, measured.widest)
                .Nearest(UnbiasedOf(measured), client.get_token())
                .status()
                .code(),
            absl::StatusCode::kCancelled);
}

TEST(ResidualProjection, StepsCountCellsAndTheCodesOfMatrices) {
  std::mt19937_64 random(5);
  const Domain domain = CodedDomain({96, 10, 2000, 2000});
  ProductQueries queries{.axes = {RandomAxis(random, 96), {}},
                         .groups = {{{0}, {0}}, {{1}, {1}}, {{2}, {1}}}};
  const auto steps = [&](const std::vector<AttributeSet>& sets) {
    return ProjectionSteps(domain, queries, sets);
  };
  EXPECT_EQ(steps({{1}}), 10);
  EXPECT_EQ(steps({{0, 1}}), 2 * 960);
  EXPECT_EQ(steps({{0, 1}, {1, 2}}), 2 * 960 + 20'000);
  EXPECT_GT(steps({{2, 3}}), kMostProjectionSteps);
}

TEST(WidestSets, AreThoseWithinNoOther) {
  const std::vector<AttributeSet> sets = {{1}, {0, 1}, {0, 1}, {2}, {1, 3}, {0, 1, 2}, {}};
  const WidestSets widest(sets);
  EXPECT_THAT(widest.sets(), ElementsAre(AttributeSet{0, 1, 2}, AttributeSet{1, 3}));
  EXPECT_EQ(widest.Containing({0, 1}), 0U);
  EXPECT_EQ(widest.Containing({1, 3}), 1U);
  EXPECT_EQ(widest.Containing({}), 0U);
}

TEST(SumTo, SumsOverAttributesInAnyPlace) {
  const Domain domain = CodedDomain({2, 3, 2});
  const CellValues cells = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_THAT(SumTo(domain, {0, 1, 2}, cells, {0, 2}), ElementsAre(9, 12, 27, 30));
  EXPECT_THAT(SumTo(domain, {0, 1, 2}, cells, {1}), ElementsAre(18, 26, 34));
  EXPECT_THAT(SumTo(domain, {0, 1, 2}, cells, {}), ElementsAre(78));
}

}  // namespace
}  // namespace curator::dp
