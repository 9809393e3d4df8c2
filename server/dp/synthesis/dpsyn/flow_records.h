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
#include "dp/synthesis/dpsyn/view_matching.h"
#include "dp/synthesis/dpsyn/view_table.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// Under kCloser the first passes are of the other form nevertheless: at most `free_passes`, and none after
// they have moved `free_moves` times the records. Which records come first has nothing to do with their
// values, so these passes mix what no view knows; moves that are chosen by how close they come would choose
// by it, which on NLTCS doubles the errors of marginals that lie in no view.
struct FlowRule {
  int64_t most_passes = 100;
  MoveRule moves = MoveRule::kCloser;
  int64_t free_passes = 10;
  double free_moves = 20;
  // A pass over all views that moves less than this share of the records, all views together, is the last.
  double settled = 0.005;
  // No view has a turn after the passes have taken so many steps for each record: these, and so many more for
  // each view. Where small counts are noise, thousands of records should move that come closer to nothing.
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
