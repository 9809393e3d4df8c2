#include "dp/accounting/calculators/certification.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/calculators/comparison.h"
#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/calculators/zcdp.h"
#include "dp/accounting/rule.h"
#include "dp/accounting/zcdp_conversion.h"

namespace curator::dp {
namespace {

// The first counter of ADVANCED: the sum of squared epsilons. It does not depend on the account's promise.
absl::StatusOr<int64_t> SquaredEpsilon(const Event& event) {
  RuleSpec advanced;
  advanced.kind = RuleKind::kAdvanced;
  ASSIGN_OR_RETURN(const std::vector<CounterAmount> cost, CostOf(advanced, event));
  return cost.front().amount;
}

// The mechanisms with an epsilon of their own, and a certificate for the rest; none when it is all of one
// kind.
absl::StatusOr<std::optional<Event>> Apart(const std::vector<CountedEvent>& draws, Delta delta) {
  ComposedEvent pure;
  ComposedEvent rest;
  for (const CountedEvent& draw : draws) (EpsilonOf(draw.event) ? pure : rest).parts.push_back(draw);
  if (pure.parts.empty() || rest.parts.empty()) return std::optional<Event>();
  ASSIGN_OR_RETURN(CertifiedEvent certified, Certified({std::move(rest)}, delta));
  pure.parts.push_back({{std::move(certified)}, 1});
  return std::optional<Event>(Event{std::move(pure)});
}

// A promise that is kept exactly, of which a calculator's answer, rounded up to a double, may lie a hair
// above.
bool KeepsByZcdp(const std::vector<CountedEvent>& draws, Epsilon most, Delta delta) {
  const absl::StatusOr<Schedule> schedule = ScheduleOf({ComposedEvent{draws}});
  if (!schedule.ok()) return false;
  const absl::StatusOr<Interval> rho = TightZcdp(*schedule);
  return rho.ok() && rho->CertainlyAtMost(LargestZcdp(Interval::Of(most), Interval::Of(delta)));
}

Event AsOne(const std::vector<CountedEvent>& draws) {
  if (draws.size() == 1 && draws.front().count == 1) return draws.front().event;
  return {ComposedEvent{draws}};
}

}  // namespace

absl::StatusOr<CertifiedEvent> Certified(Event schedule, Delta delta) {
  ASSIGN_OR_RETURN(const Schedule mechanisms, ScheduleOf(schedule));
  ASSIGN_OR_RETURN(const CalculatedEpsilon least, LeastUpperBound(mechanisms, delta));
  ASSIGN_OR_RETURN(const int64_t units,
                   (Interval::OfDouble(*least.epsilon) * Interval(kEpsilonUnitsPerOne)).RoundedUp());
  return CertifiedEvent{{std::move(schedule)}, Epsilon(units), delta};
}

absl::StatusOr<Event> CheapestCertified(const std::vector<CountedEvent>& draws, Epsilon most, Delta delta) {
  ASSIGN_OR_RETURN(CertifiedEvent whole, Certified(AsOne(draws), delta));
  if (whole.epsilon > most && KeepsByZcdp(draws, most, delta)) whole.epsilon = most;
  if (whole.epsilon > most) {
    return InvalidField("epsilon", "is too small: the draws that it is to pay for are certified for " +
                                       whole.epsilon.ToString() + " at delta " + delta.ToString());
  }
  Event together{std::move(whole)};
  ASSIGN_OR_RETURN(std::optional<Event> apart, Apart(draws, delta));
  if (!apart) return together;
  ASSIGN_OR_RETURN(const int64_t cost_together, SquaredEpsilon(together));
  ASSIGN_OR_RETURN(const int64_t cost_apart, SquaredEpsilon(*apart));
  return cost_apart < cost_together ? *std::move(apart) : together;
}

bool HasCertificate(const Event& event) {
  if (const auto* composed = std::get_if<ComposedEvent>(&event.what)) {
    return std::ranges::any_of(composed->parts,
                               [](const CountedEvent& part) { return HasCertificate(part.event); });
  }
  if (const auto* parallel = std::get_if<ParallelEvent>(&event.what)) {
    return std::ranges::any_of(parallel->parts, HasCertificate);
  }
  if (const auto* group = std::get_if<GroupEvent>(&event.what)) {
    return std::ranges::any_of(group->event, HasCertificate);
  }
  return std::holds_alternative<CertifiedEvent>(event.what);
}

Event AsAsked(const Event& event) {
  Event asked = event;
  if (auto* composed = std::get_if<ComposedEvent>(&asked.what)) {
    for (CountedEvent& part : composed->parts) part.event = AsAsked(part.event);
  } else if (auto* parallel = std::get_if<ParallelEvent>(&asked.what)) {
    for (Event& part : parallel->parts) part = AsAsked(part);
  } else if (auto* group = std::get_if<GroupEvent>(&asked.what)) {
    for (Event& part : group->event) part = AsAsked(part);
  } else if (auto* certified = std::get_if<CertifiedEvent>(&asked.what)) {
    certified->epsilon = Epsilon(0);
    for (Event& part : certified->schedule) part = AsAsked(part);
  }
  return asked;
}

}  // namespace curator::dp
