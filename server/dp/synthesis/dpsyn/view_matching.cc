#include "dp/synthesis/dpsyn/view_matching.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/status_macros.h"

namespace curator::dp {
namespace {

constexpr size_t kMostSimplexCells = 512;
constexpr double kLeastGain = 1e-6;  // of the sum of squares; more than what rounding can feign

// What is still to leave each cell, and for where.
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

  // The ways out of a cell; those with a count of 0 are used up.
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
    Layout layout{.columns = {}, .strides = std::vector<uint32_t>(view.set.size()), .first_cell = cells};
    layout.scale = total > 0 ? static_cast<double>(matching.records_.rows()) / total : 0;
    uint32_t stride = 1;
    for (size_t axis = view.set.size(); axis-- > 0;) {
      layout.strides[axis] = stride;
      stride *= static_cast<uint32_t>(view.sizes[axis]);
    }
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

// Of the sum of squares over all views that see a difference. A view that sees several is counted where it
// sees the first.
double ViewMatching::Change() const {
  double change = 0;
  for (size_t column = 0; column < before_.size(); ++column) {
    if (before_[column] == after_[column]) continue;
    for (const size_t view : views_of_[column]) {
      const Layout& layout = layouts_[view];
      bool seen = false;
      for (const size_t other : layout.columns) {
        if (other == column) break;
        seen |= before_[other] != after_[other];
      }
      if (seen) continue;
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

absl::StatusOr<int64_t> ViewMatching::Match(size_t view, MoveRule rule, size_t first_row, Pacer& pacer) {
  const Layout& layout = layouts_[view];
  const ViewTable& table = views_[view];
  const size_t cells = table.cells.size();
  const auto rows = static_cast<size_t>(records_.rows());
  RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(cells)));
  const std::span<const int64_t> counts = std::span(counts_).subspan(layout.first_cell, cells);
  const std::vector<int64_t> goal = WholeGoal(counts, table.cells);
  Departures departures(cells, cells <= kMostSimplexCells ? LeastChanges(table.sizes, counts, goal)
                                                          : FewChanges(table.sizes, counts, goal));
  int64_t looks = departures.left() * kLooksPerMove;
  int64_t moved = 0;
  for (size_t i = 0; i < rows && departures.left() > 0 && looks > 0; ++i) {
    const size_t row = first_row + i < rows ? first_row + i : first_row + i - rows;
    RETURN_IF_ERROR(pacer.Advance(1));
    size_t cell = 0;
    for (size_t axis = 0; axis < layout.columns.size(); ++axis)
      cell += records_.Code(layout.columns[axis], row) * layout.strides[axis];
    const std::span<struct Move> ways = departures.From(cell);
    if (ways.empty()) continue;
    struct Move* best = nullptr;
    double least = rule == MoveRule::kCloser ? -kLeastGain : HUGE_VAL;
    RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(before_.size())));
    Load(row);
    for (struct Move& way : ways) {
      if (way.count == 0) continue;
      Aim(view, way.to);
      if (rule == MoveRule::kCloser) RETURN_IF_ERROR(pacer.Advance(StepsOfChange()));
      const double change = rule == MoveRule::kCloser ? Change() : 0;
      --looks;
      if (change < least) {
        least = change;
        best = &way;
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

}  // namespace curator::dp
