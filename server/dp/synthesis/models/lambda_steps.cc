#include "dp/synthesis/models/lambda_steps.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "dp/synthesis/models/portable_math.h"

namespace curator::dp {
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
