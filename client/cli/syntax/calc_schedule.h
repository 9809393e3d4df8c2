// The arguments of `curator calc`: schedules of mechanisms, and numbers, which are read exactly.
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
// and every mechanism takes count (1), how many times, and group (1), the most records of one unit. A file
// holds one curator.v1.Event in JSON, as AccountantService and `curator charge` take it; decimals there are
// text, so that none passes through a double. Thread-safe: pure functions.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/units.h"

namespace curator::cli {

// INVALID_ARGUMENT names the event and the key: "events[1].sigma: must be positive".
absl::StatusOr<dp::Schedule> ParseEvents(const std::vector<std::string>& events);

// The schedule of the event in the file at `path`. Errors: those of ReadEvent(); INVALID_ARGUMENT names the
// field.
absl::StatusOr<dp::Schedule> ReadSchedule(const std::string& path);

// A positive decimal of at most twelve places, exactly. INVALID_ARGUMENT names `field`.
absl::StatusOr<dp::Rational> ParsePositive(const std::string& text, const std::string& field);

// 0 < delta < 1.
absl::StatusOr<dp::Delta> ParseDelta(const std::string& text);
// epsilon > 0, rho > 0.
absl::StatusOr<dp::Epsilon> ParseEpsilon(const std::string& text);
absl::StatusOr<dp::Rho> ParseRho(const std::string& text);

}  // namespace curator::cli
