// Draws what a view schedule lists, and estimates the views.
//
// Not thread-safe: one fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/kernel/kernel.h"
#include "dp/synthesis/dpsyn/view_schedule.h"
#include "dp/synthesis/dpsyn/view_table.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

struct FittedViews {
  std::vector<ViewTable> views;  // 0 or more, in agreement; the first one is the number of records
  int64_t records = 1;
  std::vector<std::string> transcript;  // a line for each draw
};

// Exactly the draws of the schedule, then EstimateViews(). The candidates of a selection are scored against
// the product of the noisy counts of single attributes, less the error that a measurement would have: for
// each cell the mean absolute noise, or what is expected in the cell where that is less. Errors: those of the
// kernel; CANCELLED as in Pacer. Reports progress up to `share`.
absl::StatusOr<FittedViews> FitViews(const Domain& domain, const ViewSchedule& schedule, Kernel& kernel,
                                     Pacer& pacer, const Progress& progress, double share);

}  // namespace curator::dp
