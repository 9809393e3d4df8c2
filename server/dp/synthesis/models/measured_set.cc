#include "dp/synthesis/models/measured_set.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <variant>

#include "base/status_macros.h"
#include "dp/synthesis/models/portable_math.h"

namespace curator::dp {
namespace {

// Answers over the same attributes are swept so often, at most, in each sweep over the weights.
constexpr int kInnerSweeps = 8;

// The cells of one marginal while its answers are updated: their weights, and by how much their log-factors
// have moved.
struct MovingCells {
  std::vector<double> weights;
  std::vector<double> moved;
};

// Over all cells of a marginal.
void UpdateCells(WeighedAnswers& own, double gain, MovingCells& cells) {
  for (size_t cell = 0; cell < own.lambdas.size(); ++cell) {
    const double goal = gain * own.measured.answers[cell] - own.lambdas[cell];
    const double step = std::clamp(RelaxedStep(gain, cells.weights[cell], goal), -kMostStep, kMostStep);
    own.lambdas[cell] += step;
    cells.moved[cell] += step;
    cells.weights[cell] *= PortableExp(step);
  }
}

// Over one listed query.
void UpdateQuery(const LinearQuery& query, size_t index, WeighedAnswers& own, double gain,
                 MovingCells& cells) {
  const double goal = gain * own.measured.answers[index] - own.lambdas[index];
  const double step = RelaxedStep(gain, MassesOf(query, cells.weights), goal);
  own.lambdas[index] += step;
  int32_t last_weight = 0;
  double factor = 1;
  for (const WeightedCell& term : query) {
    if (term.weight != last_weight) {
      factor = PortableExp(term.weight * step);
      last_weight = term.weight;
    }
    cells.weights[term.cell] *= factor;
    cells.moved[term.cell] += term.weight * step;
  }
}

const std::vector<LinearQuery>* QueriesOf(const NoisyAnswers& measured) {
  return std::get_if<std::vector<LinearQuery>>(&measured.group.queries);
}

void UpdateAnswers(WeighedAnswers& own, double prior_weight, MovingCells& cells) {
  const double deviation = own.measured.standard_deviation;
  const double gain = 1 / (prior_weight * deviation * deviation);
  const std::vector<LinearQuery>* queries = QueriesOf(own.measured);
  if (queries == nullptr) return UpdateCells(own, gain, cells);
  for (size_t i = 0; i < queries->size(); ++i) UpdateQuery((*queries)[i], i, own, gain, cells);
}

// Recomputes the fit to each answer; returns the largest movement since the last time, in standard
// deviations.
double UpdateFitted(WeighedAnswers& own, std::span<const double> cells) {
  const std::vector<LinearQuery>* queries = QueriesOf(own.measured);
  double largest_move = 0;
  for (size_t i = 0; i < own.fitted.size(); ++i) {
    double fitted = 0;
    if (queries == nullptr) {
      fitted = cells[i];
    } else {
      for (const WeightedCell& term : (*queries)[i]) fitted += term.weight * cells[term.cell];
    }
    largest_move = std::max(largest_move, std::abs(fitted - own.fitted[i]));
    own.fitted[i] = fitted;
  }
  return largest_move / own.measured.standard_deviation;
}

// Adds what the lambdas of a measurement make of each cell's log-factor.
void AddLambdas(const WeighedAnswers& own, std::vector<double>& logarithms) {
  const std::vector<LinearQuery>* queries = QueriesOf(own.measured);
  if (queries == nullptr) {
    for (size_t cell = 0; cell < logarithms.size(); ++cell) logarithms[cell] += own.lambdas[cell];
    return;
  }
  for (size_t i = 0; i < queries->size(); ++i) {
    for (const WeightedCell& term : (*queries)[i]) logarithms[term.cell] += term.weight * own.lambdas[i];
  }
}

// Elementary steps of one sweep over the answers.
int64_t StepsOf(const NoisyAnswers& measured, size_t cells) {
  const std::vector<LinearQuery>* queries = QueriesOf(measured);
  if (queries == nullptr) return static_cast<int64_t>(cells);
  size_t terms = 0;
  for (const LinearQuery& query : *queries) terms += query.size();
  return static_cast<int64_t>(terms);
}

// Counts `steps` that are about to be done at once, piece by piece.
absl::Status AdvanceBy(Pacer& pacer, int64_t steps) {
  for (; steps > Pacer::kMostSteps; steps -= Pacer::kMostSteps)
    RETURN_IF_ERROR(pacer.Advance(Pacer::kMostSteps));
  return pacer.Advance(steps);
}

}  // namespace

MeasuredSet::MeasuredSet(AttributeSet set, int64_t cells)
    : factor_{.set = std::move(set), .logarithms = std::vector<double>(static_cast<size_t>(cells))} {}

absl::Status MeasuredSet::Add(WeighedAnswers measurement, Pacer& pacer) {
  RETURN_IF_ERROR(AdvanceBy(pacer, StepsOf(measurement.measured, factor_.logarithms.size())));
  AddLambdas(measurement, factor_.logarithms);
  measurements_.push_back(std::move(measurement));
  return absl::OkStatus();
}

absl::StatusOr<MeasuredSet::Moved> MeasuredSet::Update(const ReplayRule& rule, std::vector<double>& weights,
                                                       Pacer& pacer) {
  MovingCells cells{.weights = std::move(weights), .moved = std::vector<double>(factor_.logarithms.size())};
  Moved moved;
  int64_t steps = 0;
  for (WeighedAnswers& own : measurements_) {
    const int64_t own_steps = StepsOf(own.measured, factor_.logarithms.size());
    RETURN_IF_ERROR(AdvanceBy(pacer, own_steps));
    moved.largest = std::max(moved.largest, UpdateFitted(own, cells.weights));
    steps += own_steps;
  }
  for (int inner = 0; inner < (measurements_.size() > 1 ? kInnerSweeps : 1); ++inner) {
    RETURN_IF_ERROR(AdvanceBy(pacer, steps));
    for (size_t i = measurements_.size(); i-- > 0;) UpdateAnswers(measurements_[i], rule.prior_weight, cells);
  }
  for (size_t cell = 0; cell < cells.moved.size(); ++cell) factor_.logarithms[cell] += cells.moved[cell];
  weights = std::move(cells.weights);
  moved.logarithms = std::move(cells.moved);
  return moved;
}

namespace {

struct ValueAndSlope {
  double value = 0;
  double slope = 0;
};

// Of the equation's left side less its right, which rises.
ValueAndSlope At(double step, double gain, std::span<const CountedMass> masses, double goal) {
  ValueAndSlope at{.value = step - goal, .slope = 1};
  for (const CountedMass& mass : masses) {
    const double term = gain * mass.times * mass.weight * PortableExp(mass.times * step);
    at.value += term;
    at.slope += mass.times * term;
  }
  return at;
}

}  // namespace

double RelaxedStep(double gain, double weight, double goal) {
  const double slope = gain * weight;
  if (!(slope > 0)) return goal;
  // Newton's method on a convex increasing function: after its first step it comes down to the root from
  // above.
  double step = 0;
  for (int iteration = 0; iteration < 60; ++iteration) {
    const double exponential = slope * PortableExp(step);
    const double move = (step + exponential - goal) / (1 + exponential);
    step -= move;
    if (std::abs(move) < 1e-12 * (1 + std::abs(step))) break;
  }
  return step;
}

double RelaxedStep(double gain, std::span<const CountedMass> masses, double goal) {
  double most = 0;
  for (const CountedMass& mass : masses) most = std::max(most, std::abs(mass.times));
  double high = kMostStep / most;
  double low = -high;
  if (At(high, gain, masses, goal).value <= 0) return high;
  if (At(low, gain, masses, goal).value >= 0) return low;
  // Newton's method, halving the bracket where it would leave it.
  double step = 0;
  for (int iteration = 0; iteration < 100; ++iteration) {
    const auto [value, slope] = At(step, gain, masses, goal);
    (value > 0 ? high : low) = step;
    double next = step - value / slope;
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    const double move = next - step;
    step = next;
    if (std::abs(move) < 1e-12 * (1 + std::abs(step))) break;
  }
  return step;
}

std::vector<CountedMass> MassesOf(const LinearQuery& query, std::span<const double> cells) {
  std::map<int32_t, double> sums;
  auto current = sums.end();
  for (const WeightedCell& term : query) {
    if (current == sums.end() || current->first != term.weight) current = sums.try_emplace(term.weight).first;
    current->second += cells[term.cell];
  }
  std::vector<CountedMass> masses;
  for (const auto& [times, weight] : sums) masses.push_back({static_cast<double>(times), weight});
  return masses;
}

}  // namespace curator::dp
