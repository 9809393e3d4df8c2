// Fits weights to noisy answers by multiplicative updates, replayed until they stop moving.
//
// The fit is the minimiser of  prior_weight * KL(weights | uniform) + sum over answers ((answer - weight) /
// sigma)^2 / 2: close to every answer as far as its noise lets it be known, and otherwise as near to uniform
// as possible. One update takes one measured marginal and optimises over its factors exactly, so it never
// overshoots, and stale or contradicting answers settle instead of diverging. With answers without noise an
// update is one step of iterative proportional fitting; its first-order form is the update of Hardt, Ligett,
// McSherry 2012, figure 1.
//
// Not thread-safe. Everything here is a function of public noisy answers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/dense/dense_layout.h"
#include "dp/synthesis/dense/product_weights.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// Noisy counts of a marginal.
struct NoisyMarginal {
  AttributeSet set;
  std::vector<double> answers;
  double standard_deviation = 1;  // of each answer's noise
};

struct ReplayRule {
  int64_t most_sweeps = 100;
  // A sweep over all answers that moves no cell by more than this many standard deviations of its noise is
  // the last.
  double settled = 0.01;
  // The weight of the distance from uniform (a sum over records) against that of one squared normalised
  // error.
  double prior_weight = 1;
};

class ProductFit {
 public:
  // Starts uniform, with `total` > 0 records. `layout` must outlive it.
  ProductFit(const DenseLayout& layout, double total);

  // One more measurement, to be heeded from the next replay on. Errors: INVALID_ARGUMENT for a set that the
  // layout does not cover; CANCELLED as in Pacer.
  absl::Status Add(NoisyMarginal marginal, Pacer& pacer);

  // Sweeps over all measurements until they are settled. Errors: CANCELLED as in Pacer.
  absl::Status Replay(const ReplayRule& rule, Pacer& pacer);

  // As of the last replay.
  std::span<const float> weights() const { return weights_; }
  double base() const { return base_; }  // of ProductWeights()
  const std::vector<LogFactor>& factors() const { return factors_; }

 private:
  // Maximises over one measurement's factors; returns the largest movement of a cell in standard deviations.
  absl::StatusOr<double> Update(size_t measurement, double prior_weight, Pacer& pacer);

  const DenseLayout& layout_;
  double base_;
  std::vector<NoisyMarginal> measured_;
  std::vector<DenseMarginal> marginals_;
  std::vector<LogFactor> factors_;
  std::vector<float> weights_;
};

// The root of  step + gain * weight * e^step = goal  for gain * weight >= 0: how far a log-factor moves when
// its cell, now `weight`, is maximised over alone. The same bits on every machine.
double RelaxedStep(double gain, double weight, double goal);

}  // namespace curator::dp
