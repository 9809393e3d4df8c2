#include "dp/accounting/numerical/composition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/numerical/fft.h"
#include "dp/accounting/numerical/grid_measure.h"
#include "dp/accounting/numerical/privacy_loss.h"

namespace curator::dp {
namespace {

constexpr double kWidestStep = 0.05;
constexpr double kMostMechanisms = 1e9;
// Of a mechanism, the tilt times the range of losses: beyond, its exponentials would underflow.
constexpr double kMostTiltedRange = 600;
// What truncation may add to delta, and to the tilted measure, relatively, in all.
constexpr double kRightShare = 1e-6;
constexpr double kLeftShare = 1e-8;
constexpr double kLevels = 64;
// How many standard deviations of a sum of losses are about what truncation leaves of it.
constexpr double kKeptDeviations = 20;
// By how much the steps of a composition may exceed their forecast.
constexpr double kForecastSlack = 2;
// Relative error of the sums over the final measure and of its scale.
constexpr double kSumSlack = 1e-9;

// The plan of a composition, fixed before any computation.
struct Frame {
  std::vector<CountedLoss> losses;
  double mechanisms = 0;
  double target = 0;  // the delta that matters, about
  LossGrid grid;
  NumericalLimits limits;

  // What one step may cut off that concerns `share` mechanisms.
  CutOff Allowance(double share) const {
    const double part = share / (mechanisms * kLevels);
    return {target * kRightShare * part, kLeftShare * part};
  }
};

double RoughMean(const std::vector<CountedLoss>& losses) {
  double mean = 0;
  for (const CountedLoss& loss : losses) mean += static_cast<double>(loss.count) * loss.loss.rough_mean;
  return mean;
}

// A Gaussian far narrower than a step is widened to a part of a step (upper: a larger mu dominates) or left
// out (lower).
void AdmitNarrowGaussian(Frame& frame) {
  const double least = frame.grid.step / 1000;
  for (auto at = frame.losses.begin(); at != frame.losses.end(); ++at) {
    if (!at->loss.gaussian_mu || *at->loss.gaussian_mu >= least) continue;
    if (frame.grid.bound == Bound::kLower) {
      frame.losses.erase(at);
      return;
    }
    at->loss.gaussian_mu = least;
    return;
  }
}

absl::Status TooWide() {
  return absl::OutOfRangeError("the schedule's losses span too wide a range");
}

// Composes losses. `Sums` says what a sum is: a measure, or only its length. It makes a Value of one loss
// (Once) and of two Values (Add).

// `count` times the same, by repeated squaring.
template <typename Sums>
absl::StatusOr<typename Sums::Value> Power(Sums& sums, typename Sums::Value base, int64_t count) {
  std::optional<typename Sums::Value> product;
  for (int64_t rest = count;; rest /= 2) {
    if (rest % 2 == 1) {
      if (product) {
        ASSIGN_OR_RETURN(product, sums.Add(*product, base));
      } else {
        product = base;
      }
    }
    if (rest <= 1) break;
    ASSIGN_OR_RETURN(base, sums.Add(base, base));
  }
  return *std::move(product);
}

// A subtree of the composition.
template <typename Value>
struct Branch {
  Value value;
  int rank = 0;
};

template <typename Sums>
absl::Status MergeLastTwo(Sums& sums, std::vector<Branch<typename Sums::Value>>& branches) {
  const Branch<typename Sums::Value> last = std::move(branches.back());
  branches.pop_back();
  Branch<typename Sums::Value>& before = branches.back();
  before.rank = std::max(before.rank, last.rank) + 1;
  ASSIGN_OR_RETURN(before.value, sums.Add(before.value, last.value));
  return absl::OkStatus();
}

// All losses of the frame, short ones first, in a balanced tree of which only one path is held at a time.
template <typename Sums>
absl::StatusOr<typename Sums::Value> Composed(const Frame& frame, Sums& sums) {
  std::vector<const CountedLoss*> order;
  for (const CountedLoss& loss : frame.losses) order.push_back(&loss);
  const auto length = [&](const CountedLoss* loss) {
    return CellsOf(loss->loss, frame.grid, frame.Allowance(1)) * std::sqrt(static_cast<double>(loss->count));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const CountedLoss* a, const CountedLoss* b) { return length(a) < length(b); });
  std::vector<Branch<typename Sums::Value>> branches;
  for (const CountedLoss* loss : order) {
    ASSIGN_OR_RETURN(typename Sums::Value all, Power(sums, sums.Once(loss->loss), loss->count));
    branches.push_back({std::move(all), 0});
    while (branches.size() > 1 && branches[branches.size() - 2].rank == branches.back().rank) {
      RETURN_IF_ERROR(MergeLastTwo(sums, branches));
    }
  }
  while (branches.size() > 1) RETURN_IF_ERROR(MergeLastTwo(sums, branches));
  return std::move(branches.front().value);
}

// The lengths that the measures are expected to have, and the steps that their convolutions take.
class Lengths {
 public:
  struct Value {
    double cells = 0;
    double mean = 0;
  };

  explicit Lengths(const Frame& frame) : frame_(frame) {}

  Value Once(const PrivacyLoss& loss) const {
    return {CellsOf(loss, frame_.grid, frame_.Allowance(1)) + 4, loss.rough_mean};
  }

  absl::StatusOr<Value> Add(const Value& a, const Value& b) {
    steps_ += ConvolutionSteps(a.cells, b.cells);
    const double mean = a.mean + b.mean;
    const double kept = kKeptDeviations * std::sqrt(2 * mean) / frame_.grid.step;
    return Value{std::min(a.cells + b.cells, std::max(kept, 1.0)), mean};
  }

  double steps() const { return steps_; }

 private:
  const Frame& frame_;
  double steps_ = 0;
};

bool IsWithinLimits(const Frame& frame, double mean) {
  double most = kKeptDeviations * std::sqrt(2 * mean) / frame.grid.step;
  double all = most;
  for (const CountedLoss& loss : frame.losses) {
    const double cells = CellsOf(loss.loss, frame.grid, frame.Allowance(1));
    most = std::max(most, cells);
    all += cells;
  }
  if (!(most <= frame.limits.most_cells_at_once && all <= frame.limits.most_cells_in_all)) return false;
  if (std::isinf(frame.limits.most_steps)) return true;
  Lengths lengths(frame);
  return Composed(frame, lengths).ok() && lengths.steps() <= frame.limits.most_steps;
}

absl::StatusOr<Frame> FrameOf(std::vector<CountedLoss> losses, double target, Bound bound,
                              const NumericalOptions& options) {
  Frame frame;
  frame.losses = std::move(losses);
  frame.limits = options.limits;
  frame.target = target;
  frame.grid.bound = bound;
  for (const CountedLoss& loss : frame.losses) frame.mechanisms += static_cast<double>(loss.count);
  if (frame.mechanisms > kMostMechanisms) return absl::OutOfRangeError("too many mechanisms");
  const double mean = std::max(RoughMean(frame.losses), 1e-30);
  frame.grid.tilt = std::sqrt(std::max(-std::log(target), 1.0) / mean);
  frame.grid.step = std::min(options.step, std::sqrt(2 * mean) / 50);
  for (const CountedLoss& loss : frame.losses) {
    const double range =
        loss.loss.gaussian_mu ? 27 * *loss.loss.gaussian_mu : loss.loss.largest - loss.loss.least;
    frame.grid.tilt = std::min(frame.grid.tilt, kMostTiltedRange / std::max(range, 1e-30));
  }
  // A coarser grid until it fits; the bounds stay valid.
  while (frame.grid.step <= kWidestStep && !IsWithinLimits(frame, mean)) frame.grid.step *= 2;
  if (frame.grid.step > kWidestStep) return TooWide();
  AdmitNarrowGaussian(frame);
  return frame;
}

// The measures themselves, trimmed after each convolution.
class Measures {
 public:
  struct Value {
    GridMeasure measure;
    double share = 1;  // the number of mechanisms
  };

  Measures(const Frame& frame, const std::stop_token& stop) : frame_(frame), stop_(stop) {}

  Value Once(const PrivacyLoss& loss) const {
    Value once{Discretized(loss, frame_.grid, frame_.Allowance(1))};
    Trim(once.measure, frame_.grid, frame_.Allowance(1));
    return once;
  }

  absl::StatusOr<Value> Add(const Value& a, const Value& b) {
    const auto cells_a = static_cast<double>(a.measure.mass.size());
    const auto cells_b = static_cast<double>(b.measure.mass.size());
    if (cells_a + cells_b > 2 * frame_.limits.most_cells_at_once) return TooWide();
    RETURN_IF_ERROR(CheckGoesOn(stop_));
    steps_ += ConvolutionSteps(cells_a, cells_b);
    if (steps_ > kForecastSlack * frame_.limits.most_steps) {
      return absl::OutOfRangeError("not computed here: it takes too many steps");
    }
    Value both{Convolved(a.measure, b.measure, frame_.grid), a.share + b.share};
    Trim(both.measure, frame_.grid, frame_.Allowance(both.share));
    return both;
  }

  double steps() const { return steps_; }

 private:
  const Frame& frame_;
  const std::stop_token& stop_;
  double steps_ = 0;
};

// The sums over all losses from i h on of P-mass and of Q-mass, cell by cell from the top, in the original
// measure.
class TailSums {
 public:
  TailSums(const GridMeasure& measure, const LossGrid& grid) : measure_(measure), grid_(grid) {
    next_ = static_cast<int64_t>(measure.mass.size()) - 1;
  }

  // Takes in one more cell; false when there is none.
  bool Next() {
    if (next_ < 0) return false;
    loss_ = static_cast<double>(measure_.first + next_) * grid_.step;
    const double mass =
        measure_.mass[static_cast<size_t>(next_)] * std::exp(measure_.log_scale - grid_.tilt * loss_);
    mass_ += mass;
    other_ += mass * std::exp(-loss_);
    --next_;
    return true;
  }

  double loss() const { return loss_; }
  double mass() const { return mass_; }
  double other() const { return other_; }

 private:
  const GridMeasure& measure_;
  LossGrid grid_;
  int64_t next_;
  double loss_ = 0;
  double mass_ = 0;
  double other_ = 0;
};

// delta(epsilon) is the largest of (mass - e^epsilon other) over all tails; so epsilon is the largest of
// ln((mass - delta)/other).
double UpperEpsilon(const GridMeasure& measure, const Frame& frame, double delta) {
  const double infinity = measure.infinity_mass * (1 + kSumSlack);
  if (!(infinity < delta)) return kInfinity;
  TailSums tail(measure, frame.grid);
  double epsilon = 0;
  while (tail.Next() && tail.loss() > epsilon) {
    const double excess = tail.mass() * (1 + kSumSlack) + infinity - delta;
    if (excess <= 0) continue;
    const double needed = std::log(excess / (tail.other() * (1 - kSumSlack))) + 1e-14;
    if (!std::isfinite(needed)) return kInfinity;
    epsilon = std::max(epsilon, needed);
  }
  return epsilon;
}

double LowerEpsilon(const GridMeasure& measure, const Frame& frame, double delta) {
  const double infinity = measure.infinity_mass * (1 - kSumSlack);
  if (infinity > delta) return kInfinity;
  TailSums tail(measure, frame.grid);
  double epsilon = 0;
  while (tail.Next() && tail.loss() > epsilon) {
    const double excess = tail.mass() * (1 - kSumSlack) + infinity - delta;
    if (excess <= 0) continue;
    epsilon = std::max(epsilon, std::log(excess / (tail.other() * (1 + kSumSlack))) - 1e-14);
  }
  return std::max(0.0, epsilon - frame.mechanisms * kLowerSnap * frame.grid.step);
}

double UpperDelta(const GridMeasure& measure, const Frame& frame, double epsilon) {
  TailSums tail(measure, frame.grid);
  double delta = 0;
  while (tail.Next() && tail.loss() > epsilon) {
    const double here = tail.mass() * (1 + kSumSlack) - std::exp(epsilon) * tail.other() * (1 - kSumSlack);
    if (!std::isfinite(here)) return 1;
    delta = std::max(delta, here);
  }
  return std::min(1.0, delta + measure.infinity_mass * (1 + kSumSlack));
}

double LowerDelta(const GridMeasure& measure, const Frame& frame, double epsilon) {
  const double shifted = epsilon + frame.mechanisms * kLowerSnap * frame.grid.step;
  TailSums tail(measure, frame.grid);
  double delta = 0;
  while (tail.Next() && tail.loss() > shifted) {
    const double here = tail.mass() * (1 - kSumSlack) - std::exp(shifted) * tail.other() * (1 + kSumSlack);
    delta = std::max(delta, here);
  }
  return std::clamp(delta + measure.infinity_mass * (1 - kSumSlack), 0.0, 1.0);
}

// The squared mu when all that is left is one Gaussian: its curve is known exactly.
std::optional<double> OnlyGaussian(const std::vector<CountedLoss>& losses) {
  if (losses.size() != 1 || losses.front().count != 1) return std::nullopt;
  return losses.front().loss.gaussian_mu;
}

// What follows from the largest losses alone: at this epsilon, delta is the mass at infinity (basic
// composition).
struct Extremes {
  double epsilon = 0;
  double infinity_mass = 0;
};

Extremes ExtremesOf(const std::vector<CountedLoss>& losses) {
  Extremes extremes;
  for (const CountedLoss& loss : losses) {
    const double count = static_cast<double>(loss.count) * (1 + 1e-12);
    extremes.epsilon += count * loss.loss.largest;
    extremes.infinity_mass += count * loss.loss.infinity_mass;
  }
  extremes.infinity_mass = std::min(1.0, extremes.infinity_mass);
  return extremes;
}

// Both sides of an answer by `read`, which takes a composed measure and its frame.
template <typename Read>
absl::StatusOr<CertifiedBounds> BothSides(const ScheduledLosses& scheduled, double target,
                                          const NumericalOptions& options, const Read& read) {
  CertifiedBounds bounds;
  const auto answer = [&](const Frame& frame) -> absl::StatusOr<double> {
    Measures measures(frame, options.stop);
    ASSIGN_OR_RETURN(const Measures::Value all, Composed(frame, measures));
    bounds.steps += measures.steps();
    return read(all.measure, frame);
  };
  bounds.upper = kInfinity;
  if (options.sides != Sides::kLower) {
    ASSIGN_OR_RETURN(const Frame above, FrameOf(scheduled.losses, target, Bound::kUpper, options));
    ASSIGN_OR_RETURN(bounds.upper, answer(above));
  }
  if (options.sides == Sides::kUpper || scheduled.attained == Attained::kNo) return bounds;
  ASSIGN_OR_RETURN(const Frame below, FrameOf(scheduled.losses, target, Bound::kLower, options));
  if (below.losses.empty()) return bounds;
  ASSIGN_OR_RETURN(bounds.lower, answer(below));
  return bounds;
}

absl::Status CheckStep(const NumericalOptions& options) {
  if (!(options.step > 0 && options.step <= kWidestStep)) {
    return InvalidField("step", "must be positive and at most 0.05");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CertifiedBounds> NumericalEpsilon(const Schedule& schedule, double delta,
                                                 const NumericalOptions& options) {
  if (!(delta > 0 && delta < 1)) return InvalidField("delta", "must be between 0 and 1");
  RETURN_IF_ERROR(CheckStep(options));
  ASSIGN_OR_RETURN(const ScheduledLosses scheduled, LossesOf(schedule, options.limits.most_atoms));
  if (scheduled.losses.empty()) return CertifiedBounds{0, 0};
  if (const std::optional<double> mu = OnlyGaussian(scheduled.losses)) {
    const double epsilon = GaussianEpsilon(Interval::OfDouble(*mu), Interval::OfDouble(delta));
    return CertifiedBounds{epsilon, epsilon * (1 - 1e-9)};
  }
  ASSIGN_OR_RETURN(CertifiedBounds bounds,
                   BothSides(scheduled, delta, options, [&](const GridMeasure& measure, const Frame& frame) {
                     return frame.grid.bound == Bound::kUpper ? UpperEpsilon(measure, frame, delta)
                                                              : LowerEpsilon(measure, frame, delta);
                   }));
  const Extremes extremes = ExtremesOf(scheduled.losses);
  if (extremes.infinity_mass <= delta) bounds.upper = std::min(bounds.upper, extremes.epsilon);
  return bounds;
}

absl::StatusOr<CertifiedBounds> NumericalDelta(const Schedule& schedule, double epsilon,
                                               const NumericalOptions& options) {
  if (!(epsilon >= 0 && epsilon <= 1e6)) return InvalidField("epsilon", "must be between 0 and 1e6");
  RETURN_IF_ERROR(CheckStep(options));
  ASSIGN_OR_RETURN(const ScheduledLosses scheduled, LossesOf(schedule, options.limits.most_atoms));
  if (scheduled.losses.empty()) return CertifiedBounds{0, 0};
  if (const std::optional<double> mu = OnlyGaussian(scheduled.losses)) {
    const Interval delta = GaussianDelta(Interval::OfDouble(*mu), Interval::OfDouble(epsilon));
    return CertifiedBounds{delta.Upper(), std::max(0.0, delta.Lower() * (1 - 1e-9))};
  }
  const Extremes extremes = ExtremesOf(scheduled.losses);
  if (extremes.epsilon <= epsilon) return CertifiedBounds{extremes.infinity_mass, std::nullopt};
  // By the tail of a normal loss, about: only the effort depends on it, not the validity.
  const double mean = RoughMean(scheduled.losses);
  const double beyond = std::max(0.0, epsilon - mean);
  const double target = std::max(1e-200, 0.5 * std::exp(-beyond * beyond / (4 * mean)));
  return BothSides(scheduled, target, options, [&](const GridMeasure& measure, const Frame& frame) {
    return frame.grid.bound == Bound::kUpper ? UpperDelta(measure, frame, epsilon)
                                             : LowerDelta(measure, frame, epsilon);
  });
}

}  // namespace curator::dp
