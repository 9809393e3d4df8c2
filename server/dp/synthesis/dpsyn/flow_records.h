// Records that match views: drawn, and then changed as little as possible, view by view, until they match
// (MCF; Li, Zhang, Wang 2018, section 3.3).
//
// Functions of public noisy answers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/synthesis/dpsyn/record_table.h"
#include "dp/synthesis/dpsyn/view_table.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// How a record leaves a cell for another one.
enum class MoveBy {
  kChange,  // it takes the other cell's values of the view's attributes, and keeps all its own others
  kCopy,    // it becomes a copy of a record of the other cell, where one is at hand; else as above
};

struct FlowRule {
  int64_t most_passes = 20;
  MoveBy move_by = MoveBy::kCopy;
  double settled = 0.002;  // a pass over all views that moves less than this share of the records is the last
};

// How much one pass moved.
struct FlowPass {
  int64_t moves = 0;  // of records, over all views
  int64_t views = 0;
};

// Copies keep what attributes inside and outside of the view have to do with each other: a pass of copies is
// a step of iterative proportional fitting on records. Changes make combinations that were not there, and
// pull apart what belongs together; they need more passes, and may never settle where attributes depend
// strongly on each other.
//
// Changes `records` so that their marginal over the view's attributes is `view`, scaled to their number and
// rounded to a neighbouring whole number in each cell (WholeGoal()): the fewest records change. Which ones of
// a cell, is arbitrary: in the order of the table from `first_row` on. Returns how many.
absl::StatusOr<int64_t> MatchView(const ViewTable& view, MoveBy move_by, size_t first_row,
                                  RecordTable& records, Pacer& pacer);

// `rows` records: drawn by ViewSampler, then matched with one view after another, in passes. Errors:
// CANCELLED as in Pacer.
struct FlowResult {
  RecordTable records;
  std::vector<FlowPass> passes;
};
absl::StatusOr<FlowResult> MakeFlowRecords(std::span<const ViewTable> views, const AttributeSet& attributes,
                                           const std::vector<int64_t>& sizes, int64_t rows,
                                           const FlowRule& rule, Pacer& pacer);

}  // namespace curator::dp
