#include "dp/accounting/certification.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/calculators/renyi.h"
#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/comparison.h"
#include "dp/accounting/divergence.h"
#include "dp/accounting/rule.h"

namespace curator::dp {
namespace {

// The first counter of ADVANCED: the sum of squared epsilons. It does not depend on the account's promise.
absl::StatusOr<int64_t> SquaredEpsilon(const Event& event) {
  RuleSpec advanced;
  advanced.kind = RuleKind::kAdvanced;
  ASSIGN_OR_RETURN(const std::vector<CounterAmount> cost, CostOf(advanced, event));
  return cost.front().amount;
}

// The mechanisms with an epsilon of their own, and the rest.
struct TwoKinds {
  ComposedEvent pure;
  ComposedEvent rest;
};

// None when all are of one kind.
std::optional<TwoKinds> Divided(const std::vector<CountedEvent>& draws) {
  TwoKinds kinds;
  for (const CountedEvent& draw : draws)
    (EpsilonOf(draw.event) ? kinds.pure : kinds.rest).parts.push_back(draw);
  if (kinds.pure.parts.empty() || kinds.rest.parts.empty()) return std::nullopt;
  return kinds;
}

Event WithCertificate(ComposedEvent pure, CertifiedEvent certified) {
  pure.parts.push_back({{std::move(certified)}, 1});
  return {std::move(pure)};
}

// One certificate for those without an epsilon of their own; none when all are of one kind.
absl::StatusOr<std::optional<Event>> Apart(const std::vector<CountedEvent>& draws, Delta delta) {
  std::optional<TwoKinds> kinds = Divided(draws);
  if (!kinds) return std::optional<Event>();
  ASSIGN_OR_RETURN(CertifiedEvent certified, Certified({std::move(kinds->rest)}, delta));
  return std::optional<Event>(WithCertificate(std::move(kinds->pure), std::move(certified)));
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

// The forms of CheapestCertified() before anything is computed: AsAsked() of its answer is one of them.
std::vector<Event> FormsAsAsked(const std::vector<CountedEvent>& draws, Delta delta) {
  std::vector<Event> forms = {{CertifiedEvent{{AsOne(draws)}, Epsilon(0), delta}}};
  if (std::optional<TwoKinds> kinds = Divided(draws)) {
    forms.push_back(WithCertificate(std::move(kinds->pure),
                                    CertifiedEvent{{{std::move(kinds->rest)}}, Epsilon(0), delta}));
  }
  return forms;
}

bool CertifiesAtMost(const Event& event, Epsilon most) {
  const auto* certified = std::get_if<CertifiedEvent>(&event.what);
  return certified == nullptr || certified->epsilon <= most;
}

int64_t SizeOf(const Event& event) {
  int64_t size = 1;
  const auto add = [&](const std::vector<Event>& parts) {
    for (const Event& part : parts) size += SizeOf(part);
  };
  if (const auto* composed = std::get_if<ComposedEvent>(&event.what)) {
    for (const CountedEvent& part : composed->parts) size += SizeOf(part.event);
  } else if (const auto* parallel = std::get_if<ParallelEvent>(&event.what)) {
    add(parallel->parts);
  } else if (const auto* group = std::get_if<GroupEvent>(&event.what)) {
    add(group->event);
  } else if (const auto* certified = std::get_if<CertifiedEvent>(&event.what)) {
    add(certified->schedule);
  }
  return size;
}

}  // namespace

absl::StatusOr<CertifiedEvent> Certified(Event schedule, Delta delta, const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const Schedule mechanisms, ScheduleOf(schedule));
  ASSIGN_OR_RETURN(const CalculatedEpsilon least, LeastUpperBound(mechanisms, delta, stop));
  ASSIGN_OR_RETURN(const int64_t units,
                   (Interval::OfDouble(*least.epsilon) * Interval(kEpsilonUnitsPerOne)).RoundedUp());
  return CertifiedEvent{{std::move(schedule)}, Epsilon(units), delta};
}

absl::StatusOr<Event> CheapestCertified(const std::vector<CountedEvent>& draws, Epsilon most, Delta delta) {
  ASSIGN_OR_RETURN(CertifiedEvent whole, Certified(AsOne(draws), delta));
  if (whole.epsilon > most && KeepsByZcdp(draws, most, delta)) whole.epsilon = most;
  if (whole.epsilon > most) {
    return InvalidField("epsilon", "is too small: the draws are certified for " + whole.epsilon.ToString() +
                                       " at delta " + delta.ToString());
  }
  Event together{std::move(whole)};
  ASSIGN_OR_RETURN(std::optional<Event> apart, Apart(draws, delta));
  if (!apart) return together;
  ASSIGN_OR_RETURN(const int64_t cost_together, SquaredEpsilon(together));
  ASSIGN_OR_RETURN(const int64_t cost_apart, SquaredEpsilon(*apart));
  return cost_apart < cost_together ? *std::move(apart) : together;
}

std::optional<Event> CertifiedBefore(const Event& charged, const std::vector<CountedEvent>& draws,
                                     Epsilon most, Delta delta) {
  const Event asked = AsAsked(charged);
  const bool has_form =
      std::ranges::any_of(FormsAsAsked(draws, delta), [&](const Event& form) { return form == asked; });
  if (!has_form || !CertifiesAtMost(charged, most)) return std::nullopt;
  return charged;
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

int64_t AskedEvent::size() const {
  return SizeOf(event_);
}

absl::StatusOr<Event> AskedEvent::Certify(const std::stop_token& stop) const {
  RETURN_IF_ERROR(ValidateEvent(event_));
  const auto* asked = std::get_if<CertifiedEvent>(&event_.what);
  const Event& inner = asked == nullptr ? event_ : asked->schedule.front();
  if (HasCertificate(inner)) return InvalidField("certified", "must be the whole event, not a part of one");
  if (asked == nullptr) return event_;
  absl::StatusOr<CertifiedEvent> certified = Certified(inner, asked->delta, stop);
  if (!certified.ok()) return WithinField("certified", certified.status());
  return Event{*std::move(certified)};
}

}  // namespace curator::dp
