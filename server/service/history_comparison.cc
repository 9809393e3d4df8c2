#include "service/history_comparison.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "codec/event_codec.h"
#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/checked.h"

namespace curator::service {
namespace {

// All events as one schedule.
absl::StatusOr<dp::Schedule> ScheduleOfAll(const std::vector<ledger::EventCount>& events) {
  dp::Schedule schedule;
  for (const auto& [bytes, charges] : events) {
    ASSIGN_OR_RETURN(const dp::Event event, codec::DecodeEvent(bytes));
    ASSIGN_OR_RETURN(dp::Schedule parts, dp::ScheduleOf(event));
    for (dp::CountedEvent& part : parts) {
      ASSIGN_OR_RETURN(part.count, dp::CheckedMultiply(part.count, charges));
      schedule.push_back(std::move(part));
    }
  }
  return schedule;
}

}  // namespace

absl::StatusOr<HistoryComparison> CompareHistory(ledger::Ledger& ledger, const ledger::Dataset& dataset,
                                                 std::string_view principal, dp::Delta delta) {
  HistoryComparison comparison{.delta = delta, .own_charges_only = !principal.empty()};
  if (!dataset.partition_attribute.empty()) {
    comparison.not_computed = "not computed: each part of a partitioned dataset is counted on its own";
    return comparison;
  }
  ASSIGN_OR_RETURN(const std::vector<ledger::EventCount> events,
                   ledger.CountEvents(dataset.id, principal, kMostEventsCompared + 1));
  if (static_cast<int64_t>(events.size()) > kMostEventsCompared) {
    comparison.not_computed =
        absl::StrCat("not computed: the charges are of more than ", kMostEventsCompared, " different kinds");
    return comparison;
  }
  for (const ledger::EventCount& event : events) comparison.charges += event.charges;
  if (events.empty()) return comparison;
  const absl::StatusOr<dp::Schedule> schedule = ScheduleOfAll(events);
  if (absl::IsDataLoss(schedule.status())) return schedule.status();
  if (!schedule.ok()) {
    comparison.not_computed = absl::StrCat("not computed: ", std::string(schedule.status().message()));
    return comparison;
  }
  ASSIGN_OR_RETURN(comparison.calculated, dp::CompareCalculators(*schedule, delta, dp::Effort::kBounded));
  return comparison;
}

}  // namespace curator::service
