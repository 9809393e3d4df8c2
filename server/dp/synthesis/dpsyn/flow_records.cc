#include "dp/synthesis/dpsyn/flow_records.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "dp/synthesis/dpsyn/fixed_order.h"
#include "dp/synthesis/dpsyn/record_flow.h"
#include "dp/synthesis/dpsyn/view_sampler.h"

namespace curator::dp {
namespace {

constexpr size_t kMostSimplexCells = 512;

// What is still to leave each cell, and for where.
class Departures {
 public:
  Departures(size_t cells, std::vector<Move> moves) : first_(cells, kNone), moves_(std::move(moves)) {
    std::ranges::stable_sort(moves_, {}, &Move::from);
    for (size_t i = moves_.size(); i-- > 0;) first_[moves_[i].from] = static_cast<uint32_t>(i);
    for (const Move& move : moves_) left_ += move.count;
  }

  int64_t left() const { return left_; }
  bool Leaves(uint32_t cell) const { return first_[cell] != kNone; }

  // Where the next record of a cell that Leaves() goes.
  uint32_t Next(uint32_t cell) {
    Move& move = moves_[first_[cell]];
    --left_;
    if (--move.count == 0) {
      const size_t next = first_[cell] + size_t{1};
      first_[cell] = next < moves_.size() && moves_[next].from == cell ? static_cast<uint32_t>(next) : kNone;
    }
    return move.to;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> first_;
  std::vector<Move> moves_;
  int64_t left_ = 0;
};

// The record takes the values of one cell of the view.
void SetCell(const ViewTable& view, size_t cell, size_t row, RecordTable& records) {
  for (size_t axis = view.set.size(); axis-- > 0;) {
    const auto size = static_cast<size_t>(view.sizes[axis]);
    records.Set(records.ColumnOf(view.set[axis]), row, static_cast<uint32_t>(cell % size));
    cell /= size;
  }
}

void CopyRecord(size_t from, size_t to, RecordTable& records) {
  for (size_t column = 0; column < records.sizes().size(); ++column)
    records.Set(column, to, records.Code(column, from));
}

}  // namespace

absl::StatusOr<int64_t> MatchView(const ViewTable& view, MoveBy move_by, size_t first_row,
                                  RecordTable& records, Pacer& pacer) {
  ASSIGN_OR_RETURN(const std::vector<uint32_t> cells, records.CellsOf(view.set, pacer));
  std::vector<int64_t> counts(view.cells.size());
  RETURN_IF_ERROR(pacer.InPieces(cells.size(), [&](size_t start, size_t length) {
    for (size_t row = start; row < start + length; ++row) ++counts[cells[row]];
  }));
  RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(view.cells.size())));
  const std::vector<int64_t> goal = WholeGoal(counts, view.cells);
  Departures departures(counts.size(), counts.size() <= kMostSimplexCells
                                           ? LeastChanges(view.sizes, counts, goal)
                                           : FewChanges(view.sizes, counts, goal));
  const int64_t moves = departures.left();
  // The record that was last seen to stay in each cell.
  std::vector<size_t> stayed(move_by == MoveBy::kCopy ? counts.size() : 0, cells.size());
  for (size_t start = 0; start < cells.size() && departures.left() > 0; start += Pacer::kMostSteps) {
    const size_t end = std::min<size_t>(cells.size(), start + Pacer::kMostSteps);
    RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(end - start)));
    for (size_t i = start; i < end && departures.left() > 0; ++i) {
      const size_t row = first_row + i < cells.size() ? first_row + i : first_row + i - cells.size();
      if (!departures.Leaves(cells[row])) {
        if (!stayed.empty()) stayed[cells[row]] = row;
        continue;
      }
      const uint32_t to = departures.Next(cells[row]);
      if (stayed.empty() || stayed[to] == cells.size()) {
        SetCell(view, to, row, records);
      } else {
        CopyRecord(stayed[to], row, records);
      }
    }
  }
  return moves;
}

absl::StatusOr<FlowResult> MakeFlowRecords(std::span<const ViewTable> views, const AttributeSet& attributes,
                                           const std::vector<int64_t>& sizes, int64_t rows,
                                           const FlowRule& rule, Pacer& pacer) {
  FlowResult result{.records = RecordTable(attributes, sizes, rows), .passes = {}};
  FixedOrder order(0x6d6366);
  const ViewSampler sampler(views, attributes);
  WordStream words(order, 512);
  std::vector<uint32_t> codes(attributes.size());
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(codes.size())));
    sampler.Draw(words, codes);
    for (size_t column = 0; column < codes.size(); ++column) result.records.Set(column, row, codes[column]);
  }
  if (rows == 0) return result;
  std::vector<size_t> turns;
  for (size_t view = 0; view < views.size(); ++view) {
    if (!views[view].set.empty()) turns.push_back(view);
  }
  for (int64_t pass = 0; pass < rule.most_passes; ++pass) {
    order.Shuffle(turns);
    FlowPass& moved = result.passes.emplace_back();
    for (const size_t view : turns) {
      ASSIGN_OR_RETURN(const int64_t moves,
                       MatchView(views[view], rule.move_by, order.Below(static_cast<size_t>(rows)),
                                 result.records, pacer));
      moved.moves += moves;
      ++moved.views;
    }
    if (static_cast<double>(moved.moves) < rule.settled * static_cast<double>(rows)) break;
  }
  return result;
}

}  // namespace curator::dp
