#include "dp/synthesis/models/product_fit.h"

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

// A float below 1e-45 is 0: no factor raises it again, although the log-factors that it stands for may rise.
// So a sum of such weights is taken to be this, which is more than it is, and no step overshoots.
constexpr double kLeastSum = 1e-36;
// The weights are computed anew from their log-factors once some of these may have risen by more than this
// (e^60 < 1e27) since the last time: a weight that was 0 is still negligible then.
constexpr double kMostRise = 60;

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

ProductFit::ProductFit(const DenseLayout& layout, double total)
    : layout_(layout), base_(total / static_cast<double>(layout.cells())) {
  weights_.assign(static_cast<size_t>(layout.cells()), static_cast<float>(base_));
}

absl::Status ProductFit::Add(NoisyAnswers measurement, Pacer& pacer) {
  const std::vector<double> none(measurement.answers.size());
  return Adopt({.measured = std::move(measurement), .lambdas = none, .fitted = none}, pacer);
}

absl::Status ProductFit::Adopt(WeighedAnswers measurement, Pacer& pacer) {
  const AttributeSet& set = measurement.measured.group.attributes;
  size_t place = 0;
  while (place < factors_.size() && factors_[place].set != set) ++place;
  if (place == factors_.size()) {
    ASSIGN_OR_RETURN(DenseMarginal dense, DenseMarginal::Create(layout_, set, pacer));
    factors_.push_back({set, std::vector<double>(static_cast<size_t>(dense.cells()))});
    marginals_.push_back(std::move(dense));
    members_.emplace_back();
  }
  RETURN_IF_ERROR(AdvanceBy(pacer, StepsOf(measurement.measured, factors_[place].logarithms.size())));
  AddLambdas(measurement, factors_[place].logarithms);
  members_[place].push_back(measurements_.size());
  measurements_.push_back(std::move(measurement));
  return absl::OkStatus();
}

absl::StatusOr<double> ProductFit::Update(size_t set, const ReplayRule& rule, Pacer& pacer) {
  std::vector<double>& logarithms = factors_[set].logarithms;
  MovingCells cells;
  ASSIGN_OR_RETURN(cells.weights, marginals_[set].Sum(weights_, pacer));
  for (double& weight : cells.weights) weight = std::max(weight, kLeastSum);
  cells.moved.assign(logarithms.size(), 0);
  const std::vector<size_t>& members = members_[set];
  double largest_move = 0;
  int64_t steps = 0;
  for (const size_t member : members) {
    WeighedAnswers& own = measurements_[member];
    const int64_t own_steps = StepsOf(own.measured, logarithms.size());
    RETURN_IF_ERROR(AdvanceBy(pacer, own_steps));
    largest_move = std::max(largest_move, UpdateFitted(own, cells.weights));
    steps += own_steps;
  }
  for (int inner = 0; inner < (members.size() > 1 ? kInnerSweeps : 1); ++inner) {
    RETURN_IF_ERROR(AdvanceBy(pacer, steps));
    for (size_t i = members.size(); i-- > 0;)
      UpdateAnswers(measurements_[members[i]], rule.prior_weight, cells);
  }
  std::vector<float> factors(logarithms.size());
  for (size_t cell = 0; cell < factors.size(); ++cell) {
    logarithms[cell] += cells.moved[cell];
    factors[cell] = static_cast<float>(PortableExp(cells.moved[cell]));
  }
  risen_ += std::max(0.0, *std::ranges::max_element(cells.moved));
  RETURN_IF_ERROR(risen_ > kMostRise ? Refresh(pacer) : marginals_[set].Scale(factors, weights_, pacer));
  return largest_move;
}

absl::StatusOr<Replayed> ProductFit::Replay(const ReplayRule& rule, Pacer& pacer) {
  Replayed replayed;
  while (replayed.sweeps < rule.most_sweeps) {
    replayed.largest_move = 0;
    for (size_t set = factors_.size(); set-- > 0;) {
      ASSIGN_OR_RETURN(const double move, Update(set, rule, pacer));
      replayed.largest_move = std::max(replayed.largest_move, move);
    }
    ++replayed.sweeps;
    if (replayed.largest_move <= rule.converged) break;
  }
  RETURN_IF_ERROR(Refresh(pacer));
  return replayed;
}

absl::Status ProductFit::Refresh(Pacer& pacer) {
  ASSIGN_OR_RETURN(weights_, ProductWeights(layout_, base_, factors_, marginals_, pacer));
  risen_ = 0;
  return absl::OkStatus();
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
