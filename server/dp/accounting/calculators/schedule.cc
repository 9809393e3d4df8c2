#include "dp/accounting/calculators/schedule.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "dp/accounting/event.h"
#include "dp/accounting/rules/rule_definition.h"
#include "dp/accounting/units.h"

namespace curator::dp {
namespace {

class Flattening {
 public:
  absl::Status Add(const Event& event, int64_t count, int64_t group_size) {
    return std::visit(
        Overloaded{[&](const ComposedEvent& e) { return AddComposed(e, count, group_size); },
                   [&](const ParallelEvent& e) { return AddParallel(e, count, group_size); },
                   [&](const GroupEvent& e) { return AddGroup(e, count, group_size); },
                   [&](const CertifiedEvent& e) { return Add(e.schedule.front(), count, group_size); },
                   [&](const auto&) { return AddMechanism(event, count, group_size); }},
        event.what);
  }

  Schedule Take() && { return std::move(schedule_); }

 private:
  absl::Status AddComposed(const ComposedEvent& event, int64_t count, int64_t group_size) {
    for (const CountedEvent& part : event.parts) {
      ASSIGN_OR_RETURN(const int64_t times, CheckedMultiply(count, part.count));
      RETURN_IF_ERROR(Add(part.event, times, group_size));
    }
    return absl::OkStatus();
  }

  absl::Status AddParallel(const ParallelEvent& event, int64_t count, int64_t group_size) {
    if (event.parts.empty()) return absl::OkStatus();
    const bool all_equal = std::all_of(event.parts.begin(), event.parts.end(),
                                       [&](const Event& part) { return part == event.parts.front(); });
    if (!all_equal) {
      return absl::FailedPreconditionError("different parallel parts are not a sequence of mechanisms");
    }
    return Add(event.parts.front(), count, group_size);
  }

  absl::Status AddGroup(const GroupEvent& event, int64_t count, int64_t group_size) {
    ASSIGN_OR_RETURN(const int64_t records, CheckedMultiply(event.group_size, group_size));
    return Add(event.event.front(), count, records);
  }

  absl::Status AddMechanism(const Event& mechanism, int64_t count, int64_t group_size) {
    ASSIGN_OR_RETURN(Event for_group, ForGroup(mechanism, group_size));
    if (!schedule_.empty() && schedule_.back().event == for_group) {
      ASSIGN_OR_RETURN(schedule_.back().count, CheckedAdd(schedule_.back().count, count));
      return absl::OkStatus();
    }
    schedule_.push_back({std::move(for_group), count});
    return absl::OkStatus();
  }

  Schedule schedule_;
};

}  // namespace

absl::StatusOr<Schedule> ScheduleOf(const Event& event) {
  RETURN_IF_ERROR(ValidateEvent(event));
  Flattening flattening;
  RETURN_IF_ERROR(flattening.Add(event, 1, 1));
  return std::move(flattening).Take();
}

std::optional<Interval> EpsilonOf(const Event& mechanism) {
  std::optional<Interval> units = PureEpsilonUnits(mechanism);
  if (!units) return std::nullopt;
  return *units / Interval(kEpsilonUnitsPerOne);
}

bool HasUnitShifts(const DiscreteGaussianEvent& mechanism) {
  constexpr int64_t kLeastSquareAboveOne = 4;
  return mechanism.linf_sensitivity == 1 || mechanism.l2_sensitivity_squared < kLeastSquareAboveOne;
}

std::optional<Interval> SquaredMuOf(const Event& mechanism) {
  if (const auto* e = std::get_if<GaussianEvent>(&mechanism.what)) {
    return Interval::Of(e->l2_sensitivity_squared) / Interval::Of(e->sigma_squared);
  }
  if (const auto* e = std::get_if<DiscreteGaussianEvent>(&mechanism.what)) {
    return Interval(e->l2_sensitivity_squared) / Interval::Of(e->sigma_squared);
  }
  return std::nullopt;
}

}  // namespace curator::dp
