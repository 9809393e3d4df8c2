// Hierarchical measurement of one ordered attribute: nested intervals of bins, and the best estimate of any
// interval from their noisy counts.
//
// Level 0 are the bins themselves; an interval of level l + 1 joins `branching` neighbours of level l, the
// last one what is left; the last level has at most `branching` intervals. The whole, their sum, is not
// measured. A record lies in one interval of each level, so the L1 sensitivity of all of them is the number
// of levels (Hay, Rastogi, Miklau, Suciu, "Boosting the accuracy of differentially private histograms through
// consistency", 2010).
//
// Estimates are the least squares solution: of all linear unbiased estimates from independent measurements of
// equal variance it has the least variance for every interval (Gauss-Markov), whatever the noise. It is found
// by two passes over the tree (section 4.1 there for complete trees; here for any, by the precision of each
// subtree's own estimate).
//
// Thread-safe: immutable values and pure functions; the same input gives the same doubles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dp/queries/linear_queries.h"

namespace curator::dp {

class IntervalTree {
 public:
  // Both at least 1 and 2, `bins` at most kMaxAttributeSize.
  IntervalTree(int64_t bins, int64_t branching);

  int64_t bins() const { return bins_; }
  int64_t branching() const { return branching_; }
  size_t levels() const { return offsets_.size() - 1; }
  int64_t nodes() const { return offsets_.back(); }

  // The intervals that are measured: level by level, the bins first, each level in order.
  Boxes Intervals() const;

  // Estimates of the bins' counts from nodes() measurements. The sum over any bins is their best estimate.
  std::vector<double> EstimateBins(std::span<const int64_t> measured) const;

  // The variance of the estimated sum over an interval, in units of one measurement's. Steps: branching times
  // levels.
  double VarianceFactor(CodeInterval interval) const;

 private:
  // A linear estimate over the part of an interval that lies in a node: share times the node's count plus
  // independent noise.
  struct Part {
    double share = 0;
    double variance = 0;
  };
  size_t At(size_t level, int64_t index) const { return static_cast<size_t>(offsets_[level] + index); }
  int64_t CountOf(size_t level) const { return offsets_[level + 1] - offsets_[level]; }
  Part PartOf(size_t level, int64_t index, CodeInterval interval) const;
  // Over the nodes first..last - 1 of a level that are children of one node and that share bins with
  // `interval`: their variances times the share of each in `interval`; and the variance of their part of the
  // interval without information about their sum.
  struct Siblings {
    double shared = 0;
    double variance = 0;
  };
  Siblings Over(size_t level, int64_t first, int64_t last, CodeInterval interval) const;

  int64_t bins_;
  int64_t branching_;
  std::vector<int64_t> widths_;    // of an interval of each level, in bins
  std::vector<int64_t> offsets_;   // of each level among the nodes; one more: their number
  std::vector<double> variances_;  // of each node's best estimate from its own subtree
  std::vector<double> spreads_;    // of each node above the bins, the sum of its children's variances
};

}  // namespace curator::dp
