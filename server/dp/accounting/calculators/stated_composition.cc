#include "dp/accounting/calculators/stated_composition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "absl/status/status.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/units.h"

namespace curator::dp {
namespace {

Interval StatedDeltas(const std::vector<Stated>& stated) {
  Interval sum(0);
  for (const Stated& s : stated) sum = sum + Interval(s.count) * s.delta;
  return sum;
}

bool IsPositive(const Interval& value) {
  return value.CertainlyAbove(Interval(0));
}

Interval LogOfInverseSlack(const Interval& slack) {
  return -Log(slack);
}

}  // namespace

std::optional<std::vector<Stated>> StatedOf(const Schedule& schedule) {
  std::vector<Stated> stated;
  for (const CountedEvent& part : schedule) {
    if (const auto* e = std::get_if<ApproximateEvent>(&part.event.what)) {
      stated.push_back({Interval::Of(e->epsilon), Interval::Of(e->delta), part.count});
      continue;
    }
    const std::optional<Interval> epsilon = EpsilonOf(part.event);
    if (!epsilon) return std::nullopt;
    stated.push_back({*epsilon, Interval(0), part.count});
  }
  return stated;
}

Interval SlackOf(const std::vector<Stated>& stated, const Interval& delta) {
  Interval log_kept(0);
  for (const Stated& s : stated) log_kept = log_kept + Interval(s.count) * Log1p(-s.delta);
  const Interval kept = Exp(log_kept);
  // The quotient would be NaN, which is not below 0: as if something were left.
  if (!IsPositive(kept)) return Interval(-1);
  // 1 - (1 - delta)/kept = (kept - (1 - delta))/kept, with kept - 1 = expm1(log_kept).
  return (Expm1(log_kept) + delta) / kept;
}

absl::StatusOr<double> BasicEpsilon(const Schedule& schedule, const Interval& delta) {
  Interval epsilons(0);
  Interval deltas(0);
  int64_t gaussians = 0;
  for (const CountedEvent& part : schedule) {
    if (std::holds_alternative<GaussianEvent>(part.event.what)) {
      ASSIGN_OR_RETURN(gaussians, CheckedAdd(gaussians, part.count));
    } else if (const auto* e = std::get_if<ApproximateEvent>(&part.event.what)) {
      epsilons = epsilons + Interval(part.count) * Interval::Of(e->epsilon);
      deltas = deltas + Interval(part.count) * Interval::Of(e->delta);
    } else if (const std::optional<Interval> epsilon = EpsilonOf(part.event)) {
      epsilons = epsilons + Interval(part.count) * *epsilon;
    } else {
      return absl::FailedPreconditionError("basic composition cannot count " + Describe(part.event));
    }
  }
  if (deltas.CertainlyAbove(delta)) return kInfinity;
  if (gaussians == 0) return epsilons.Upper();
  const Interval share = (delta - deltas) / Interval(gaussians);
  if (!IsPositive(share)) return kInfinity;
  for (const CountedEvent& part : schedule) {
    if (!std::holds_alternative<GaussianEvent>(part.event.what)) continue;
    const double epsilon = GaussianEpsilon(Sqrt(*SquaredMuOf(part.event)), share);
    epsilons = epsilons + Interval(part.count) * Interval::OfDouble(epsilon);
  }
  return epsilons.Upper();
}

double DworkRothblumVadhan(const Stated& stated, const Interval& delta) {
  const Interval count(stated.count);
  const Interval slack = delta - count * stated.delta;
  if (!IsPositive(slack)) return kInfinity;
  return (Sqrt(Interval(2) * count * LogOfInverseSlack(slack)) * stated.epsilon +
          count * stated.epsilon * Expm1(stated.epsilon))
      .Upper();
}

double KairouzOhViswanathSimple(const Stated& stated, const Interval& delta) {
  const Interval count(stated.count);
  const Interval slack = SlackOf({stated}, delta);
  if (!IsPositive(slack)) return kInfinity;
  return (count * stated.epsilon * Tanh(stated.epsilon / Interval(2)) +
          stated.epsilon * Sqrt(Interval(2) * count * LogOfInverseSlack(slack)))
      .Upper();
}

double HeterogeneousBound::least() const {
  return *std::min_element(terms.begin(), terms.end());
}

HeterogeneousBound KairouzOhViswanathHeterogeneous(const std::vector<Stated>& stated, const Interval& delta) {
  const Interval slack = SlackOf(stated, delta);
  const bool none_left = Interval(0).CertainlyAbove(slack);
  Interval sum(0);
  Interval drift(0);
  Interval squares(0);
  for (const Stated& s : stated) {
    const Interval count(s.count);
    sum = sum + count * s.epsilon;
    drift = drift + count * s.epsilon * Tanh(s.epsilon / Interval(2));
    squares = squares + count * s.epsilon * s.epsilon;
  }
  if (none_left) return {{kInfinity, kInfinity, kInfinity}};
  if (!IsPositive(slack)) return {{sum.Upper(), kInfinity, kInfinity}};
  const Interval e = Exp(Interval(1));
  return {{sum.Upper(), (drift + Sqrt(Interval(2) * squares * Log(e + Sqrt(squares) / slack))).Upper(),
           (drift + Sqrt(Interval(2) * squares * LogOfInverseSlack(slack))).Upper()}};
}

double WhitehouseValue(const std::vector<Stated>& stated, const Interval& delta) {
  const Interval slack = delta - StatedDeltas(stated);
  if (!IsPositive(slack)) return kInfinity;
  Interval squares(0);
  for (const Stated& s : stated) squares = squares + Interval(s.count) * s.epsilon * s.epsilon;
  return (Sqrt(Interval(2) * LogOfInverseSlack(slack) * squares) + squares / Interval(2)).Upper();
}

namespace {

constexpr int64_t kMostCells = int64_t{1} << 22;
constexpr double kMostSteps = 4e9;
constexpr int64_t kMostRepetitions = 200'000;
// Epsilons are measured on the grid of their own units.
constexpr int64_t kUnitsPerOne = kEpsilonUnitsPerOne;

// P[j of `count` responses are the likelier one] for j = 0..count, enclosed.
std::vector<Interval> Likelier(const Interval& epsilon, int64_t count) {
  // C(count, j) e^(j eps) / (1 + e^eps)^count, from j = 0 up.
  const Interval odds = Exp(epsilon);
  std::vector<Interval> masses;
  masses.reserve(static_cast<size_t>(count) + 1);
  Interval mass = Exp(-(Interval(count) * Log1p(odds)));
  for (int64_t j = 0; j <= count; ++j) {
    masses.push_back(mass);
    mass = mass * odds * Quotient({count - j}, {j + 1});
  }
  return masses;
}

// The epsilon of one kind of mechanism, in closed form: delta(epsilon) is the largest over j of
// A_j - e^epsilon B_j, with A_j, B_j the masses of the outcomes from j up under both neighbours; so it is at
// most d' when epsilon is at least ln((A_j - d')/B_j) for every j.
double HomogeneousOptimum(const Stated& stated, const Interval& slack) {
  const std::vector<Interval> masses = Likelier(stated.epsilon, stated.count);
  Interval above(0);
  Interval above_other(0);
  double least = 0;
  for (int64_t j = stated.count; 2 * j > stated.count; --j) {
    const Interval& mass = masses[static_cast<size_t>(j)];
    above = above + mass;
    above_other = above_other + mass * Exp(-(Interval(2 * j - stated.count) * stated.epsilon));
    // An excess that is not certainly positive is at most a rounding error: it asks for no epsilon above 0.
    const Interval excess = above - slack;
    if (!excess.CertainlyAbove(Interval(0))) continue;
    least = std::max(least, Log(excess / above_other).Upper());
  }
  return least;
}

// Different epsilons, all multiples of one measure: the sum of the losses +-eps_i is one of finitely many.
class ResponseGrid {
 public:
  static absl::StatusOr<ResponseGrid> Make(const std::vector<Stated>& stated) {
    std::vector<int64_t> units;
    int64_t measure = 0;
    for (const Stated& s : stated) {
      ASSIGN_OR_RETURN(const int64_t up, UnitsUp(s.epsilon));
      units.push_back(up);
      measure = std::gcd(measure, up);
    }
    ResponseGrid grid;
    grid.measure_ = std::max<int64_t>(measure, 1);
    double cells = 1;
    double steps = 0;
    for (size_t i = 0; i < stated.size(); ++i) {
      cells += static_cast<double>(units[i] / grid.measure_) * static_cast<double>(stated[i].count);
      steps += static_cast<double>(stated[i].count) * cells;
    }
    if (cells > static_cast<double>(kMostCells) || steps > kMostSteps) {
      return absl::OutOfRangeError("the epsilons have no common measure that is coarse enough");
    }
    grid.masses_ = {1.0};
    for (size_t i = 0; i < stated.size(); ++i) grid.Add(units[i], stated[i].count);
    return grid;
  }

  // As in HomogeneousOptimum(). Sums and products of positive doubles err by a few units in the last place
  // each; `slop` covers them all, and mass lost to underflow, which only the smaller sum would miss, lowers
  // it as a bound must.
  double LeastEpsilon(double slack) const {
    const double slop = 1 + 1e-15 * static_cast<double>(operations_ + 8);
    const auto cells = static_cast<int64_t>(masses_.size());
    double above = 0;
    double above_other = 0;
    double least = 0;
    for (int64_t k = cells - 1; 2 * k > cells - 1; --k) {
      const double loss = static_cast<double>(2 * k - (cells - 1)) * static_cast<double>(measure_) /
                          static_cast<double>(kUnitsPerOne);
      const double mass = masses_[static_cast<size_t>(k)];
      above += mass;
      above_other += mass * std::exp(-loss);
      const double excess = above * slop - slack;
      if (excess <= 0 || above_other <= 0) continue;
      least = std::max(least, std::log(excess / above_other * slop) + 1e-15);
    }
    return least;
  }

 private:
  // The least number of units at or above an epsilon. An epsilon that is a whole number of units is
  // recognised: other quotients of int64s differ from one by far more than 1e-40.
  static absl::StatusOr<int64_t> UnitsUp(const Interval& epsilon) {
    const Interval hair = Quotient({1}, {kUnitsPerOne, kUnitsPerOne, kUnitsPerOne, 10'000});
    return ((epsilon - hair) * Interval(kUnitsPerOne)).RoundedUp();
  }

  void Add(int64_t units, int64_t count) {
    const int64_t step = units / measure_;
    const std::vector<Interval> likelier = Likelier(Quotient({units}, {kUnitsPerOne}), count);
    std::vector<double> sum(masses_.size() + static_cast<size_t>(step * count), 0.0);
    for (size_t j = 0; j < likelier.size(); ++j) {
      const double weight = likelier[j].Upper();
      const size_t offset = j * static_cast<size_t>(step);
      for (size_t k = 0; k < masses_.size(); ++k) sum[offset + k] += weight * masses_[k];
    }
    masses_ = std::move(sum);
    operations_ += count + 4;
  }

  int64_t measure_ = 1;
  int64_t operations_ = 0;
  std::vector<double> masses_;  // masses_[k]: loss (2k - (size - 1)) times the measure
};

}  // namespace

absl::StatusOr<double> KairouzOhViswanathGrid(const Stated& stated, const Interval& delta) {
  if (stated.count > kMostRepetitions) return absl::OutOfRangeError("too many repetitions");
  const Interval slack = SlackOf({stated}, delta);
  if (Interval(0).CertainlyAbove(slack)) return kInfinity;
  const std::vector<Interval> masses = Likelier(stated.epsilon, stated.count);
  // delta_i is the sum over l < i of C(t, l) (e^((t-l) eps) - e^((t-2i+l) eps)) / (1 + e^eps)^t.
  double least = (Interval(stated.count) * stated.epsilon).Upper();
  Interval above(0);
  Interval above_other(0);
  for (int64_t i = 1; 2 * i <= stated.count; ++i) {
    const int64_t j = stated.count - (i - 1);
    const Interval& mass = masses[static_cast<size_t>(j)];
    above = above + mass;
    above_other = above_other + mass * Exp(-(Interval(2 * j - stated.count) * stated.epsilon));
    const Interval at = Interval(stated.count - 2 * i) * stated.epsilon;
    if (!(above - Exp(at) * above_other).CertainlyAtMost(slack)) break;
    least = at.Upper();
  }
  return least;
}

absl::StatusOr<double> OptimalPureEpsilon(const std::vector<Stated>& stated, const Interval& delta) {
  for (const Stated& s : stated) {
    if (s.count > kMostRepetitions) return absl::OutOfRangeError("too many repetitions");
  }
  const Interval slack = SlackOf(stated, delta);
  if (Interval(0).CertainlyAbove(slack)) return kInfinity;
  if (stated.size() == 1) return HomogeneousOptimum(stated.front(), slack);
  ASSIGN_OR_RETURN(const ResponseGrid grid, ResponseGrid::Make(stated));
  return grid.LeastEpsilon(std::max(slack.Lower(), 0.0));
}

}  // namespace curator::dp
