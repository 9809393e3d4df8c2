// Fits weights to noisy answers by multiplicative updates, replayed until they converge.
//
// The fit is the minimiser of
//
//   prior_weight * KL(weights | uniform) + sum over answers ((answer - q(weights)) / sigma)^2 / 2:
//
// close to every answer as far as its noise lets it be known, and otherwise as near to uniform as possible.
// Its dual has one number for each answer, lambda = (answer - q(weights)) / (prior_weight sigma^2), and the
// weights are base * exp(sum of lambda q). One update maximises over one answer's lambda exactly (over all
// cells of a marginal at once: they are disjoint), so it never overshoots, and stale or contradicting answers
// converge instead of diverging. With answers without noise an update is one step of iterative proportional
// fitting; its first-order form is the update of Hardt, Ligett, McSherry 2012, figure 1.
//
// Answers over the same attributes are updated together, in the cells of their marginal, so that a sweep
// passes over the weights once for each set of attributes, not for each answer.
//
// Not thread-safe. Everything here is a function of public noisy answers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"
#include "dp/synthesis/models/dense_layout.h"
#include "dp/synthesis/models/measured_set.h"
#include "dp/synthesis/models/product_component.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

struct Replayed {
  int64_t sweeps = 0;
  double largest_move = 0;  // of the fit to an answer between the last two sweeps, in standard deviations
};

class ProductFit {
 public:
  // Starts uniform, with `total` > 0 records. `layout` must outlive it.
  ProductFit(const DenseLayout& layout, double total);

  // Adds a measurement, which counts from the next replay on; with lambdas from another fit, the weights
  // are as they imply from the next Refresh() on. Errors: INVALID_ARGUMENT for a set that the layout does not
  // cover; CANCELLED as in Pacer.
  absl::Status Add(NoisyAnswers measurement, Pacer& pacer);
  absl::Status Adopt(WeighedAnswers measurement, Pacer& pacer);

  // Sweeps over all measurements until they have converged. Errors: CANCELLED as in Pacer.
  absl::StatusOr<Replayed> Replay(const ReplayRule& rule, Pacer& pacer);

  // Recomputes the weights from the factors. Errors: CANCELLED as in Pacer.
  absl::Status Refresh(Pacer& pacer);

  // As of the last replay.
  std::span<const float> weights() const { return weights_; }
  double base() const { return base_; }    // of ProductWeights()
  std::vector<LogFactor> factors() const;  // one for each set of attributes
  std::vector<WeighedAnswers> measurements() const;

 private:
  // Maximises over the lambdas of all answers over one set; returns the largest movement, since the last
  // time, of the fit to an answer, in standard deviations.
  absl::StatusOr<double> Update(size_t set, const ReplayRule& rule, Pacer& pacer);

  const DenseLayout& layout_;
  double base_;
  // One for each set of attributes that was measured:
  std::vector<DenseMarginal> marginals_;
  std::vector<MeasuredSet> sets_;
  std::vector<float> weights_;
  // How far a log-factor may have risen since the weights were last computed from them all.
  double risen_ = 0;
};

}  // namespace curator::dp
