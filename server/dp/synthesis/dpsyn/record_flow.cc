#include "dp/synthesis/dpsyn/record_flow.h"

#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

namespace curator::dp {
namespace {

std::vector<size_t> StridesOf(const std::vector<int64_t>& sizes) {
  std::vector<size_t> strides(sizes.size());
  size_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= static_cast<size_t>(sizes[i]);
  }
  return strides;
}

// The network of cells and hubs, and its solution.
class Network {
 public:
  Network(const std::vector<int64_t>& sizes, std::span<const int64_t> surplus)
      : left_(surplus.begin(), surplus.end()), supply_(graph_, 0), cost_(graph_, 0) {
    for (size_t cell = 0; cell < surplus.size(); ++cell) nodes_.push_back(graph_.addNode());
    const std::vector<size_t> strides = StridesOf(sizes);
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      const size_t stride = strides[axis];
      const auto size = static_cast<size_t>(sizes[axis]);
      for (size_t cell = 0; cell < surplus.size(); ++cell) {
        if (cell / stride % size != 0) continue;
        const lemon::SmartDigraph::Node hub = graph_.addNode();
        for (size_t i = 0; i < size; ++i) {
          cost_[graph_.addArc(nodes_[cell + i * stride], hub)] = 1;
          graph_.addArc(hub, nodes_[cell + i * stride]);
        }
      }
    }
    for (size_t cell = 0; cell < surplus.size(); ++cell) supply_[nodes_[cell]] = surplus[cell];
  }

  std::vector<Move> Solve() {
    lemon::NetworkSimplex<lemon::SmartDigraph, int64_t, int64_t> simplex(graph_);
    simplex.supplyMap(supply_).costMap(cost_).run();
    std::vector<int64_t> flow(static_cast<size_t>(graph_.arcNum()));
    for (lemon::SmartDigraph::ArcIt arc(graph_); arc != lemon::INVALID; ++arc)
      flow[static_cast<size_t>(graph_.id(arc))] = simplex.flow(arc);
    std::map<std::pair<uint32_t, uint32_t>, int64_t> moves;
    for (size_t cell = 0; cell < left_.size(); ++cell) {
      while (left_[cell] > 0) Follow(cell, flow, moves);
    }
    std::vector<Move> list;
    for (const auto& [ends, count] : moves)
      list.push_back({.from = ends.first, .to = ends.second, .count = count});
    return list;
  }

 private:
  // Takes the largest flow along one way from a surplus to the first shortage on it.
  void Follow(size_t start, std::vector<int64_t>& flow,
              std::map<std::pair<uint32_t, uint32_t>, int64_t>& moves) {
    std::vector<size_t> way;
    lemon::SmartDigraph::Node node = nodes_[start];
    int64_t amount = left_[start];
    size_t end = start;
    while (true) {
      const auto id = static_cast<size_t>(graph_.id(node));
      if (id < left_.size() && left_[id] < 0) {
        end = id;
        amount = std::min(amount, -left_[id]);
        break;
      }
      for (lemon::SmartDigraph::OutArcIt arc(graph_, node); arc != lemon::INVALID; ++arc) {
        const auto place = static_cast<size_t>(graph_.id(arc));
        if (flow[place] <= 0) continue;
        amount = std::min(amount, flow[place]);
        way.push_back(place);
        node = graph_.target(arc);
        break;
      }
    }
    for (const size_t arc : way) flow[arc] -= amount;
    left_[start] -= amount;
    left_[end] += amount;
    moves[{static_cast<uint32_t>(start), static_cast<uint32_t>(end)}] += amount;
  }

  std::vector<int64_t> left_;  // surplus not yet taken; negative: shortage
  lemon::SmartDigraph graph_;
  lemon::SmartDigraph::NodeMap<int64_t> supply_;
  lemon::SmartDigraph::ArcMap<int64_t> cost_;
  std::vector<lemon::SmartDigraph::Node> nodes_;  // of the cells; their ids are 0, 1, ...
};

std::vector<int64_t> Surplus(std::span<const int64_t> counts, std::span<const int64_t> goal) {
  std::vector<int64_t> surplus(counts.size());
  for (size_t cell = 0; cell < counts.size(); ++cell) surplus[cell] = counts[cell] - goal[cell];
  return surplus;
}

// Matches surplus and shortage among the cells that agree on everything but the attributes of `mask`.
void MatchWithin(const std::vector<int64_t>& sizes, const std::vector<size_t>& strides, size_t mask,
                 std::vector<int64_t>& surplus, std::vector<Move>& moves) {
  std::map<size_t, std::pair<std::vector<uint32_t>, std::vector<uint32_t>>> groups;  // many, few
  for (size_t cell = 0; cell < surplus.size(); ++cell) {
    if (surplus[cell] == 0) continue;
    size_t group = cell;
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      if ((mask >> axis & 1) == 1)
        group -= cell / strides[axis] % static_cast<size_t>(sizes[axis]) * strides[axis];
    }
    auto& [many, few] = groups[group];
    (surplus[cell] > 0 ? many : few).push_back(static_cast<uint32_t>(cell));
  }
  for (auto& [group, lists] : groups) {
    auto& [many, few] = lists;
    for (size_t i = 0, j = 0; i < many.size() && j < few.size();) {
      const int64_t count = std::min(surplus[many[i]], -surplus[few[j]]);
      moves.push_back({.from = many[i], .to = few[j], .count = count});
      surplus[many[i]] -= count;
      surplus[few[j]] += count;
      if (surplus[many[i]] == 0) ++i;
      if (surplus[few[j]] == 0) ++j;
    }
  }
}

}  // namespace

std::vector<int64_t> WholeGoal(std::span<const int64_t> counts, std::span<const double> goal) {
  const int64_t records = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  const double total = std::accumulate(goal.begin(), goal.end(), 0.0);
  const double scale = total > 0 ? static_cast<double>(records) / total : 0;
  const double even = static_cast<double>(records) / static_cast<double>(goal.size());
  std::vector<int64_t> whole(counts.size());
  std::vector<std::pair<double, size_t>> slack_up;    // how far above the goal the count would be, cell
  std::vector<std::pair<double, size_t>> slack_down;  // how far below
  int64_t sum = 0;
  for (size_t cell = 0; cell < counts.size(); ++cell) {
    const double wanted = total > 0 ? goal[cell] * scale : even;
    const auto low = static_cast<int64_t>(std::floor(wanted));
    const auto high = static_cast<int64_t>(std::ceil(wanted));
    whole[cell] = std::clamp(counts[cell], low, high);
    sum += whole[cell];
    if (whole[cell] < high) slack_up.emplace_back(static_cast<double>(high) - wanted, cell);
    if (whole[cell] > low) slack_down.emplace_back(wanted - static_cast<double>(low), cell);
  }
  std::vector<std::pair<double, size_t>>& slack = sum < records ? slack_up : slack_down;
  std::ranges::sort(slack);
  const int64_t step = sum < records ? 1 : -1;
  for (size_t i = 0; i < slack.size() && sum != records; ++i, sum += step) whole[slack[i].second] += step;
  // Rounding of the sum itself: the largest cell takes it.
  if (sum != records) *std::ranges::max_element(whole) += records - sum;
  return whole;
}

std::vector<Move> LeastChanges(const std::vector<int64_t>& sizes, std::span<const int64_t> counts,
                               std::span<const int64_t> goal) {
  return Network(sizes, Surplus(counts, goal)).Solve();
}

std::vector<Move> FewChanges(const std::vector<int64_t>& all_sizes, std::span<const int64_t> counts,
                             std::span<const int64_t> goal) {
  // Attributes of one value change no cell's number, and may be more than a mask has bits.
  std::vector<int64_t> sizes;
  std::ranges::copy_if(all_sizes, std::back_inserter(sizes), [](int64_t size) { return size > 1; });
  std::vector<int64_t> surplus = Surplus(counts, goal);
  const std::vector<size_t> strides = StridesOf(sizes);
  std::vector<Move> moves;
  for (size_t i = 0; i < sizes.size(); ++i) MatchWithin(sizes, strides, size_t{1} << i, surplus, moves);
  for (size_t i = 0; i < sizes.size(); ++i) {
    for (size_t j = i + 1; j < sizes.size(); ++j)
      MatchWithin(sizes, strides, size_t{1} << i | size_t{1} << j, surplus, moves);
  }
  MatchWithin(sizes, strides, (size_t{1} << sizes.size()) - 1, surplus, moves);
  return moves;
}

}  // namespace curator::dp
