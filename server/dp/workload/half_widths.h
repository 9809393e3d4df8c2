// The half widths of intervals around the answers of one release, at one level.
//
// Answers with errors alike share one. Each is that of its own distribution, by noise_sum.h or
// noise_combination.h, until kMostExact of them are known; estimates, also until kMostSteps steps were taken.
// Further ones are scaled from others by the standard deviation, and widened by what those differ in:
//
//   - Sums: from a shorter and a longer sum whose numbers of values differ by 5%, the wider of the two, and
//     half a record for the lattice.
//   - Estimates: from one whose kurtosis is nearly the same. Of a half width of c deviations, an excess
//     kurtosis of 3 makes c^2/8 (the first term of Cornish and Fisher): by that much for the difference, and
//     by 0.1% for the other terms, it is widened. This is no proof: the first terms of a series. So it is
//     replaced by the bound of noise_combination.h where that is at most 0.5% wider, which it is for Gaussian
//     noise whose deviation is some 30 or more, and where the noise is so small that its lattice would show.
//
// Not thread-safe. The same answers in the same order get the same half widths.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/noise/noise_spec.h"
#include "dp/workload/interval_tree.h"
#include "dp/workload/measurement.h"
#include "dp/workload/noise_combination.h"

namespace curator::dp {

// The weights of the measured values in an estimate with this error, Compacted().
using EstimateWeights = std::function<std::vector<WeightedValues>(const AnswerError&)>;

// Of the estimates that `tree` makes, which must outlive it.
EstimateWeights WeightsIn(const IntervalTree& tree);

class HalfWidths {
 public:
  static constexpr size_t kMostExact = 512;                // of each kind
  static constexpr int64_t kMostSteps = int64_t{1} << 25;  // for estimates, and again for what is scaled

  HalfWidths(const NoiseSpec& noise, double level);

  double level() const { return level_; }

  // Of a sum of measured values, or of an estimate with these weights; without weights, a bound. Errors:
  // INVALID_ARGUMENT ("confidence_level") unless 0 < level < 1.
  absl::StatusOr<double> Of(const AnswerError& error, const EstimateWeights& weights);

 private:
  absl::StatusOr<double> OfSum(int64_t terms);
  absl::StatusOr<double> OfEstimate(const AnswerError& error, const EstimateWeights& weights);
  // From its distribution, or its bound where that is less or `steps` are used up.
  absl::StatusOr<double> OfItsOwn(const AnswerError& error, const EstimateWeights& weights,
                                  int64_t& steps) const;
  // Of a sum, divided by the root of the number of values.
  absl::StatusOr<double> DeviationsOf(int64_t terms);

  const NoiseSpec noise_;
  const double level_;
  const double deviation_;  // of one measured value
  // Gaussian noise: the bound for an estimate of variance factor 1, less half of its largest weight.
  const std::optional<double> normal_width_;
  std::map<int64_t, double> sums_;
  std::map<int64_t, double> sum_ratios_;                 // on the grid
  std::map<std::pair<float, float>, double> estimates_;  // by the two factors
  std::map<int64_t, double> estimate_ratios_;            // by kurtosis
  int64_t steps_ = kMostSteps;
  int64_t ratio_steps_ = kMostSteps;
};

}  // namespace curator::dp
