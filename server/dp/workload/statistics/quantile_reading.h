// Quantiles of groups, read from the noisy counts of a tree of blocks of codes.
//
// The quantile q of a group of n records is the first code up to which there are at least q n of them. Let
// P(v) be the least squares estimate of the number up to code v and T that of all (interval_tree.h), and
// L(v) = P(v) - q T. The true L at the quantile's code is not negative, and at the code before it is
// negative. L is off by a combination of the noise with known weights, whose half width w(v)
// noise_combination.h has. So the interval from the first code with L(v) >= -w(v) to the last one with L(v -
// 1) <= w(v - 1) holds the quantile's code with at least the level: each end errs with half of the
// probability that the level leaves.
//
// It holds it more often where single codes have many records, because it has whole codes, and where many
// codes have few, because any of them can be the first that is not excluded: the interval is up to 1.8 times
// as wide as w then. Ranks that are made to rise first would give narrower intervals, which hold a quantile
// less often than stated where a stretch of codes has no records (92% at 95%): their running minimum is too
// low at its beginning.
//
// The estimate is the first code at which the mean of the running maximum of P from the left and of its
// running minimum from the right, which rises, reaches q T. It lies in the interval.
//
// Half widths of codes whose weights have nearly the same kurtosis are scaled from one of them by the
// standard deviation (half_widths.h has the same), and widened: their excess kurtosis differs by 0.05 at
// most, which makes (c^2 - 3) / 480 of a half width of c deviations, and 0.3% is added at least. Noise so
// small that its lattice shows has a half width of its own for each code; those that exceed the steps of a
// reader have the bound of noise_combination.h, with 1 for the largest weight, which none exceeds.
//
// Not thread-safe: remembers half widths. The same groups in the same order get the same codes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/noise/noise_spec.h"
#include "dp/workload/interval_tree.h"

namespace curator::dp {

struct QuantileCodes {
  std::optional<int64_t> code;  // none where the estimated number of records is not positive
  int64_t low = 0;
  int64_t high = 0;
};

// Of one quantile, for any number of groups that were measured alike.
class QuantileReader {
 public:
  // For all half widths of a request, of some 20 ns each.
  static constexpr int64_t kMostSteps = int64_t{1} << 25;

  // `tree` must outlive it. 0 < level < 1. `steps`: its share of kMostSteps.
  QuantileReader(const IntervalTree& tree, const NoiseSpec& noise, int32_t thousandths, double level,
                 int64_t steps = kMostSteps);

  // From a group's estimates of the number of records up to each code.
  QuantileCodes Read(std::span<const double> ranks);

  // w(v).
  double HalfWidth(int64_t code);

 private:
  double WidthOf(int64_t code);
  double DeviationsOf(int64_t code, const IntervalTree::WeightSums& sums);
  double BoundOf(double sum_of_squares);

  const IntervalTree& tree_;
  const NoiseSpec noise_;
  const double share_;
  const double level_;
  const double deviation_;      // of one value
  double cap_ = 0;              // of any half width
  std::vector<double> widths_;  // of each code; NaN where it was not needed yet
  std::map<int64_t, double> deviations_by_kurtosis_;
  std::map<int64_t, double> bounds_by_squares_;
  int64_t steps_;
};

// The numbers up to each code of a group, from its values level by level, the bins first.
std::vector<double> RanksOf(const IntervalTree& tree, std::span<const int64_t> measured);

// Whether quantiles can be taken of a column of the domain: it has numbers, or bins in their order.
bool HasOrderedNumbers(const Domain& domain, uint32_t column);

// The numbers that a code of such a column stands for: all the same for a code of one number; else the ends
// of the bin and its middle.
struct BinNumbers {
  double low = 0;
  double middle = 0;
  double high = 0;
};
BinNumbers NumbersOfCode(const Domain& domain, uint32_t column, int64_t code);

}  // namespace curator::dp
