// How much processor time an answer can take at most beside counting its records, from what is asked and the
// declared sizes alone.
//
// The rates are upper bounds of what was measured on one core (docs/results/requests.md). How many records
// there are is private, so what counting takes for each of them is not in here: some nanoseconds for a record
// and a few of the sets (docs/results/counting.md). Thread-safe: pure functions.
#pragma once

#include <cstdint>

#include "dp/domain/domain.h"
#include "dp/workload/workload_plan.h"

namespace curator::dp {

// Seconds for drawing a planned answer, storing it, reading it back and reading it once in `reading_steps`
// (answer_reader.h).
double AnswerSeconds(const Domain& domain, const WorkloadShape& shape, int64_t reading_steps);

}  // namespace curator::dp
