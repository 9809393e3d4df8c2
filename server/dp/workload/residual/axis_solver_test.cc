// Sums and inverses here are plain loops: what the solver computes with Eigen is recomputed without it.
#include "dp/workload/residual/axis_solver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "dp/queries/linear_queries.h"

namespace curator::dp {
namespace {

using Matrix = std::vector<std::vector<long double>>;

Gram GramOf(const std::vector<std::vector<double>>& queries) {
  const size_t codes = queries.front().size();
  Gram gram(codes * codes);
  for (const std::vector<double>& query : queries) {
    for (size_t i = 0; i < codes; ++i) {
      for (size_t j = 0; j < codes; ++j) gram[i * codes + j] += query[i] * query[j];
    }
  }
  return gram;
}

std::vector<double> Indicator(size_t codes, size_t first, size_t last) {
  std::vector<double> query(codes);
  for (size_t code = first; code <= last; ++code) query[code] = 1;
  return query;
}

// The sum over the prefixes (or ranges) that hold both codes.
Gram Prefixes(size_t codes) {
  Gram gram;
  for (size_t i = 0; i < codes; ++i) {
    for (size_t j = 0; j < codes; ++j) gram.push_back(static_cast<double>(codes - std::max(i, j)));
  }
  return gram;
}

Gram Ranges(size_t codes) {
  Gram gram = Prefixes(codes);
  for (size_t i = 0; i < codes; ++i) {
    for (size_t j = 0; j < codes; ++j) gram[i * codes + j] *= static_cast<double>(std::min(i, j) + 1);
  }
  return gram;
}

Gram Cells(size_t codes) {
  Gram gram(codes * codes);
  for (size_t i = 0; i < codes; ++i) gram[i * codes + i] = 1;
  return gram;
}

SolvedAxis SolvedAt(size_t codes, Gram gram, double evenness, double most_gap) {
  AxisSolver solver(static_cast<int64_t>(codes), std::move(gram));
  return solver.Solve(solver.OffsetAt(evenness), most_gap);
}

double Certified(const SolvedAxis& solved) {
  return solved.variance / (1 + solved.gap);
}

// Gauss-Jordan with pivots. Empty where the matrix is singular.
Matrix Inverse(Matrix matrix) {
  const size_t size = matrix.size();
  for (size_t i = 0; i < size; ++i) {
    matrix[i].resize(2 * size);
    matrix[i][size + i] = 1;
  }
  for (size_t k = 0; k < size; ++k) {
    size_t pivot = k;
    for (size_t i = k; i < size; ++i) {
      if (std::abs(matrix[i][k]) > std::abs(matrix[pivot][k])) pivot = i;
    }
    if (matrix[pivot][k] == 0) return {};
    std::swap(matrix[k], matrix[pivot]);
    for (size_t i = 0; i < size; ++i) {
      const long double factor = matrix[i][k] / matrix[k][k];
      if (i == k || factor == 0) continue;
      for (size_t j = k; j < 2 * size; ++j) matrix[i][j] -= factor * matrix[k][j];
    }
  }
  for (size_t k = 0; k < size; ++k) {
    for (size_t j = size; j < 2 * size; ++j) matrix[k][j] /= matrix[k][k];
    matrix[k].erase(matrix[k].begin(), matrix[k].begin() + static_cast<std::ptrdiff_t>(size));
  }
  return matrix;
}

// (I - 1 c^T) G (I - c 1^T).
Matrix ResidualGram(const Gram& gram, const std::vector<double>& c) {
  const size_t codes = c.size();
  Matrix left(codes, std::vector<long double>(codes));
  Matrix both = left;
  for (size_t j = 0; j < codes; ++j) {
    long double sum = 0;
    for (size_t k = 0; k < codes; ++k) sum += static_cast<long double>(c[k]) * gram[k * codes + j];
    for (size_t i = 0; i < codes; ++i) left[i][j] = gram[i * codes + j] - sum;
  }
  for (size_t i = 0; i < codes; ++i) {
    long double sum = 0;
    for (size_t k = 0; k < codes; ++k) sum += left[i][k] * c[k];
    for (size_t j = 0; j < codes; ++j) both[i][j] = left[i][j] - sum;
  }
  return both;
}

// tr((I - 1 c^T) G (I - c 1^T) S^+) times the largest S_jj: on what is orthogonal to c, S^+ is the inverse of
// S + c c^T.
double VarianceOf(const Gram& gram, const std::vector<double>& c, Matrix strategy) {
  const size_t codes = c.size();
  long double largest = 0;
  for (size_t i = 0; i < codes; ++i) {
    largest = std::max(largest, strategy[i][i]);
    for (size_t j = 0; j < codes; ++j) strategy[i][j] += static_cast<long double>(c[i]) * c[j];
  }
  const Matrix inverse = Inverse(std::move(strategy));
  const Matrix residual = ResidualGram(gram, c);
  long double trace = 0;
  for (size_t i = 0; i < codes; ++i) {
    for (size_t j = 0; j < codes; ++j) trace += residual[i][j] * inverse[j][i];
  }
  return static_cast<double>(trace * largest);
}

Matrix ToMatrix(const std::vector<double>& rows, size_t codes) {
  Matrix matrix;
  for (size_t i = 0; i < codes; ++i) {
    matrix.emplace_back(rows.begin() + static_cast<std::ptrdiff_t>(i * codes),
                        rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * codes));
  }
  return matrix;
}

TEST(AxisSolver, GivesTheLeastVarianceOfPrefixes) {
  EXPECT_NEAR(Certified(SolvedAt(100, Prefixes(100), 1, 1e-6)) / 306.9625, 1, 1e-5);
  EXPECT_NEAR(Certified(SolvedAt(99, Prefixes(99), 1, 1e-6)) / 302.787, 1, 1e-5);
  EXPECT_NEAR(Certified(SolvedAt(85, Prefixes(85), 1, 1e-6)) / 245.765, 1, 1e-5);
}

TEST(AxisSolver, GivesTheLeastVarianceOfAllRanges) {
  const SolvedAxis solved = SolvedAt(10, Ranges(10), 1, 1e-6);
  EXPECT_NEAR(Certified(solved) / 71.0921, 1, 1e-5);
  EXPECT_LE(solved.gap, 1e-6);
}

TEST(AxisSolver, MeasuresCellsWithTheVarianceOfTheirContrasts) {
  for (const size_t codes : {2, 3, 10, 64}) {
    const SolvedAxis solved = SolvedAt(codes, Cells(codes), 1, 1e-9);
    const double n = static_cast<double>(codes);
    EXPECT_NEAR(solved.variance, (n - 1) * (n - 1) / n, 1e-9 * n);
    EXPECT_LE(solved.gap, 1e-9);
  }
}

TEST(AxisSolver, NeedsNoOffsetForCells) {
  AxisSolver solver(10, Cells(10));
  for (const double part : solver.OffsetAt(0)) EXPECT_DOUBLE_EQ(part, 0.1);
}

TEST(AxisSolver, StrategiesAreFeasibleAndTheirVarianceIsWhatItSays) {
  for (const double evenness : {0.0, 0.4, 1.0}) {
    const size_t codes = 20;
    const Gram gram = Prefixes(codes);
    const SolvedAxis solved = SolvedAt(codes, gram, evenness, 1e-5);
    EXPECT_LE(solved.gap, 1e-5);
    double answers = 0;
    for (size_t i = 0; i < codes; ++i) {
      EXPECT_LE(solved.strategy[i * codes + i], 1 + 1e-12);
      double on_offset = 0;
      double inverse_on_ones = 0;
      for (size_t j = 0; j < codes; ++j) {
        on_offset += solved.strategy[i * codes + j] * solved.offset[j];
        inverse_on_ones += solved.inverse[i * codes + j];
        answers += gram[i * codes + j] * solved.inverse[i * codes + j];
      }
      EXPECT_NEAR(on_offset, 0, 1e-12);
      EXPECT_NEAR(inverse_on_ones, 0, 1e-9);
    }
    EXPECT_NEAR(answers / solved.variance, 1, 1e-9);
    const double variance = VarianceOf(gram, solved.offset, ToMatrix(solved.strategy, codes));
    EXPECT_NEAR(variance / solved.variance, 1, 1e-9);
  }
}

// S + size X X^T, where the columns of X are random and 0 on the offset.
Matrix Changed(const SolvedAxis& solved, double size, std::mt19937& random) {
  const auto codes = static_cast<size_t>(solved.codes);
  Matrix strategy = ToMatrix(solved.strategy, codes);
  for (int column = 0; column < 3; ++column) {
    std::vector<double> values;
    for (size_t i = 0; i < codes; ++i) values.push_back(std::uniform_real_distribution<>(-1, 1)(random));
    const double on_offset = std::inner_product(values.begin(), values.end(), solved.offset.begin(), 0.0);
    for (double& value : values) value -= on_offset;
    for (size_t i = 0; i < codes; ++i) {
      for (size_t j = 0; j < codes; ++j) strategy[i][j] += size * values[i] * values[j];
    }
  }
  return strategy;
}

TEST(AxisSolver, NoOtherStrategyIsBelowTheCertifiedLeast) {
  std::mt19937 random(7);
  const size_t codes = 12;
  std::vector<std::vector<double>> few = {Indicator(codes, 0, 4), Indicator(codes, 3, 8),
                                          Indicator(codes, 5, 11)};
  for (const Gram& gram : {Prefixes(codes), Ranges(codes), GramOf(few)}) {
    for (const double evenness : {0.0, 1.0}) {
      const SolvedAxis solved = SolvedAt(codes, gram, evenness, 1e-6);
      for (const double size : {1e-6, 1e-4, 1e-2, 1.0}) {
        const double variance = VarianceOf(gram, solved.offset, Changed(solved, size, random));
        EXPECT_GE(variance, Certified(solved) * (1 - 1e-10));
      }
    }
  }
}

TEST(AxisSolver, StopsEarlyWithAGapThatHolds) {
  for (const Gram& gram : {Prefixes(30), Ranges(30)}) {
    for (const double evenness : {0.0, 1.0}) {
      const SolvedAxis early = SolvedAt(30, gram, evenness, 0.2);
      const SolvedAxis late = SolvedAt(30, gram, evenness, 1e-8);
      EXPECT_LE(early.gap, 0.2);
      EXPECT_LE(Certified(early), late.variance);
      EXPECT_GE(early.variance, Certified(late));
      // A gap that is understated would not hold.
      EXPECT_GT(early.variance / (1 + early.gap / 10), late.variance);
    }
  }
}

TEST(AxisSolver, ALaterCallStartsFromTheWeightsAndFindsTheSame) {
  AxisSolver solver(30, Ranges(30));
  const SolvedAxis first = solver.Solve(solver.OffsetAt(1), 1e-7);
  solver.Solve(solver.OffsetAt(0), 1e-7);
  EXPECT_NEAR(solver.Solve(solver.OffsetAt(1), 1e-7).variance / first.variance, 1, 2e-7);
}

TEST(AxisSolver, FewQueriesLeaveAStrategyThatHasAnInverse) {
  const size_t codes = 40;
  const std::vector<std::vector<double>> one = {Indicator(codes, 5, 20)};
  const std::vector<std::vector<double>> three = {Indicator(codes, 0, 9), Indicator(codes, 3, 30),
                                                  Indicator(codes, 12, 39)};
  for (const Gram& gram : {GramOf(one), GramOf(three)}) {
    for (const double evenness : {0.0, 0.5, 1.0}) {
      const SolvedAxis solved = SolvedAt(codes, gram, evenness, 1e-4);
      EXPECT_LE(solved.gap, 0.01);
      EXPECT_GT(solved.variance, 0);
      const double variance = VarianceOf(gram, solved.offset, ToMatrix(solved.strategy, codes));
      EXPECT_NEAR(variance / solved.variance, 1, 1e-6);
      EXPECT_TRUE(Rounded(solved, 1 << 15).ok());
    }
  }
}

TEST(AxisSolver, OneQueryOverAllCodesHasNoResidual) {
  const SolvedAxis solved = SolvedAt(5, GramOf({Indicator(5, 0, 4)}), 1, 1e-4);
  EXPECT_EQ(solved.variance, 0);
  EXPECT_EQ(solved.gap, 0);
  EXPECT_TRUE(Rounded(solved, 1 << 15).ok());
}

TEST(AxisSolver, TakesTheMostCodes) {
  const SolvedAxis solved = SolvedAt(kMostSolvedCodes, Prefixes(kMostSolvedCodes), 0.5, 0.1);
  EXPECT_LE(solved.gap, 0.1);
  EXPECT_TRUE(Rounded(solved, 1 << 15).ok());
}

// The integers that a rounded offset is made of.
std::vector<int64_t> Parts(const std::vector<double>& offset) {
  std::vector<int64_t> parts;
  for (const double part : offset) {
    const double scaled = part * 64 * static_cast<double>(offset.size());
    parts.push_back(std::llround(scaled));
    EXPECT_NEAR(scaled, std::round(scaled), 1e-9);
  }
  return parts;
}

int64_t SumOver(const std::vector<int64_t>& parts, const std::vector<int32_t>& weights, size_t row) {
  int64_t sum = 0;
  for (size_t j = 0; j < parts.size(); ++j) sum += parts[j] * weights[row * parts.size() + j];
  return sum;
}

// The variance of the workload from the integer rows R, from the inverse of [R; 1^T]; infinite where it has
// none.
double VarianceOfRows(const Gram& gram, const std::vector<int32_t>& weights, size_t codes) {
  Matrix rows(codes, std::vector<long double>(codes, 1));
  std::vector<long double> columns(codes);
  for (size_t k = 0; k + 1 < codes; ++k) {
    for (size_t j = 0; j < codes; ++j) {
      rows[k][j] = weights[k * codes + j];
      columns[j] += rows[k][j] * rows[k][j];
    }
  }
  const Matrix inverse = Inverse(std::move(rows));
  if (inverse.empty()) return INFINITY;
  long double sum = 0;
  for (size_t i = 0; i < codes; ++i) {
    for (size_t j = 0; j < codes; ++j) {
      const long double product =
          std::inner_product(inverse[i].begin(), inverse[i].end() - 1, inverse[j].begin(), 0.0L);
      sum += gram[i * codes + j] * product;
    }
  }
  return static_cast<double>(sum * *std::ranges::max_element(columns));
}

struct RoundingCase {
  size_t codes;
  Gram gram;
};

std::vector<RoundingCase> RoundingCases() {
  std::vector<RoundingCase> cases;
  for (const size_t codes : {2, 3, 5, 16, 17, 40}) {
    cases.push_back({codes, Prefixes(codes)});
    cases.push_back({codes, Ranges(codes)});
    cases.push_back({codes, GramOf({Indicator(codes, 0, 0), Indicator(codes, 1, codes - 1)})});
  }
  return cases;
}

TEST(Rounded, RowsAreExactlyZeroOnTheOffsetAndWithinTheScale) {
  for (const RoundingCase& rounding : RoundingCases()) {
    for (const double evenness : {0.0, 0.5, 0.97, 1.0}) {
      const SolvedAxis solved = SolvedAt(rounding.codes, rounding.gram, evenness, 1e-3);
      const absl::StatusOr<IntegerAxis> rounded = Rounded(solved, 1 << 15);
      ASSERT_TRUE(rounded.ok()) << rounding.codes << " at " << evenness << ": " << rounded.status();
      EXPECT_EQ(rounded->offset, solved.offset);
      ASSERT_EQ(rounded->queries.weights.size(), rounding.codes * (rounding.codes - 1));
      const std::vector<int64_t> parts = Parts(rounded->offset);
      for (size_t k = 0; k + 1 < rounding.codes; ++k)
        EXPECT_EQ(SumOver(parts, rounded->queries.weights, k), 0);
      for (const int32_t weight : rounded->queries.weights) EXPECT_LE(std::abs(weight), 1 << 15);
      const double variance = VarianceOfRows(rounding.gram, rounded->queries.weights, rounding.codes);
      EXPECT_LE(variance / solved.variance, 1 + 1e-3) << rounding.codes << " at " << evenness;
    }
  }
}

TEST(Rounded, HundredCodesLoseLittleAtEachScale) {
  struct Loss {
    int64_t scale;
    double most;
  };
  for (const Gram& gram : {Prefixes(100), Ranges(100)}) {
    AxisSolver solver(100, gram);
    for (const double evenness : {0.0, 0.5, 0.98, 1.0}) {
      const SolvedAxis solved = solver.Solve(solver.OffsetAt(evenness), 1e-4);
      for (const Loss& loss : {Loss{1 << 10, 5e-3}, Loss{1 << 15, 1e-3}, Loss{kLargestWeight, 1e-4}}) {
        const absl::StatusOr<IntegerAxis> rounded = Rounded(solved, loss.scale);
        ASSERT_TRUE(rounded.ok());
        const double variance = VarianceOfRows(gram, rounded->queries.weights, 100);
        EXPECT_LE(variance / solved.variance, 1 + loss.most) << loss.scale << " at " << evenness;
      }
    }
  }
}

// What Rounded() adds to plain rounding: rows rounded weight by weight are not 0 on the offset.
TEST(Rounded, PlainRoundingIsNotZeroOnTheOffset) {
  AxisSolver solver(40, Prefixes(40));
  for (const double evenness : {0.5, 1.0}) {
    const absl::StatusOr<IntegerAxis> fine = Rounded(solver.Solve(solver.OffsetAt(evenness), 1e-3), 1 << 20);
    ASSERT_TRUE(fine.ok());
    std::vector<int32_t> plain;
    for (const int32_t weight : fine->queries.weights) plain.push_back((weight + (1 << 4)) >> 5);
    size_t wrong = 0;
    for (size_t k = 0; k < 39; ++k) wrong += SumOver(Parts(fine->offset), plain, k) != 0 ? 1 : 0;
    EXPECT_GT(wrong, 20);
  }
}

TEST(Rounded, AnyOffsetIsRoundedToOneNearby) {
  AxisSolver solver(30, Prefixes(30));
  std::vector<double> offset;
  for (int i = 0; i < 30; ++i) offset.push_back(0.3 * std::pow(0.7, i) / (1 - std::pow(0.7, 30)));
  const SolvedAxis solved = solver.Solve(offset, 1e-4);
  const absl::StatusOr<IntegerAxis> rounded = Rounded(solved, 1 << 15);
  ASSERT_TRUE(rounded.ok());
  EXPECT_NE(rounded->offset, offset);
  const std::vector<int64_t> parts = Parts(rounded->offset);
  for (size_t j = 0; j < 30; ++j) EXPECT_NEAR(rounded->offset[j], offset[j], 1.0 / (64 * 30));
  for (size_t k = 0; k < 29; ++k) EXPECT_EQ(SumOver(parts, rounded->queries.weights, k), 0);
  EXPECT_TRUE(std::isfinite(VarianceOfRows(Prefixes(30), rounded->queries.weights, 30)));
}

TEST(Rounded, ASmallScaleHasNoRows) {
  const SolvedAxis solved = SolvedAt(40, Prefixes(40), 0.5, 1e-3);
  EXPECT_EQ(Rounded(solved, 2).status().code(), absl::StatusCode::kInternal);
}

TEST(Rounded, TheSameStrategyIsRoundedTheSameWay) {
  const SolvedAxis solved = SolvedAt(25, Ranges(25), 0.3, 1e-3);
  EXPECT_EQ(Rounded(solved, 1 << 12)->queries, Rounded(solved, 1 << 12)->queries);
}

}  // namespace
}  // namespace curator::dp
