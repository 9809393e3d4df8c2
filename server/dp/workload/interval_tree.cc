#include "dp/workload/interval_tree.h"

#include <algorithm>
#include <cmath>

namespace curator::dp {

IntervalTree::IntervalTree(int64_t bins, int64_t branching) : bins_(bins), branching_(branching) {
  offsets_.push_back(0);
  int64_t width = 1;
  while (true) {
    const int64_t count = (bins + width - 1) / width;
    widths_.push_back(width);
    offsets_.push_back(offsets_.back() + count);
    if (count <= branching) break;
    width *= branching;
  }
  first_.resize(levels());
  last_.resize(levels());
  for (size_t level = 1; level < levels(); ++level) {
    first_[level] = FromChildren(level, 0);
    last_[level] = FromChildren(level, CountOf(level) - 1);
  }
}

// The estimate has the weights spread / (1 + spread) for the node's own measurement and 1 / (1 + spread) for
// the estimates of its children.
IntervalTree::Node IntervalTree::FromChildren(size_t level, int64_t index) const {
  Node node{.variance = 0, .spread = 0, .fourth = 0};
  const int64_t end = std::min(CountOf(level - 1), (index + 1) * branching_);
  for (int64_t child = index * branching_; child < end; ++child) {
    node.spread += NodeAt(level - 1, child).variance;
    node.fourth += NodeAt(level - 1, child).fourth;
  }
  node.variance = node.spread / (1 + node.spread);
  node.fourth = (std::pow(node.spread, 4) + node.fourth) / std::pow(1 + node.spread, 4);
  return node;
}

Boxes IntervalTree::Intervals() const {
  Boxes boxes;
  boxes.sides.reserve(static_cast<size_t>(nodes()));
  for (const int64_t width : widths_) {
    for (int64_t first = 0; first < bins_; first += width) {
      boxes.sides.push_back(
          {static_cast<uint32_t>(first), static_cast<uint32_t>(std::min(bins_, first + width) - 1)});
    }
  }
  return boxes;
}

std::vector<double> IntervalTree::EstimateBins(std::span<const int64_t> measured) const {
  std::vector<double> own(measured.begin(), measured.end());
  std::vector<double> below(own.size());  // sums of the children's estimates
  const auto children = [&](size_t level, int64_t index, const auto& visit) {
    const int64_t end = std::min(CountOf(level - 1), (index + 1) * branching_);
    for (int64_t child = index * branching_; child < end; ++child)
      visit(At(level - 1, child), NodeAt(level - 1, child).variance);
  };
  for (size_t level = 1; level < levels(); ++level) {
    for (int64_t i = 0; i < CountOf(level); ++i) {
      const size_t node = At(level, i);
      const double spread = NodeAt(level, i).spread;
      children(level, i, [&](size_t child, double /*variance*/) { below[node] += own[child]; });
      own[node] = (spread * own[node] + below[node]) / (spread + 1);
    }
  }
  for (size_t level = levels(); level-- > 1;) {
    for (int64_t i = 0; i < CountOf(level); ++i) {
      const size_t node = At(level, i);
      const double gap = own[node] - below[node];
      const double spread = NodeAt(level, i).spread;
      children(level, i, [&](size_t child, double variance) { own[child] += gap * variance / spread; });
    }
  }
  own.resize(static_cast<size_t>(bins_));
  return own;
}

IntervalTree::Siblings IntervalTree::Over(size_t level, int64_t first, int64_t last,
                                          CodeInterval interval) const {
  Siblings sum;
  const auto add = [&](int64_t node) {
    const double variance = NodeAt(level, node).variance;
    const Part part = PartOf(level, node, interval);
    sum.shared += part.share * variance;
    sum.variance += part.variance + part.share * part.share * variance;
  };
  // Those outside add nothing, and those between the outermost lie in the interval.
  const auto width = static_cast<uint32_t>(widths_[level]);  // at most the bins: divides in less time
  const int64_t from = std::max<int64_t>(first, interval.first / width);
  const int64_t to = std::min<int64_t>(last - 1, interval.last / width);
  add(from);
  for (int64_t node = from + 1; node < to; ++node) {
    sum.shared += NodeAt(level, node).variance;
    sum.variance += NodeAt(level, node).variance;
  }
  if (to > from) add(to);
  return sum;
}

// Given a node's count x, its children's are their own estimates plus shares of the difference to x, in
// proportion to their variances v; the remaining randomness has covariance v_c [c = d] - v_c v_d / sum v.
IntervalTree::Part IntervalTree::PartOf(size_t level, int64_t index, CodeInterval interval) const {
  const int64_t first = index * widths_[level];
  const int64_t last = std::min(bins_, first + widths_[level]) - 1;
  if (last < int64_t{interval.first} || first > int64_t{interval.last}) return {};
  if (first >= int64_t{interval.first} && last <= int64_t{interval.last}) return {.share = 1, .variance = 0};
  const Siblings children =
      Over(level - 1, index * branching_, std::min(CountOf(level - 1), (index + 1) * branching_), interval);
  const double spread = NodeAt(level, index).spread;
  return {.share = children.shared / spread,
          .variance = std::max(0.0, children.variance - children.shared * children.shared / spread)};
}

double IntervalTree::VarianceFactor(CodeInterval interval) const {
  const size_t top = levels() - 1;
  return Over(top, 0, CountOf(top), interval).variance;
}

// Of the nodes first..last - 1 of a level. All but the level's last are alike.
double IntervalTree::VarianceOver(size_t level, int64_t first, int64_t last) const {
  if (first >= last) return 0;
  return static_cast<double>(last - first - 1) * NodeAt(level, first).variance +
         NodeAt(level, last - 1).variance;
}

template <typename Subtrees>
void IntervalTree::VisitSubtrees(size_t level, int64_t first, int64_t last, double weight,
                                 const Subtrees& subtrees) const {
  if (weight == 0 || first >= last) return;
  const bool has_last = last == CountOf(level);
  const int64_t alike = last - first - (has_last ? 1 : 0);
  if (alike > 0) subtrees(level, first, weight, alike);
  if (has_last) subtrees(level, last - 1, weight, 1);
}

// Over the nodes first..last - 1 of a level, the sum of their variances times their shares.
double IntervalTree::SharedVariance(const Ends& ends, size_t level, int64_t first, int64_t last) const {
  const auto& [left, right] = ends;
  const bool has_left = left.IsWithin(level, first, last);
  const bool has_right = right.IsWithin(level, first, last);
  double sum =
      VarianceOver(level, has_left ? left.node[level] + 1 : first, has_right ? right.node[level] : last);
  if (has_left) sum += left.share[level] * NodeAt(level, left.node[level]).variance;
  if (has_right && right.node[level] != left.node[level])
    sum += right.share[level] * NodeAt(level, right.node[level]).variance;
  return sum;
}

IntervalTree::Ends IntervalTree::EndsOf(CodeInterval interval) const {
  Ends ends;
  ends.left.node[0] = interval.first;
  ends.right.node[0] = interval.last;
  ends.left.share[0] = ends.right.share[0] = 1;
  const auto width = static_cast<uint32_t>(branching_);  // divides in less time
  for (size_t level = 1; level < levels(); ++level) {
    for (End* end : {&ends.left, &ends.right}) {
      const int64_t node = static_cast<uint32_t>(end->node[level - 1]) / width;
      end->node[level] = node;
      if (end == &ends.right && node == ends.left.node[level]) {
        end->share[level] = ends.left.share[level];
        continue;
      }
      const int64_t last = std::min(CountOf(level - 1), (node + 1) * branching_);
      end->share[level] =
          SharedVariance(ends, level - 1, node * branching_, last) / NodeAt(level, node).spread;
    }
  }
  return ends;
}

// Of the children first..last - 1 of a node that has `share`, whose estimate from its subtree adds `passed`
// to the weight of each of theirs.
template <typename Subtrees>
void IntervalTree::VisitChildren(Ends& ends, size_t level, int64_t first, int64_t last, double share,
                                 double passed, const Subtrees& subtrees) const {
  auto& [left, right] = ends;
  const bool has_left = left.IsWithin(level, first, last);
  const bool has_right = right.IsWithin(level, first, last);
  VisitSubtrees(level, has_left ? left.node[level] + 1 : first, has_right ? right.node[level] : last,
                passed + 1 - share, subtrees);
  if (has_left) {
    VisitSubtrees(level, first, left.node[level], passed - share, subtrees);
    left.weight = passed + left.share[level] - share;
  }
  if (has_right) {
    VisitSubtrees(level, right.node[level] + 1, last, passed - share, subtrees);
    right.weight = passed + right.share[level] - share;
  }
}

// The final estimates of a node's children c are own_c + (final - below) v_c / spread. So where these are
// added up with the coefficients k_c (1 in the interval, 0 outside, the share of the child at an end), the
// final estimate of the node has the coefficient sum of k_c v_c / spread, its share, and each own_c has k_c
// less this share. An own_c with the weight A is (spread x + below) / (1 + spread) in turn. The sum over all
// bins is that of the top level's estimates, each with the weight 1.
template <typename Value, typename Subtrees>
void IntervalTree::VisitWeights(CodeInterval interval, double of_total, const Value& value,
                                const Subtrees& subtrees) const {
  Ends ends = EndsOf(interval);
  const size_t top = levels() - 1;
  VisitChildren(ends, top, 0, CountOf(top), 0, of_total, subtrees);
  for (size_t level = top;; --level) {
    const bool is_one = ends.left.node[level] == ends.right.node[level];
    for (const End* end : {&ends.left, &ends.right}) {
      if (end == &ends.right && is_one) continue;
      if (level == 0) {
        value(end->weight);
        continue;
      }
      const int64_t node = end->node[level];
      const int64_t last = std::min(CountOf(level - 1), (node + 1) * branching_);
      const double spread = NodeAt(level, node).spread;
      const double passed = end->weight / (1 + spread);
      value(passed * spread);
      VisitChildren(ends, level - 1, node * branching_, last, end->share[level], passed, subtrees);
    }
    if (level == 0) return;
  }
}

double IntervalTree::FourthFactor(CodeInterval interval) const {
  return WeightSumsOf(interval, 0).fourth;
}

IntervalTree::WeightSums IntervalTree::WeightSumsOf(CodeInterval interval, double of_total) const {
  WeightSums sums;
  VisitWeights(
      interval, of_total,
      [&](double weight) {
        const double square = weight * weight;
        sums.squares += square;
        sums.fourth += square * square;
      },
      [&](size_t level, int64_t index, double weight, int64_t count) {
        const double square = static_cast<double>(count) * weight * weight;
        sums.squares += square * NodeAt(level, index).variance;
        sums.fourth += square * weight * weight * NodeAt(level, index).fourth;
      });
  return sums;
}

void IntervalTree::AddWeightsOfEstimate(size_t level, int64_t index, double weight, double count,
                                        std::vector<WeightedValues>& weights) const {
  if (level == 0) {
    weights.push_back({weight, count});
    return;
  }
  const double spread = NodeAt(level, index).spread;
  weights.push_back({weight * spread / (1 + spread), count});
  const double passed = weight / (1 + spread);
  const int64_t first = index * branching_;
  const int64_t last = std::min(CountOf(level - 1), (index + 1) * branching_);
  const bool has_last = last == CountOf(level - 1);
  const int64_t alike = last - first - (has_last ? 1 : 0);
  if (alike > 0) AddWeightsOfEstimate(level - 1, first, passed, count * static_cast<double>(alike), weights);
  if (has_last) AddWeightsOfEstimate(level - 1, last - 1, passed, count, weights);
}

std::vector<WeightedValues> IntervalTree::WeightsOf(CodeInterval interval, double of_total) const {
  std::vector<WeightedValues> weights;
  VisitWeights(
      interval, of_total,
      [&](double weight) {
        weights.push_back({weight, 1});
      },
      [&](size_t level, int64_t index, double weight, int64_t count) {
        AddWeightsOfEstimate(level, index, weight, static_cast<double>(count), weights);
      });
  return Compacted(std::move(weights));
}

}  // namespace curator::dp
