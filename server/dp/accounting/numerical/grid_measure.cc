#include "dp/accounting/numerical/grid_measure.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "dp/accounting/numerical/fft.h"

namespace curator::dp {
namespace {

// Relative error of one discretised mass: exponentials, sums and quadrature stay far below.
constexpr double kMassSlack = 1e-11;
// A geometric progression is restarted after this many factors.
constexpr int64_t kProgression = 256;
// More than the three roundings of one mass, or of the logarithm of a scale, in a convolution or a cut.
constexpr double kRoundings = 0x1p-50;

// Gauss-Legendre nodes and weights of order 5 on [-1, 1].
constexpr std::array<double, 5> kNodes = {-0.906179845938663992797627, -0.538469310105683091036314, 0,
                                          0.538469310105683091036314, 0.906179845938663992797627};
constexpr std::array<double, 5> kWeights = {0.236926885056189087514264, 0.478628670499366468041292,
                                            0.568888888888888888888889, 0.478628670499366468041292,
                                            0.236926885056189087514264};
// Cells of quadrature are at most this many standard deviations wide. The error of order-5 Gauss quadrature,
// (w/mu)^10 (5!)^4/(11 (10!)^3) times the tenth derivative in units of mu, is then below 1e-16 of the
// integrand up to 14 sigmas.
constexpr double kQuadratureWidth = 1.0 / 32;

// Collects masses of the original measure, tilting them.
class Collector {
 public:
  Collector(const LossGrid& grid, int64_t first, int64_t last)
      : grid_(grid), reference_(grid.tilt > 0 ? last : first) {
    measure_.first = first;
    measure_.mass.assign(static_cast<size_t>(last - first + 1), 0.0);
    measure_.log_scale = grid.tilt * static_cast<double>(reference_) * grid.step;
  }

  double step() const { return grid_.step; }
  double At(int64_t index) const { return static_cast<double>(index) * grid_.step; }

  // What a mass at `index` is multiplied by.
  double Tilt(int64_t index) const {
    return std::exp(grid_.tilt * static_cast<double>(index - reference_) * grid_.step);
  }

  double& operator[](int64_t index) { return measure_.mass[static_cast<size_t>(index - measure_.first)]; }

  int64_t first() const { return measure_.first; }
  int64_t last() const { return measure_.first + static_cast<int64_t>(measure_.mass.size()) - 1; }

  GridMeasure Take(double infinity_mass) && {
    measure_.infinity_mass = infinity_mass;
    return std::move(measure_);
  }

 private:
  LossGrid grid_;
  int64_t reference_;  // where the tilt is 1: no tilt exceeds 1
  GridMeasure measure_;
};

// Splits a mass at `loss` over the grid points around it (upper), or moves it down (lower).
void AddAtom(const LossAtom& atom, const LossGrid& grid, Collector& out) {
  const double position = atom.loss / grid.step;
  if (grid.bound == Bound::kLower) {
    const auto below = static_cast<int64_t>(std::floor(position + kLowerSnap));
    out[below] += atom.mass * (1 - kMassSlack) * out.Tilt(below);
    return;
  }
  const auto below = static_cast<int64_t>(std::floor(position));
  const double blur =
      kMassSlack + 8e-16 * std::abs(position);  // how badly the position within its cell is known
  const double inside = std::clamp(atom.loss - out.At(below), 0.0, grid.step);
  const double up = std::expm1(-inside) / std::expm1(-grid.step);
  out[below] += atom.mass * (std::max(0.0, 1 - up) + blur) * out.Tilt(below);
  out[below + 1] += atom.mass * (up + blur) * out.Tilt(below + 1);
}

// The integral of e^(l/2) over [low, low + width].
double PieceMass(double low, double width) {
  return 2 * std::exp(low / 2) * std::expm1(width / 2);
}

// [low, low + width], which lies in the cell that starts at `index` and fills it in part.
void AddPartOfCell(double low, double width, double coefficient, int64_t index, Collector& out) {
  if (width <= 0) return;
  const double mass = coefficient * PieceMass(low, width);
  // The integral of e^-(l - start) e^(l/2): e^start times the mass under Q.
  const double other = coefficient * 2 * std::exp(out.At(index) - low / 2) * -std::expm1(-width / 2);
  const double up = std::clamp((mass - other) / -std::expm1(-out.step()), 0.0, mass);
  const double blur = mass * (kMassSlack + 1e-14 / out.step());
  out[index] += (mass - up + blur) * out.Tilt(index);
  out[index + 1] += (up + blur) * out.Tilt(index + 1);
}

// Whole cells [i h, (i+1) h] for i in [first, last]: geometric progressions, restarted now and then.
void AddWholeCells(const ExponentialPiece& piece, int64_t first, int64_t last, const LossGrid& grid,
                   Collector& out) {
  const double h = grid.step;
  const double quarter = std::sinh(h / 4);
  // The integral of (1 - e^-(l - a)) e^(l/2) over [a, a + h] is e^(a/2) 8 sinh^2(h/4).
  const double up = 8 * quarter * quarter / -std::expm1(-h);
  const double down = 2 * std::expm1(h / 2) - up;
  const double up_tilted = up * std::exp(grid.tilt * h);
  const double ratio = std::exp(h / 2 + grid.tilt * h);
  for (int64_t begin = first; begin <= last; begin += kProgression) {
    double at = piece.coefficient * std::exp(out.At(begin) / 2) * out.Tilt(begin) * (1 + kMassSlack);
    const int64_t end = std::min(begin + kProgression - 1, last);
    for (int64_t i = begin; i <= end; ++i) {
      out[i] += at * down;
      out[i + 1] += at * up_tilted;
      at *= ratio;
    }
  }
}

void AddPieceUpper(const ExponentialPiece& piece, const LossGrid& grid, Collector& out) {
  const double h = grid.step;
  const auto first = static_cast<int64_t>(std::floor(piece.low / h));
  const auto last = static_cast<int64_t>(std::floor(piece.high / h));
  if (first == last) {
    AddPartOfCell(piece.low, piece.high - piece.low, piece.coefficient, first, out);
    return;
  }
  AddPartOfCell(piece.low, out.At(first + 1) - piece.low, piece.coefficient, first, out);
  AddWholeCells(piece, first + 1, last - 1, grid, out);
  AddPartOfCell(out.At(last), piece.high - out.At(last), piece.coefficient, last, out);
}

// The density e^(l/2) merges over [i h - h/2, i h + h/2] into exactly the loss i h; what is left at the ends
// moves down.
void AddPieceLower(const ExponentialPiece& piece, const LossGrid& grid, Collector& out) {
  const double h = grid.step;
  const auto first = static_cast<int64_t>(std::ceil(piece.low / h + 0.5 + 1e-9));
  const auto last = static_cast<int64_t>(std::floor(piece.high / h - 0.5 - 1e-9));
  const double coefficient = piece.coefficient * (1 - kMassSlack);
  const double share = 4 * std::sinh(h / 4);  // integral of e^((l - i h)/2) over the merged interval
  for (int64_t i = first; i <= last; ++i)
    out[i] += coefficient * share * std::exp(out.At(i) / 2) * out.Tilt(i);
  if (last < first) return;
  const double top = out.At(last) + h / 2;
  out[last] += coefficient * PieceMass(top, std::max(0.0, piece.high - top)) * out.Tilt(last);
}

// How many standard deviations of a Gaussian are kept, so that at most `right` is cut off.
double KeptSigmas(double right) {
  return std::clamp(std::sqrt(-2 * std::log(2 * right)), 4.0, 13.5);
}

double TailBeyond(double sigmas) {
  return std::exp(-sigmas * sigmas / 2) / 2;
}

struct GaussianRange {
  int64_t first;
  int64_t last;  // cells [i h, (i+1) h], first <= i < last
};

GaussianRange RangeOf(double mu, double sigmas, double step) {
  const double mean = mu * mu / 2;
  return {static_cast<int64_t>(std::floor((mean - sigmas * mu) / step)),
          static_cast<int64_t>(std::ceil((mean + sigmas * mu) / step))};
}

// Masses of the cell that starts at `low`, under P, shared over its two ends.
struct Shares {
  double down = 0;
  double up = 0;
};

Shares GaussianCell(double low, double step, double mu) {
  const double density_scale = 1 / (mu * std::sqrt(2 * M_PI));
  const auto parts = static_cast<int64_t>(std::ceil(step / (mu * kQuadratureWidth)));
  const double width = step / static_cast<double>(parts);
  Shares shares;
  for (int64_t part = 0; part < parts; ++part) {
    for (size_t k = 0; k < kNodes.size(); ++k) {
      const double inside = (static_cast<double>(part) + (1 + kNodes[k]) / 2) * width;
      const double sigmas = (low + inside - mu * mu / 2) / mu;
      const double mass = kWeights[k] / 2 * width * density_scale * std::exp(-sigmas * sigmas / 2);
      const double up = std::expm1(-inside) / std::expm1(-step);
      shares.up += mass * up;
      shares.down += mass * (1 - up);
    }
  }
  return shares;
}

GridMeasure DiscretizedGaussian(double mu, const LossGrid& grid, const CutOff& cut_off) {
  const double sigmas = KeptSigmas(cut_off.right);
  const GaussianRange range = RangeOf(mu, sigmas, grid.step);
  Collector out(grid, range.first, range.last);
  const bool is_upper = grid.bound == Bound::kUpper;
  for (int64_t i = range.first; i < range.last; ++i) {
    const Shares shares = GaussianCell(out.At(i), grid.step, mu);
    if (is_upper) {
      const double blur = (shares.down + shares.up) * kMassSlack;
      out[i] += (shares.down + blur) * out.Tilt(i);
      out[i + 1] += (shares.up + blur) * out.Tilt(i + 1);
    } else {
      out[i] += (shares.down + shares.up) * (1 - kMassSlack) * out.Tilt(i);
    }
  }
  if (is_upper) out[range.first] += TailBeyond(sigmas) * out.Tilt(range.first);
  return std::move(out).Take(is_upper ? TailBeyond(sigmas) : 0);
}

}  // namespace

double CellsOf(const PrivacyLoss& loss, const LossGrid& grid, const CutOff& cut_off) {
  if (loss.gaussian_mu) return 2 * KeptSigmas(cut_off.right) * *loss.gaussian_mu / grid.step;
  return (loss.largest - loss.least) / grid.step;
}

GridMeasure Discretized(const PrivacyLoss& loss, const LossGrid& grid, const CutOff& cut_off) {
  if (loss.gaussian_mu) return DiscretizedGaussian(*loss.gaussian_mu, grid, cut_off);
  const auto first = static_cast<int64_t>(std::floor(loss.least / grid.step)) - 1;
  const auto last = static_cast<int64_t>(std::floor(loss.largest / grid.step)) + 2;
  Collector out(grid, first, last);
  for (const LossAtom& atom : loss.atoms) AddAtom(atom, grid, out);
  if (loss.piece) {
    grid.bound == Bound::kUpper ? AddPieceUpper(*loss.piece, grid, out)
                                : AddPieceLower(*loss.piece, grid, out);
  }
  const double slack = grid.bound == Bound::kUpper ? 1 + kMassSlack : 1 - kMassSlack;
  return std::move(out).Take(loss.infinity_mass * slack);
}

namespace {

// The logarithm of a scale, moved by more than its rounding to the side on which the bound holds.
double RoundedOutward(double log_scale, Bound bound) {
  const double rounding = (std::abs(log_scale) + 1) * kRoundings;
  return bound == Bound::kUpper ? log_scale + rounding : log_scale - rounding;
}

}  // namespace

GridMeasure Convolved(const GridMeasure& a, const GridMeasure& b, const LossGrid& grid) {
  GridMeasure result;
  result.first = a.first + b.first;
  result.log_scale = RoundedOutward(a.log_scale + b.log_scale, grid.bound);
  // Mass where either is infinite; the other's total is at most 1.
  result.infinity_mass = a.infinity_mass + b.infinity_mass;
  if (grid.bound == Bound::kLower) {
    result.infinity_mass = a.infinity_mass + b.infinity_mass - a.infinity_mass * b.infinity_mass;
  }
  Convolution convolution = Convolve(a.mass, b.mass);
  result.mass = std::move(convolution.values);
  const double relative = convolution.relative_error;
  if (grid.bound == Bound::kUpper) {
    for (double& mass : result.mass)
      mass = (std::max(mass, 0.0) * (1 + relative) + convolution.absolute_error) * (1 + kRoundings);
  } else {
    for (double& mass : result.mass)
      mass = std::max((mass * (1 - relative) - convolution.absolute_error) * (1 - kRoundings), 0.0);
  }
  return result;
}

namespace {

// The highest index such that all below it may be cut off, and what it then gains (tilted, upper bounds).
struct LeftCut {
  size_t kept_from = 0;
  double gain = 0;
};

LeftCut CutLeft(const GridMeasure& measure, const LossGrid& grid, double allowed) {
  const double lift = std::exp(grid.tilt * grid.step);
  LeftCut cut;
  double moved = 0;  // the masses below, all at the present index
  for (size_t i = 0; i + 1 < measure.mass.size(); ++i) {
    const double next = (moved + measure.mass[i]) * lift;
    // The whole original measure is at most 1 (a little more after rounding up).
    const double all =
        1.1 *
        std::exp(grid.tilt * static_cast<double>(measure.first + static_cast<int64_t>(i) + 1) * grid.step -
                 measure.log_scale);
    moved = std::min(next, all);
    if (moved > allowed) break;
    cut = {i + 1, moved};
  }
  return cut;
}

// How many cells on the right may be cut off, and their original mass.
struct RightCut {
  size_t cells = 0;
  double mass = 0;
};

RightCut CutRight(const GridMeasure& measure, const LossGrid& grid, double allowed, size_t most) {
  RightCut cut;
  double sum = 0;
  const auto last = measure.first + static_cast<int64_t>(measure.mass.size()) - 1;
  for (size_t cells = 1; cells <= most; ++cells) {
    const size_t i = measure.mass.size() - cells;
    const double loss = static_cast<double>(last - static_cast<int64_t>(cells) + 1) * grid.step;
    sum += measure.mass[i] * std::exp(measure.log_scale - grid.tilt * loss);
    if (!(sum <= allowed)) break;
    cut = {cells, sum};
  }
  return cut;
}

}  // namespace

void Trim(GridMeasure& measure, const LossGrid& grid, const CutOff& cut_off) {
  double total = 0;
  for (const double mass : measure.mass) total += mass;
  if (!(total > 0)) return;
  const LeftCut left = CutLeft(measure, grid, cut_off.left * total);
  const RightCut right = CutRight(measure, grid, cut_off.right, measure.mass.size() - left.kept_from - 1);
  measure.mass.resize(measure.mass.size() - right.cells);
  measure.mass.erase(measure.mass.begin(), measure.mass.begin() + static_cast<int64_t>(left.kept_from));
  measure.first += static_cast<int64_t>(left.kept_from);
  if (grid.bound == Bound::kUpper) {
    measure.mass.front() += left.gain;
    measure.infinity_mass += right.mass * (1 + kMassSlack);
  }
  const double raised = grid.bound == Bound::kUpper ? 1 + kRoundings : 1 - kRoundings;
  measure.log_scale = RoundedOutward(measure.log_scale + std::log(total), grid.bound);
  for (double& mass : measure.mass) mass = mass / total * raised;
}

}  // namespace curator::dp
