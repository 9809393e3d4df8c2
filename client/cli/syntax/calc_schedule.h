// Schedules of mechanisms as people write them.
//
// On the command line a mechanism is NAME or NAME:KEY=VALUE,KEY=VALUE,...
//
//   laplace            scale, l1 (default 1)
//   discrete-laplace   scale, l1 (1), linf (l1); sensitivities are integers
//   gaussian           sigma or sigma_squared, l2 (1)
//   discrete-gaussian  sigma or sigma_squared, l2_squared (1) and linf (what l2_squared allows): integers
//   exponential        range: the bounded range eta
//   pure               epsilon
//   approximate        epsilon, delta
//   zcdp               rho
//
// and every one takes count (1), how many times, and group (1), the records that one unit owns at most. A
// file holds one curator.v1.Event in JSON, as the accountant's service and `curator charge` take it: there
// decimals are text, so that none passes through a double. Thread-safe: pure functions.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/calculators/schedule.h"

namespace curator::cli {

// INVALID_ARGUMENT names the event and the key: "events[1].sigma: must be positive".
absl::StatusOr<dp::Schedule> ParseEvents(const std::vector<std::string>& events);

// The schedule of the event in the file at `path`. Errors: those of ReadEvent(); INVALID_ARGUMENT names the
// field.
absl::StatusOr<dp::Schedule> ReadSchedule(const std::string& path);

}  // namespace curator::cli
