#include "dp/workload/residual/axis_solver.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/status/status.h"

namespace curator::dp {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigenvectors = Eigen::SelfAdjointEigenSolver<MatrixXd>;

// Eigenvalues of A are raised to this part of their mean, so that S has an inverse on all directions.
constexpr double kLeastPart = 1e-7;
// Parts of the trace of G that are rounding errors of doubles.
constexpr double kRoundingPart = 1e-12;
// The weights keep to this part of the largest, and at the start of a call to a larger one: a weight near 0
// would take many rounds to grow back.
constexpr double kLeastWeight = 1e-14;
constexpr double kLeastFirstWeight = 1e-3;
// Of the solution without an offset, whose c* may be rough.
constexpr double kMostFreeGap = 1e-4;

VectorXd ToVector(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size()));
}

std::vector<double> ToRows(const MatrixXd& matrix) {
  std::vector<double> rows(static_cast<size_t>(matrix.size()));
  Eigen::Map<RowMajor>(rows.data(), matrix.rows(), matrix.cols()) = matrix;
  return rows;
}

MatrixXd FromRows(const std::vector<double>& rows, int64_t codes) {
  return Eigen::Map<const RowMajor>(rows.data(), codes, codes);
}

// F F^T = E diag(a) E^T, where the columns of E are orthonormal eigenvectors of A within the space of U.
struct FactoredGram {
  MatrixXd vectors;  // E
  VectorXd roots;    // the square roots of A's eigenvalues, raised
  VectorXd shares;   // those before they were raised, as a part of `roots`
  bool raised = false;

  MatrixXd Factor() const { return vectors * roots.asDiagonal(); }
};

FactoredGram Factored(const MatrixXd& basis, const MatrixXd& gram, double trace) {
  const Eigenvectors solver(basis.transpose() * gram * basis);
  VectorXd values = solver.eigenvalues();
  for (double& value : values) {
    if (value < kRoundingPart * trace) value = 0;
  }
  const double mean = values.mean();
  const double least = mean > 0 ? kLeastPart * mean : 1;
  const VectorXd roots = values.cwiseMax(least).cwiseSqrt();
  return {basis * solver.eigenvectors(), roots, values.cwiseSqrt().cwiseQuotient(roots),
          values.minCoeff() < least};
}

MatrixXd Weighted(const MatrixXd& factor, const VectorXd& weights) {
  const MatrixXd scaled = weights.cwiseSqrt().asDiagonal() * factor;
  MatrixXd product = MatrixXd::Zero(factor.cols(), factor.cols());
  product.selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose());
  return product;  // its lower half, which is what SelfAdjointEigenSolver reads
}

VectorXd RootsOf(const VectorXd& eigenvalues) {
  return eigenvalues.cwiseMax(1e-15 * eigenvalues.maxCoeff()).cwiseSqrt();
}

// The last round: F^T diag(w) F = V diag(l) V^T.
struct FixedPoint {
  MatrixXd vectors;  // V
  VectorXd roots;    // sqrt(l)
  double peak = 0;   // max g
};

void Normalise(VectorXd& weights, double least) {
  weights = weights.cwiseMax(least * weights.maxCoeff());
  weights /= weights.sum();
}

// Leaves in `weights` those of the last round. With F in place of A^1/2 U^T the formulas are the same ones:
// S diag(w) S = F F^T again. Near the fixed point log g falls by a matrix with eigenvalues of up to 1/2 times
// the change of log w, so that powers of g of 2 and 4 in turn shorten all errors: a third of the rounds that
// g itself takes.
FixedPoint FindWeights(const MatrixXd& factor, double most_gap, VectorXd& weights) {
  Normalise(weights, kLeastFirstWeight);
  for (int round = 1;; ++round) {
    const Eigenvectors solver(Weighted(factor, weights));
    FixedPoint point{solver.eigenvectors(), RootsOf(solver.eigenvalues()), 0};
    const VectorXd g = (factor * point.vectors).cwiseAbs2() * point.roots.cwiseInverse();
    point.peak = g.maxCoeff();
    const bool close = point.peak <= (1 + most_gap) * point.roots.sum();
    if (close || round == AxisSolver::kMostRounds) return point;
    const VectorXd ratio = (g / point.peak).cwiseAbs2();
    weights = weights.cwiseProduct(round % 2 == 1 ? ratio : ratio.cwiseAbs2());
    Normalise(weights, kLeastWeight);
  }
}

// A lower bound of the problem with A as it is, from any weights.
double LeastOf(const FactoredGram& gram, const FixedPoint& point, const VectorXd& weights) {
  if (!gram.raised) return point.roots.sum() * point.roots.sum();
  const MatrixXd factor = gram.Factor() * gram.shares.asDiagonal();
  const Eigenvectors solver(Weighted(factor, weights), Eigen::EigenvaluesOnly);
  const double sum = solver.eigenvalues().cwiseMax(0).cwiseSqrt().sum();
  return sum * sum;
}

// The pseudo-inverse of F V diag(1 / sqrt(l)) V^T F^T.
MatrixXd InverseOf(const FactoredGram& gram, const FixedPoint& point) {
  const MatrixXd rows = gram.vectors * gram.roots.cwiseInverse().asDiagonal() * point.vectors;
  return rows * point.roots.asDiagonal() * rows.transpose();
}

// Orthonormal columns that are orthogonal to the offset.
MatrixXd Complement(const VectorXd& offset) {
  const Eigen::HouseholderQR<MatrixXd> reflection{MatrixXd(offset)};
  const MatrixXd all = reflection.householderQ();
  return all.rightCols(offset.size() - 1);
}

// The parts of an offset are integers of this mean, before their common divisor is divided out. The rows with
// sum 0 over them are a lattice: with finer parts, and few codes, rows of integers are coarser.
constexpr int64_t kMeanPart = 64;
// So many codes make a row exact.
constexpr size_t kSettlingCodes = 16;
constexpr int kMostRepairs = 100;
constexpr int64_t kMostChange = 128;  // of one weight

using Integers = std::vector<int64_t>;

// The integers of an offset, and the codes in the order in which a row is rounded.
struct IntegerOffset {
  Integers parts;
  std::vector<size_t> early;   // the largest part first
  std::vector<size_t> late;    // spread over all sizes; their common divisor is that of all
  std::vector<size_t> unused;  // those whose part is 0
};

int64_t CommonDivisor(const Integers& parts, const std::vector<size_t>& codes) {
  int64_t divisor = 0;
  for (const size_t code : codes) divisor = std::gcd(divisor, parts[code]);
  return divisor;
}

// Codes, those with the largest value first.
template <typename Values>
std::vector<size_t> Falling(const Values& values) {
  std::vector<size_t> codes(values.size());
  std::iota(codes.begin(), codes.end(), size_t{0});
  std::ranges::stable_sort(codes, [&](size_t a, size_t b) { return values[a] > values[b]; });
  return codes;
}

// Integers with the sum kMeanPart * codes: what is left after rounding down goes to the largest remainders.
Integers ToParts(const std::vector<double>& offset) {
  const int64_t total = kMeanPart * static_cast<int64_t>(offset.size());
  Integers parts;
  std::vector<double> remainders;
  for (const double part : offset) {
    const double wished = part * static_cast<double>(total);
    parts.push_back(static_cast<int64_t>(wished));
    remainders.push_back(wished - std::floor(wished));
  }
  int64_t left = total - std::accumulate(parts.begin(), parts.end(), int64_t{0});
  for (const size_t code : Falling(remainders)) {
    if (left-- > 0) ++parts[code];
  }
  return parts;
}

IntegerOffset Ordered(Integers parts) {
  IntegerOffset offset;
  const auto positive =
      static_cast<size_t>(std::ranges::count_if(parts, [](int64_t part) { return part > 0; }));
  const size_t step = (positive + kSettlingCodes - 1) / kSettlingCodes;
  size_t place = 0;
  for (const size_t code : Falling(parts)) {
    ++place;
    (place > positive ? offset.unused : place % step == 0 ? offset.late : offset.early).push_back(code);
  }
  offset.parts = std::move(parts);
  return offset;
}

// With a common divisor of their own, the late codes could not make up for what the others leave: then one of
// them takes a part from an early one. An offset that comes from here is returned as it is.
IntegerOffset ToIntegers(const std::vector<double>& offset) {
  IntegerOffset integer = Ordered(ToParts(offset));
  for (int repair = 0; repair < kMostRepairs; ++repair) {
    if (integer.early.empty()) break;
    if (std::gcd(CommonDivisor(integer.parts, integer.late), CommonDivisor(integer.parts, integer.early)) ==
        CommonDivisor(integer.parts, integer.late)) {
      break;
    }
    ++integer.parts[integer.late[static_cast<size_t>(repair) % integer.late.size()]];
    --integer.parts[integer.early.front()];
    integer = Ordered(std::move(integer.parts));
  }
  return integer;
}

std::vector<double> ToOffset(const Integers& parts) {
  const auto sum = static_cast<double>(std::accumulate(parts.begin(), parts.end(), int64_t{0}));
  std::vector<double> offset;
  for (const int64_t part : parts) offset.push_back(static_cast<double>(part) / sum);
  return offset;
}

}  // namespace

AxisSolver::AxisSolver(int64_t codes, Gram gram)
    : codes_(codes), gram_(std::move(gram)), weights_(static_cast<size_t>(codes), 1.0) {
  const MatrixXd full = FromRows(gram_, codes_);
  const FactoredGram factored = Factored(MatrixXd::Identity(codes_, codes_), full, full.trace());
  VectorXd weights = ToVector(weights_);
  const FixedPoint point = FindWeights(factored.Factor(), kMostFreeGap, weights);
  // Negative parts of c* would be allowed, but rows that are 0 on integers that are not negative are simpler.
  const VectorXd offset = InverseOf(factored, point).rowwise().sum().cwiseMax(0);
  best_offset_ = ToRows(offset / offset.sum());
  weights_ = ToRows(weights);
}

std::vector<double> AxisSolver::OffsetAt(double evenness) const {
  std::vector<double> offset = best_offset_;
  for (double& part : offset) part = (1 - evenness) * part + evenness / static_cast<double>(codes_);
  return ToOffset(ToIntegers(offset).parts);
}

SolvedAxis AxisSolver::Solve(const std::vector<double>& offset, double most_gap) {
  const VectorXd c = ToVector(offset);
  const MatrixXd residual = MatrixXd::Identity(codes_, codes_) - VectorXd::Ones(codes_) * c.transpose();
  const MatrixXd full = FromRows(gram_, codes_);
  const FactoredGram factored = Factored(Complement(c), residual * full * residual.transpose(), full.trace());
  const MatrixXd factor = factored.Factor();
  VectorXd weights = ToVector(weights_);
  const FixedPoint point = FindWeights(factor, most_gap, weights);
  weights_ = ToRows(weights);

  const MatrixXd columns = factor * point.vectors;
  const MatrixXd strategy =
      columns * (point.roots * point.peak).cwiseInverse().asDiagonal() * columns.transpose();
  const MatrixXd inverse = residual.transpose() * (point.peak * InverseOf(factored, point)) * residual;
  // tr(A S^+) without what A's eigenvalues were raised by.
  const double variance =
      point.peak *
      (factored.shares.asDiagonal() * point.vectors).cwiseAbs2().colwise().sum().dot(point.roots);
  const double least = LeastOf(factored, point, weights);
  const double gap = variance > 0 ? std::max(variance / least - 1, 0.0) : 0;
  return {codes_, offset, ToRows(strategy), ToRows(inverse), variance, gap};
}

namespace {

// Changes of the late codes' weights by up to `most` each which together add `wanted` to the row's sum over
// the offset, with the least sum of squared distances from `row`; by dynamic programming over sums.
class Settling {
 public:
  Settling(const IntegerOffset& offset, int64_t scale, int64_t most, int64_t wanted)
      : offset_(offset), scale_(scale), most_(most), wanted_(wanted) {
    int64_t largest = 0;
    for (const size_t code : offset.late) largest = std::max(largest, offset.parts[code]);
    reach_ = std::abs(wanted) + largest * most;
    costs_.assign(static_cast<size_t>(2 * reach_ + 1), kNone);
    costs_[At(0)] = 0;
  }

  // Whether it was possible.
  bool Apply(const VectorXd& row, Integers& rounded) {
    for (const size_t code : offset_.late)
      Add(row(static_cast<Index>(code)), rounded[code], offset_.parts[code]);
    if (costs_[At(wanted_)] == kNone) return false;
    int64_t sum = wanted_;
    for (size_t i = offset_.late.size(); i-- > 0;) {
      const size_t code = offset_.late[i];
      const int64_t change = changes_[i][At(sum)];
      rounded[code] += change;
      sum -= change * offset_.parts[code];
    }
    return true;
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  size_t At(int64_t sum) const { return static_cast<size_t>(sum + reach_); }

  void Add(double wished, int64_t weight, int64_t part) {
    std::vector<double> costs(costs_.size(), kNone);
    std::vector<int32_t> changes(costs_.size(), 0);
    for (int64_t change = -most_; change <= most_; ++change) {
      if (std::abs(weight + change) > scale_) continue;
      const double distance = static_cast<double>(weight + change) - wished;
      const int64_t shift = change * part;
      for (int64_t sum = std::max(-reach_, -reach_ + shift); sum <= std::min(reach_, reach_ + shift); ++sum) {
        const double cost = costs_[At(sum - shift)] + distance * distance;
        if (cost >= costs[At(sum)]) continue;
        costs[At(sum)] = cost;
        changes[At(sum)] = static_cast<int32_t>(change);
      }
    }
    costs_ = std::move(costs);
    changes_.push_back(std::move(changes));
  }

  const IntegerOffset& offset_;
  int64_t scale_, most_, wanted_, reach_ = 0;
  std::vector<double> costs_;  // of each sum so far
  std::vector<std::vector<int32_t>> changes_;
};

// The integer row close to `row` whose sum over the offset is 0. Code after code is rounded, and what that
// adds to the sum over the offset is taken off the wished weights of the codes to come, in proportion to
// their parts (the nearest point with sum 0).
std::optional<Integers> RoundedRow(VectorXd row, const IntegerOffset& offset, int64_t scale) {
  double squares = 0;
  for (const int64_t part : offset.parts) squares += static_cast<double>(part * part);
  Integers rounded(offset.parts.size());
  double shift = 0;
  int64_t sum = 0;
  const auto round = [&](size_t code) {
    const double wished = row(static_cast<Index>(code));
    rounded[code] = std::clamp<int64_t>(std::llround(wished), -scale, scale);
    sum += rounded[code] * offset.parts[code];
  };
  for (const size_t code : offset.early) {
    const double part = static_cast<double>(offset.parts[code]);
    double& wished = row(static_cast<Index>(code));
    wished += shift * part;
    round(code);
    squares -= part * part;
    shift -= (static_cast<double>(rounded[code]) - wished) * part / squares;
  }
  for (const size_t code : offset.late) {
    row(static_cast<Index>(code)) += shift * static_cast<double>(offset.parts[code]);
    round(code);
  }
  for (const size_t code : offset.unused) round(code);
  for (int64_t most = 1; most <= kMostChange; most *= 2) {
    if (Settling(offset, scale, most, -sum).Apply(row, rounded)) return rounded;
  }
  return std::nullopt;
}

// Rows with R^T R = S: its eigenvectors.
MatrixXd RowsOf(const SolvedAxis& solved) {
  const Index rows = static_cast<Index>(solved.codes) - 1;
  const Eigenvectors solver(FromRows(solved.strategy, solved.codes));
  return solver.eigenvalues().tail(rows).cwiseMax(0).cwiseSqrt().asDiagonal() *
         solver.eigenvectors().rightCols(rows).transpose();
}

}  // namespace

absl::StatusOr<IntegerAxis> Rounded(const SolvedAxis& solved, int64_t scale) {
  IntegerOffset offset = ToIntegers(solved.offset);
  std::vector<double> exact = ToOffset(offset.parts);
  const int64_t divisor =
      std::gcd(CommonDivisor(offset.parts, offset.early), CommonDivisor(offset.parts, offset.late));
  for (int64_t& part : offset.parts) part /= divisor;

  MatrixXd rows = RowsOf(solved);
  const VectorXd c = ToVector(exact);
  rows -= (rows * c) * (c / c.squaredNorm()).transpose();
  const double scaled_by = static_cast<double>(scale - 1) / rows.cwiseAbs().maxCoeff();
  rows *= scaled_by;
  MatrixXd rounded(rows.rows(), rows.cols());
  AxisQueries queries;
  queries.variance_factor =
      std::clamp<int64_t>(std::llround(scaled_by * scaled_by), 1, kLargestVarianceFactor);
  for (Index k = 0; k < rows.rows(); ++k) {
    const std::optional<Integers> row = RoundedRow(rows.row(k), offset, scale);
    if (!row) return absl::InternalError("no integer query is close to one of the best queries");
    for (const int64_t weight : *row) queries.weights.push_back(static_cast<int32_t>(weight));
    for (Index j = 0; j < rows.cols(); ++j)
      rounded(k, j) = static_cast<double>((*row)[static_cast<size_t>(j)]);
  }
  // Only the offset is 0 in all of them: 1^T is independent of them.
  if (rounded.colPivHouseholderQr().rank() < rows.rows()) {
    return absl::InternalError("the integer queries are not independent");
  }
  return IntegerAxis{std::move(queries), std::move(exact)};
}

}  // namespace curator::dp
