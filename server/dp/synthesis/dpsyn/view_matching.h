// MCF: records that match views, by minimum-cost flow (Li, Zhang, Wang 2018, section 3.3). Records are drawn
// from the views, and then changed as little as possible, view by view, until they match.
//
// Functions of public noisy answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/synthesis/dpsyn/record_table.h"
#include "dp/synthesis/dpsyn/view_table.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// `count` records leave the cell `from` for the cell `to`.
struct Move {
  uint32_t from = 0;
  uint32_t to = 0;
  int64_t count = 0;
  bool operator==(const Move&) const = default;
};

// Whole numbers that sum to that of `counts`, each between the rounded-down and the rounded-up of `goal`
// (non-negative; scaled to the same sum), with the fewest records moved from `counts`: a count within those
// bounds stays, one outside goes to the nearer bound, and what the sum then lacks is made up where the goal
// is farthest away.
std::vector<int64_t> WholeGoal(std::span<const int64_t> counts, std::span<const double> goal);

// Moves that turn `counts` into `goal` (the same sum), over a table with attributes of these sizes,
// row-major. Each record that moves leaves a cell with too many for one with too few, so the fewest move; of
// such solutions, the one that changes the fewest values in all. In the network a unit that changes one
// attribute goes from its cell over a hub, where the cells meet that differ in that attribute only, at cost
// 1. Solved by LEMON's network simplex.
std::vector<Move> LeastChanges(const std::vector<int64_t>& sizes, std::span<const int64_t> counts,
                               std::span<const int64_t> goal);

// The same for large tables: the fewest records move, and first those that need change one attribute only,
// one attribute after another, then two, then more; so a few values more may change than need be.
std::vector<Move> FewChanges(const std::vector<int64_t>& sizes, std::span<const int64_t> counts,
                             std::span<const int64_t> goal);

// Which of the records that the flow of a view would move are moved.
enum class FlowMoveRule {
  // Those that bring the records closer to all views together: a lower sum over all views' cells of
  // (count - goal)^2, so passes come to an end.
  kCloser,
  // All, whichever come first: the view is matched to the record, whatever happens to other views. So a pass
  // never ends for attributes that depend strongly on each other.
  kEvery,
};

// Records and their counts in each view's cells, kept up to date while single records change. Not
// thread-safe: it changes its records.
class ViewMatching {
 public:
  // `views` must outlive it, and have only attributes of `records`. Errors: CANCELLED as in Pacer.
  static absl::StatusOr<ViewMatching> Create(std::span<const ViewTable> views, RecordTable records,
                                             Pacer& pacer);

  // Changes records so that their marginal over the attributes of views[view] is that view, scaled to their
  // number and rounded to a neighbouring whole number in each cell (WholeGoal()): as few records as possible,
  // and of each as few values (LeastChanges(), FewChanges()). A record that changes keeps its values of all
  // attributes outside of the view. The records of a cell are examined in the order of the table from
  // `first_row` on; under kCloser each takes the move out of its cell that brings the counts closest to all
  // views, or stays; about kExaminedPerMove are examined for one that should move. Returns how many moved. A
  // step of the pacer is a count or a code that is read. Errors: CANCELLED as in Pacer.
  static constexpr int64_t kExaminedPerMove = 32;
  absl::StatusOr<int64_t> Match(size_t view, FlowMoveRule rule, size_t first_row, Pacer& pacer);

  // How far the records are from the views: the mean, over the views of more than one cell, of the sum over
  // cells of |count - goal|, divided by the number of records. 0 is an exact match, 2 the largest.
  double MeanDistance() const;

  const RecordTable& records() const { return records_; }
  RecordTable TakeRecords() && { return std::move(records_); }

 private:
  // A view's place among all counts, and how its cells are numbered.
  struct Layout {
    std::vector<size_t> columns;
    std::vector<uint32_t> strides;
    size_t first_cell = 0;
    double scale = 0;  // from the view's counts to those of the records
  };

  ViewMatching(std::span<const ViewTable> views, RecordTable records);

  size_t CellOf(const Layout& layout, std::span<const uint32_t> codes) const {
    size_t cell = layout.first_cell;
    for (size_t i = 0; i < layout.columns.size(); ++i) cell += codes[layout.columns[i]] * layout.strides[i];
    return cell;
  }

  void Load(size_t row);
  void Aim(size_t view, size_t cell);
  double Change() const;
  int64_t StepsOfChange() const;
  void Move(size_t row);

  std::span<const ViewTable> views_;
  RecordTable records_;
  std::vector<Layout> layouts_;
  std::vector<std::vector<size_t>> views_of_;  // of each column
  std::vector<int64_t> steps_of_;              // of each column: what those views read of a record, twice
  std::vector<int64_t> counts_;                // of all views' cells, one view after another
  std::vector<double> goals_;
  std::vector<uint32_t> before_;  // the record that is examined, and as it would be
  std::vector<uint32_t> after_;
};

// When a matching ends. Under kCloser the first passes move by kEvery nevertheless: at most `free_passes`,
// and none after they have moved `free_moves` times the records. Which records come first has nothing to do
// with their values, so these passes mix what no view determines; moves that are chosen by how close they
// come would depend on it, which on NLTCS doubles the errors of marginals that lie in no view.
struct FlowRule {
  int64_t most_passes = 100;
  FlowMoveRule moves = FlowMoveRule::kCloser;
  int64_t free_passes = 10;
  double free_moves = 20;
  // A pass over all views that moves less than this share of the records, all views together, is the last.
  double converged = 0.005;
  // No view is matched after the passes have taken most_steps + views * most_steps_of_view steps for each
  // record. Where small counts are noise, thousands of records should move that come closer to nothing.
  int64_t most_steps = 20'000;
  int64_t most_steps_of_view = 20;
};

// `rows` records: drawn by ViewSampler, then matched with one view after another, in passes. Errors:
// CANCELLED as in Pacer.
struct FlowResult {
  RecordTable records;
  std::vector<int64_t> moves;    // of records, in each pass, over all views
  int64_t steps = 0;             // of the passes: counts and codes that were read
  bool reached_bound = false;    // on the steps, so that the last pass is not a whole one
  double distance_at_first = 0;  // ViewMatching::MeanDistance() of the records as drawn,
  double distance_at_last = 0;   // and after the last pass
};
absl::StatusOr<FlowResult> MakeFlowRecords(std::span<const ViewTable> views, const AttributeSet& attributes,
                                           const std::vector<int64_t>& sizes, int64_t rows,
                                           const FlowRule& rule, Pacer& pacer);

}  // namespace curator::dp
