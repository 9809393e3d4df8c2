// Takes negative counts out of a view without changing its total (Qardaji, Yang, Li 2014; DPSyn 2018, 3.1.4).
//
// Functions of public noisy answers; thread-safe.
#pragma once

#include "absl/status/status.h"
#include "dp/synthesis/dpsyn/view_table.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// While a cell is below -threshold: it becomes 0, and its deficit is taken in equal parts from its h
// neighbours, the cells that differ from it in one attribute (h is the sum of the attributes' sizes less 1).
// The total stays what it was. Where the total is not positive, or the deficits have made the rounds too
// often (four times the number of cells), the nearest non-negative counts of that total (of 0 when it is
// negative) end it. Errors: CANCELLED as in Pacer.
absl::Status Ripple(double threshold, ViewTable& view, Pacer& pacer);

}  // namespace curator::dp
