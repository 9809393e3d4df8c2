#include "dp/workload/interval_tree.h"

#include <algorithm>

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
  variances_.assign(static_cast<size_t>(offsets_.back()), 1.0);
  spreads_.reserve(static_cast<size_t>(offsets_.back() - offsets_[1]));
  for (size_t level = 1; level < levels(); ++level) {
    for (int64_t i = 0; i < CountOf(level); ++i) {
      double below = 0;
      const int64_t end = std::min(CountOf(level - 1), (i + 1) * branching_);
      for (int64_t child = i * branching_; child < end; ++child) below += variances_[At(level - 1, child)];
      variances_[At(level, i)] = below / (1 + below);
      spreads_.push_back(below);
    }
  }
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
  std::vector<double> below(own.size());  // sums of the children's estimates, and of their variances
  std::vector<double> spread(own.size());
  const auto children = [&](size_t level, int64_t index, const auto& visit) {
    const int64_t end = std::min(CountOf(level - 1), (index + 1) * branching_);
    for (int64_t child = index * branching_; child < end; ++child) visit(At(level - 1, child));
  };
  for (size_t level = 1; level < levels(); ++level) {
    for (int64_t i = 0; i < CountOf(level); ++i) {
      const size_t node = At(level, i);
      children(level, i, [&](size_t child) {
        below[node] += own[child];
        spread[node] += variances_[child];
      });
      own[node] = (spread[node] * own[node] + below[node]) / (spread[node] + 1);
    }
  }
  for (size_t level = levels(); level-- > 1;) {
    for (int64_t i = 0; i < CountOf(level); ++i) {
      const size_t node = At(level, i);
      const double gap = own[node] - below[node];
      children(level, i, [&](size_t child) { own[child] += gap * variances_[child] / spread[node]; });
    }
  }
  own.resize(static_cast<size_t>(bins_));
  return own;
}

IntervalTree::Siblings IntervalTree::Over(size_t level, int64_t first, int64_t last,
                                          CodeInterval interval) const {
  Siblings sum;
  const auto add = [&](int64_t node) {
    const double variance = variances_[At(level, node)];
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
    sum.shared += variances_[At(level, node)];
    sum.variance += variances_[At(level, node)];
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
  const double spread = spreads_[At(level, index) - static_cast<size_t>(offsets_[1])];
  return {.share = children.shared / spread,
          .variance = std::max(0.0, children.variance - children.shared * children.shared / spread)};
}

double IntervalTree::VarianceFactor(CodeInterval interval) const {
  const size_t top = levels() - 1;
  return Over(top, 0, CountOf(top), interval).variance;
}

}  // namespace curator::dp
