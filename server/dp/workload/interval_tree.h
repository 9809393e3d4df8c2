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

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dp/queries/linear_queries.h"
#include "dp/workload/noise_combination.h"

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

  // The sum of the fourth powers of the weights that measurements have in the estimated sum over an interval.
  // VarianceFactor() is that of their squares. Steps: levels.
  double FourthFactor(CodeInterval interval) const;

  // These weights, Compacted(). At most the square of the number of levels times 4. Where `of_total` is not
  // 0, those of the estimated sum over the interval plus `of_total` times that over all bins.
  std::vector<WeightedValues> WeightsOf(CodeInterval interval, double of_total = 0) const;

  // The sums of the squares and of the fourth powers of these weights. Steps: levels.
  struct WeightSums {
    double squares = 0;
    double fourth = 0;
  };
  WeightSums WeightSumsOf(CodeInterval interval, double of_total) const;

 private:
  // The best estimate of a node's count from its own subtree.
  struct Node {
    double variance = 1;
    double spread = 0;  // the sum of its children's variances
    double fourth = 1;  // the sum of the fourth powers of the weights of what is measured
  };
  const Node& NodeAt(size_t level, int64_t index) const {
    return (index + 1 == CountOf(level) ? last_ : first_)[level];
  }
  Node FromChildren(size_t level, int64_t index) const;

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

  double VarianceOver(size_t level, int64_t first, int64_t last) const;
  // One end of an interval: for each level the node that contains it, and the share of that node's count in
  // the estimate of the interval.
  struct End {
    static constexpr size_t kMostLevels = 32;
    std::array<int64_t, kMostLevels> node{};
    std::array<double, kMostLevels> share{};
    double weight = 0;  // of the estimate from the subtree of the node that was visited last
    bool IsWithin(size_t level, int64_t first, int64_t last) const {
      return node[level] >= first && node[level] < last;
    }
  };
  struct Ends {
    End left;
    End right;
  };
  Ends EndsOf(CodeInterval interval) const;
  double SharedVariance(const Ends& ends, size_t level, int64_t first, int64_t last) const;
  // Calls value(weight) for each measured interval that contains an end of `interval`, and
  // subtrees(level, index, weight, count) for the others: `count` nodes alike, of which `index` is one, whose
  // estimates from their subtrees have the weight.
  template <typename Value, typename Subtrees>
  void VisitWeights(CodeInterval interval, double of_total, const Value& value,
                    const Subtrees& subtrees) const;
  template <typename Subtrees>
  void VisitChildren(Ends& ends, size_t level, int64_t first, int64_t last, double share, double passed,
                     const Subtrees& subtrees) const;
  template <typename Subtrees>
  void VisitSubtrees(size_t level, int64_t first, int64_t last, double weight,
                     const Subtrees& subtrees) const;
  void AddWeightsOfEstimate(size_t level, int64_t index, double weight, double count,
                            std::vector<WeightedValues>& weights) const;

  int64_t bins_;
  int64_t branching_;
  std::vector<int64_t> widths_;   // of an interval of each level, in bins
  std::vector<int64_t> offsets_;  // of each level among the nodes; one more: their number
  // Of the first node of each level, which all are like but for the last, and of the last.
  std::vector<Node> first_;
  std::vector<Node> last_;
};

}  // namespace curator::dp
