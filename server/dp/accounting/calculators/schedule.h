// A schedule fixed beforehand, mechanisms with counts: the input of the calculators.
//
// Calculators are for reports, for planning, and for the price of one request whose whole schedule is fixed
// before it runs. They never decide adaptive admission across requests; the filters of rule.h do.
// Thread-safe: plain values and pure functions.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/accounting/interval.h"

namespace curator::dp {

// Mechanisms only: no part is composed, parallel, group or certified. Equal mechanisms that follow each other
// are merged.
using Schedule = std::vector<CountedEvent>;

// The schedule of `event`: counts multiplied out, groups restated, certificates removed. A parallel event
// counts as one of its parts when all are equal. Errors: INVALID_ARGUMENT for a malformed event;
// OUT_OF_RANGE on overflow; FAILED_PRECONDITION for a parallel event of different parts, which is no sequence
// of mechanisms.
absl::StatusOr<Schedule> ScheduleOf(const Event& event);

// The epsilon of a mechanism that has one at delta = 0 (see PureEpsilonUnits).
std::optional<Interval> EpsilonOf(const Event& mechanism);

// Whether every coordinate shifts by at most 1, so that at most l2_sensitivity_squared of them shift.
bool HasUnitShifts(const DiscreteGaussianEvent& mechanism);

// (L2 sensitivity / sigma)^2 of a Gaussian or discrete Gaussian mechanism; none for others.
std::optional<Interval> SquaredMuOf(const Event& mechanism);

}  // namespace curator::dp
