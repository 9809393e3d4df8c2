#include "dp/synthesis/mwem/product_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/status_macros.h"
#include "dp/synthesis/dense/portable_exp.h"

namespace curator::dp {
namespace {

// No single update moves a log-factor further; the next sweep may move it again.
constexpr double kMostStep = 20;

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

ProductFit::ProductFit(const DenseLayout& layout, double total)
    : layout_(layout), base_(total / static_cast<double>(layout.cells())) {
  weights_.assign(static_cast<size_t>(layout.cells()), static_cast<float>(base_));
}

absl::Status ProductFit::Add(NoisyMarginal marginal, Pacer& pacer) {
  ASSIGN_OR_RETURN(DenseMarginal dense, DenseMarginal::Create(layout_, marginal.set, pacer));
  factors_.push_back({marginal.set, std::vector<double>(marginal.answers.size())});
  marginals_.push_back(std::move(dense));
  measured_.push_back(std::move(marginal));
  return absl::OkStatus();
}

absl::StatusOr<double> ProductFit::Update(size_t measurement, double prior_weight, Pacer& pacer) {
  const NoisyMarginal& measured = measured_[measurement];
  std::vector<double>& logarithms = factors_[measurement].logarithms;
  const double gain = 1 / (prior_weight * measured.standard_deviation * measured.standard_deviation);
  ASSIGN_OR_RETURN(const std::vector<double> sums, marginals_[measurement].Sum(weights_, pacer));
  std::vector<float> factors(sums.size());
  double largest_move = 0;
  for (size_t cell = 0; cell < sums.size(); ++cell) {
    const double goal = gain * measured.answers[cell] - logarithms[cell];
    const double step = std::clamp(RelaxedStep(gain, sums[cell], goal), -kMostStep, kMostStep);
    const double factor = PortableExp(step);
    logarithms[cell] += step;
    factors[cell] = static_cast<float>(factor);
    largest_move = std::max(largest_move, std::abs(sums[cell] * (factor - 1)) / measured.standard_deviation);
  }
  RETURN_IF_ERROR(marginals_[measurement].Scale(factors, weights_, pacer));
  return largest_move;
}

absl::Status ProductFit::Replay(const ReplayRule& rule, Pacer& pacer) {
  for (int64_t sweep = 0; sweep < rule.most_sweeps; ++sweep) {
    double largest_move = 0;
    for (size_t i = measured_.size(); i-- > 0;) {
      ASSIGN_OR_RETURN(const double move, Update(i, rule.prior_weight, pacer));
      largest_move = std::max(largest_move, move);
    }
    if (largest_move <= rule.settled) break;
  }
  ASSIGN_OR_RETURN(weights_, ProductWeights(layout_, base_, factors_, marginals_, pacer));
  return absl::OkStatus();
}

}  // namespace curator::dp
