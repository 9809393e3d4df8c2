#include "dp/synthesis/dpsyn/view_matching.h"

#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "base/status_macros.h"
#include "dp/domain/row_major.h"
#include "dp/synthesis/dpsyn/sorted_records.h"
#include "dp/synthesis/dpsyn/view_sampler.h"

namespace curator::dp {
namespace {

constexpr size_t kMostSimplexCells = 512;
constexpr double kLeastGain = 1e-6;  // of the sum of squares; more than what rounding can feign

// The moves that are still to be made, by the cell that they leave.
class Departures {
 public:
  Departures(size_t cells, std::vector<Move> moves) : first_(cells + 1), moves_(std::move(moves)) {
    std::ranges::stable_sort(moves_, {}, &Move::from);
    for (const Move& move : moves_) {
      ++first_[move.from + 1];
      left_ += move.count;
    }
    for (size_t cell = 0; cell < cells; ++cell) first_[cell + 1] += first_[cell];
  }

  int64_t left() const { return left_; }

  // The moves out of a cell; those with a count of 0 are used up.
  std::span<Move> From(size_t cell) {
    return std::span(moves_).subspan(first_[cell], first_[cell + 1] - first_[cell]);
  }

  void Take(Move& move) {
    --move.count;
    --left_;
  }

 private:
  std::vector<uint32_t> first_;  // of each cell, in the moves
  std::vector<Move> moves_;
  int64_t left_ = 0;
};

}  // namespace

ViewMatching::ViewMatching(std::span<const ViewTable> views, RecordTable records)
    : views_(views),
      records_(std::move(records)),
      views_of_(records_.sizes().size()),
      steps_of_(records_.sizes().size()),
      before_(records_.sizes().size()),
      after_(records_.sizes().size()) {}

absl::StatusOr<ViewMatching> ViewMatching::Create(std::span<const ViewTable> views, RecordTable records,
                                                  Pacer& pacer) {
  ViewMatching matching(views, std::move(records));
  size_t cells = 0;
  for (size_t i = 0; i < views.size(); ++i) {
    const ViewTable& view = views[i];
    const double total = TotalOf(view);
    Layout layout{.columns = {},
                  .strides = RowMajorStrides(std::vector<uint32_t>(view.sizes.begin(), view.sizes.end())),
                  .first_cell = cells};
    layout.scale = total > 0 ? static_cast<double>(matching.records_.rows()) / total : 0;
    for (const uint32_t attribute : view.set) {
      layout.columns.push_back(matching.records_.ColumnOf(attribute));
      matching.views_of_[layout.columns.back()].push_back(i);
      matching.steps_of_[layout.columns.back()] += 2 * static_cast<int64_t>(view.set.size());
    }
    cells += view.cells.size();
    matching.layouts_.push_back(std::move(layout));
  }
  matching.counts_.resize(cells);
  for (size_t i = 0; i < views.size(); ++i) {
    RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(views[i].cells.size())));
    for (const double cell : views[i].cells) matching.goals_.push_back(cell * matching.layouts_[i].scale);
    ASSIGN_OR_RETURN(const std::vector<uint32_t> rows, matching.records_.CellsOf(views[i].set, pacer));
    int64_t* const counts = matching.counts_.data() + matching.layouts_[i].first_cell;
    RETURN_IF_ERROR(pacer.InPieces(rows.size(), [&](size_t start, size_t length) {
      for (size_t row = start; row < start + length; ++row) ++counts[rows[row]];
    }));
  }
  return matching;
}

void ViewMatching::Load(size_t row) {
  for (size_t column = 0; column < before_.size(); ++column) before_[column] = records_.Code(column, row);
  after_ = before_;
}

// The record as it would be in another cell of the view.
void ViewMatching::Aim(size_t view, size_t cell) {
  const Layout& layout = layouts_[view];
  for (size_t i = 0; i < layout.columns.size(); ++i)
    after_[layout.columns[i]] =
        static_cast<uint32_t>(cell / layout.strides[i] % static_cast<size_t>(views_[view].sizes[i]));
}

// The change of the sum of squares over all views with a changed attribute. A view with several is counted at
// the first.
double ViewMatching::Change() const {
  double change = 0;
  for (size_t column = 0; column < before_.size(); ++column) {
    if (before_[column] == after_[column]) continue;
    for (const size_t view : views_of_[column]) {
      const Layout& layout = layouts_[view];
      bool is_counted = false;
      for (const size_t other : layout.columns) {
        if (other == column) break;
        is_counted |= before_[other] != after_[other];
      }
      if (is_counted) continue;
      const size_t from = CellOf(layout, before_);
      const size_t to = CellOf(layout, after_);
      const double above_from = static_cast<double>(counts_[from]) - goals_[from];
      const double above_to = static_cast<double>(counts_[to]) - goals_[to];
      change += 2 * (above_to - above_from + 1);
    }
  }
  return change;
}

int64_t ViewMatching::StepsOfChange() const {
  int64_t steps = 0;
  for (size_t column = 0; column < before_.size(); ++column)
    steps += before_[column] != after_[column] ? steps_of_[column] : 0;
  return steps;
}

void ViewMatching::Move(size_t row) {
  for (size_t column = 0; column < before_.size(); ++column) {
    if (before_[column] == after_[column]) continue;
    for (const size_t view : views_of_[column]) --counts_[CellOf(layouts_[view], before_)];
    before_[column] = after_[column];
    for (const size_t view : views_of_[column]) ++counts_[CellOf(layouts_[view], before_)];
    records_.Set(column, row, after_[column]);
  }
}

absl::StatusOr<int64_t> ViewMatching::Match(size_t view, FlowMoveRule rule, size_t first_row, Pacer& pacer) {
  const Layout& layout = layouts_[view];
  const ViewTable& table = views_[view];
  const size_t cells = table.cells.size();
  const auto rows = static_cast<size_t>(records_.rows());
  RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(cells)));
  const std::span<const int64_t> counts = std::span(counts_).subspan(layout.first_cell, cells);
  const std::vector<int64_t> goal = WholeGoal(counts, table.cells);
  Departures departures(cells, cells <= kMostSimplexCells ? LeastChanges(table.sizes, counts, goal)
                                                          : FewChanges(table.sizes, counts, goal));
  int64_t left_to_examine = departures.left() * kExaminedPerMove;
  int64_t moved = 0;
  for (size_t i = 0; i < rows && departures.left() > 0 && left_to_examine > 0; ++i) {
    const size_t row = first_row + i < rows ? first_row + i : first_row + i - rows;
    RETURN_IF_ERROR(pacer.Advance(1));
    size_t cell = 0;
    for (size_t axis = 0; axis < layout.columns.size(); ++axis)
      cell += records_.Code(layout.columns[axis], row) * layout.strides[axis];
    const std::span<struct Move> moves = departures.From(cell);
    if (moves.empty()) continue;
    struct Move* best = nullptr;
    double least = rule == FlowMoveRule::kCloser ? -kLeastGain : HUGE_VAL;
    RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(before_.size())));
    Load(row);
    for (struct Move& move : moves) {
      if (move.count == 0) continue;
      Aim(view, move.to);
      if (rule == FlowMoveRule::kCloser) RETURN_IF_ERROR(pacer.Advance(StepsOfChange()));
      const double change = rule == FlowMoveRule::kCloser ? Change() : 0;
      --left_to_examine;
      if (change < least) {
        least = change;
        best = &move;
      }
    }
    if (best == nullptr) continue;
    Aim(view, best->to);
    Move(row);
    departures.Take(*best);
    ++moved;
  }
  return moved;
}

double ViewMatching::MeanDistance() const {
  double sum = 0;
  double views = 0;
  for (size_t i = 0; i < views_.size(); ++i) {
    if (views_[i].cells.size() < 2) continue;
    for (size_t cell = layouts_[i].first_cell; cell < layouts_[i].first_cell + views_[i].cells.size(); ++cell)
      sum += std::abs(static_cast<double>(counts_[cell]) - goals_[cell]);
    ++views;
  }
  return views > 0 && records_.rows() > 0 ? sum / views / static_cast<double>(records_.rows()) : 0;
}

namespace {

// The network of cells and hubs, and its solution.
class Network {
 public:
  Network(const std::vector<int64_t>& sizes, std::span<const int64_t> surplus)
      : left_(surplus.begin(), surplus.end()), supply_(graph_, 0), cost_(graph_, 0) {
    for (size_t cell = 0; cell < surplus.size(); ++cell) nodes_.push_back(graph_.addNode());
    const std::vector<int64_t> strides = RowMajorStrides(sizes);
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      const auto stride = static_cast<size_t>(strides[axis]);
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
  // Takes the largest flow along one path from a surplus to the first shortage on it.
  void Follow(size_t start, std::vector<int64_t>& flow,
              std::map<std::pair<uint32_t, uint32_t>, int64_t>& moves) {
    std::vector<size_t> path;
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
        path.push_back(place);
        node = graph_.target(arc);
        break;
      }
    }
    for (const size_t arc : path) flow[arc] -= amount;
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
void MatchWithin(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides, size_t mask,
                 std::vector<int64_t>& surplus, std::vector<Move>& moves) {
  std::map<int64_t, std::pair<std::vector<uint32_t>, std::vector<uint32_t>>> groups;  // many, few
  for (size_t cell = 0; cell < surplus.size(); ++cell) {
    if (surplus[cell] == 0) continue;
    auto group = static_cast<int64_t>(cell);
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      if ((mask >> axis & 1) == 1)
        group -= static_cast<int64_t>(cell) / strides[axis] % sizes[axis] * strides[axis];
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
  const std::vector<int64_t> strides = RowMajorStrides(sizes);
  std::vector<Move> moves;
  for (size_t i = 0; i < sizes.size(); ++i) MatchWithin(sizes, strides, size_t{1} << i, surplus, moves);
  for (size_t i = 0; i < sizes.size(); ++i) {
    for (size_t j = i + 1; j < sizes.size(); ++j)
      MatchWithin(sizes, strides, size_t{1} << i | size_t{1} << j, surplus, moves);
  }
  MatchWithin(sizes, strides, (size_t{1} << sizes.size()) - 1, surplus, moves);
  return moves;
}

absl::StatusOr<FlowResult> MakeFlowRecords(std::span<const ViewTable> views, const AttributeSet& attributes,
                                           const std::vector<int64_t>& sizes, int64_t rows,
                                           const FlowRule& rule, Pacer& pacer) {
  RecordTable drawn(attributes, sizes, rows);
  FixedOrder order(0x6d6366);
  const ViewSampler sampler(views, attributes);
  WordStream words(order, 512);
  std::vector<uint32_t> codes(attributes.size());
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(codes.size())));
    sampler.Draw(words, codes);
    for (size_t column = 0; column < codes.size(); ++column) drawn.Set(column, row, codes[column]);
  }
  if (rows == 0) return FlowResult{.records = std::move(drawn), .moves = {}};
  ASSIGN_OR_RETURN(ViewMatching matching, ViewMatching::Create(views, std::move(drawn), pacer));
  const double distance_at_first = matching.MeanDistance();
  std::vector<size_t> turns;
  for (size_t view = 0; view < views.size(); ++view) {
    if (!views[view].set.empty()) turns.push_back(view);
  }
  const int64_t steps_before = pacer.steps();
  const int64_t most_steps =
      rows * (rule.most_steps + rule.most_steps_of_view * static_cast<int64_t>(turns.size()));
  const auto at_bound = [&] { return pacer.steps() - steps_before >= most_steps; };
  std::vector<int64_t> moves;
  double moved_in_all = 0;
  while (static_cast<int64_t>(moves.size()) < rule.most_passes && !at_bound()) {
    order.Shuffle(turns);
    const bool is_free = static_cast<int64_t>(moves.size()) < rule.free_passes &&
                         moved_in_all < rule.free_moves * static_cast<double>(rows);
    const FlowMoveRule form = is_free ? FlowMoveRule::kEvery : rule.moves;
    int64_t& moved = moves.emplace_back(0);
    for (size_t turn = 0; turn < turns.size() && !at_bound(); ++turn) {
      ASSIGN_OR_RETURN(const int64_t here,
                       matching.Match(turns[turn], form, order.Below(static_cast<size_t>(rows)), pacer));
      moved += here;
    }
    moved_in_all += static_cast<double>(moved);
    if (static_cast<double>(moved) < rule.converged * static_cast<double>(rows)) break;
  }
  const double distance_at_last = matching.MeanDistance();
  return FlowResult{.records = std::move(matching).TakeRecords(),
                    .moves = std::move(moves),
                    .steps = pacer.steps() - steps_before,
                    .reached_bound = at_bound(),
                    .distance_at_first = distance_at_first,
                    .distance_at_last = distance_at_last};
}

}  // namespace curator::dp
