#include "dp/accounting/event.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/interval.h"

namespace curator::dp {
namespace {

absl::Status CheckPositive(Rational value, std::string_view field) {
  if (value.numerator <= 0) return InvalidField(field, "must be positive");
  if (value.denominator <= 0) return InvalidField(field, "must have a positive denominator");
  return absl::OkStatus();
}

absl::Status CheckAtLeastOne(int64_t value, std::string_view field) {
  if (value < 1) return InvalidField(field, "must be at least 1");
  return absl::OkStatus();
}

template <typename AnyAmount>
absl::Status CheckNotNegative(AnyAmount amount, std::string_view field) {
  if (amount.units() < 0) return InvalidField(field, "must not be negative");
  return absl::OkStatus();
}

absl::Status CheckMechanism(const DiscreteLaplaceEvent& e) {
  RETURN_IF_ERROR(CheckPositive(e.scale, "scale"));
  RETURN_IF_ERROR(CheckAtLeastOne(e.l1_sensitivity, "l1_sensitivity"));
  RETURN_IF_ERROR(CheckAtLeastOne(e.linf_sensitivity, "linf_sensitivity"));
  if (e.linf_sensitivity > e.l1_sensitivity) {
    return InvalidField("linf_sensitivity", "must be at most l1_sensitivity");
  }
  return absl::OkStatus();
}

absl::Status CheckMechanism(const DiscreteGaussianEvent& e) {
  RETURN_IF_ERROR(CheckPositive(e.sigma_squared, "sigma_squared"));
  RETURN_IF_ERROR(CheckAtLeastOne(e.l2_sensitivity_squared, "l2_sensitivity_squared"));
  if (e.linf_sensitivity == 0) return absl::OkStatus();
  RETURN_IF_ERROR(CheckAtLeastOne(e.linf_sensitivity, "linf_sensitivity"));
  if (e.linf_sensitivity > e.l2_sensitivity_squared / e.linf_sensitivity) {
    return InvalidField("linf_sensitivity", "must be at most the root of l2_sensitivity_squared");
  }
  return absl::OkStatus();
}

absl::Status CheckMechanism(const LaplaceEvent& e) {
  RETURN_IF_ERROR(CheckPositive(e.scale, "scale"));
  return CheckPositive(e.l1_sensitivity, "l1_sensitivity");
}

absl::Status CheckMechanism(const GaussianEvent& e) {
  RETURN_IF_ERROR(CheckPositive(e.sigma_squared, "sigma_squared"));
  return CheckPositive(e.l2_sensitivity_squared, "l2_sensitivity_squared");
}

absl::Status CheckMechanism(const ExponentialMechanismEvent& e) {
  return CheckNotNegative(e.range, "range");
}
absl::Status CheckMechanism(const PureEvent& e) {
  return CheckNotNegative(e.epsilon, "epsilon");
}
absl::Status CheckMechanism(const ZcdpEvent& e) {
  return CheckNotNegative(e.rho, "rho");
}
absl::Status CheckStatement(Epsilon epsilon, Delta delta) {
  RETURN_IF_ERROR(CheckNotNegative(epsilon, "epsilon"));
  RETURN_IF_ERROR(CheckNotNegative(delta, "delta"));
  if (delta.units() > kDeltaUnitsPerOne) return InvalidField("delta", "must be at most 1");
  return absl::OkStatus();
}
absl::Status CheckMechanism(const ApproximateEvent& e) {
  return CheckStatement(e.epsilon, e.delta);
}

// Walks an event once, from the root, and counts its nodes.
class Validation {
 public:
  absl::Status Check(const Event& event, int depth) {
    if (depth > kMaxEventDepth)
      return InvalidField("event", absl::StrCat("is nested more than ", kMaxEventDepth, " deep"));
    if (++nodes_ > kMaxEventNodes)
      return InvalidField("event", absl::StrCat("has more than ", kMaxEventNodes, " parts"));
    return std::visit(Overloaded{[&](const ComposedEvent& e) { return CheckComposed(e, depth); },
                                 [&](const ParallelEvent& e) { return CheckParallel(e, depth); },
                                 [&](const GroupEvent& e) { return CheckGroup(e, depth); },
                                 [&](const CertifiedEvent& e) { return CheckCertified(e, depth); },
                                 [&](const auto& mechanism) { return CheckMechanism(mechanism); }},
                      event.what);
  }

 private:
  absl::Status CheckComposed(const ComposedEvent& e, int depth) {
    for (const CountedEvent& part : e.parts) {
      RETURN_IF_ERROR(CheckAtLeastOne(part.count, "count"));
      RETURN_IF_ERROR(Check(part.event, depth + 1));
    }
    return absl::OkStatus();
  }

  absl::Status CheckParallel(const ParallelEvent& e, int depth) {
    for (const Event& part : e.parts) RETURN_IF_ERROR(Check(part, depth + 1));
    return absl::OkStatus();
  }

  absl::Status CheckGroup(const GroupEvent& e, int depth) {
    RETURN_IF_ERROR(CheckAtLeastOne(e.group_size, "group_size"));
    if (e.event.size() != 1) return InvalidField("event", "a group event holds exactly one event");
    return Check(e.event.front(), depth + 1);
  }

  absl::Status CheckCertified(const CertifiedEvent& e, int depth) {
    RETURN_IF_ERROR(CheckStatement(e.epsilon, e.delta));
    if (e.schedule.size() != 1)
      return InvalidField("schedule", "a certified event holds exactly one schedule");
    return Check(e.schedule.front(), depth + 1);
  }

  int64_t nodes_ = 0;
};

std::string Text(Rational value) {
  const Rational reduced = Reduced(value);
  std::string text = std::to_string(reduced.numerator);
  if (reduced.denominator != 1) text += "/" + std::to_string(reduced.denominator);
  return text;
}

std::string DescribeComposed(const ComposedEvent& e) {
  if (e.parts.empty()) return "nothing";
  std::string text;
  for (const CountedEvent& part : e.parts) {
    if (!text.empty()) text += " + ";
    if (part.count != 1) text += std::to_string(part.count) + " x ";
    const bool compound = std::holds_alternative<ComposedEvent>(part.event.what);
    text += compound ? "(" + Describe(part.event) + ")" : Describe(part.event);
  }
  return text;
}

std::string DescribeParallel(const ParallelEvent& e) {
  std::string text;
  for (const Event& part : e.parts) {
    if (!text.empty()) text += " | ";
    text += Describe(part);
  }
  return "on disjoint parts (" + text + ")";
}

}  // namespace

// Written out: Clang (14 and 16) crashes on a defaulted comparison of a type that contains itself. All
// members are bound, so that a new one that is not compared does not compile.
bool Event::operator==(const Event& other) const {
  const auto& [its_what] = other;
  return what == its_what;
}
bool CountedEvent::operator==(const CountedEvent& other) const {
  const auto& [its_event, its_count] = other;
  return event == its_event && count == its_count;
}
bool ComposedEvent::operator==(const ComposedEvent& other) const {
  const auto& [its_parts] = other;
  return parts == its_parts;
}
bool ParallelEvent::operator==(const ParallelEvent& other) const {
  const auto& [its_parts] = other;
  return parts == its_parts;
}
bool GroupEvent::operator==(const GroupEvent& other) const {
  const auto& [its_event, its_group_size] = other;
  return event == its_event && group_size == its_group_size;
}
bool CertifiedEvent::operator==(const CertifiedEvent& other) const {
  const auto& [its_schedule, its_epsilon, its_delta] = other;
  return schedule == its_schedule && epsilon == its_epsilon && delta == its_delta;
}

absl::Status ValidateEvent(const Event& event) {
  return Validation().Check(event, 1);
}

std::string Describe(const Event& event) {
  return std::visit(
      Overloaded{[](const DiscreteLaplaceEvent& e) {
                   return "discrete Laplace (scale = " + Text(e.scale) +
                          ", L1 = " + std::to_string(e.l1_sensitivity) +
                          ", Linf = " + std::to_string(e.linf_sensitivity) + ")";
                 },
                 [](const DiscreteGaussianEvent& e) {
                   return "discrete Gaussian (sigma^2 = " + Text(e.sigma_squared) +
                          ", L2^2 = " + std::to_string(e.l2_sensitivity_squared) +
                          (e.linf_sensitivity == 0 ? "" : ", Linf = " + std::to_string(e.linf_sensitivity)) +
                          ")";
                 },
                 [](const LaplaceEvent& e) {
                   return "Laplace (scale = " + Text(e.scale) + ", L1 = " + Text(e.l1_sensitivity) + ")";
                 },
                 [](const GaussianEvent& e) {
                   return "Gaussian (sigma^2 = " + Text(e.sigma_squared) +
                          ", L2^2 = " + Text(e.l2_sensitivity_squared) + ")";
                 },
                 [](const ExponentialMechanismEvent& e) {
                   return "exponential mechanism (range = " + e.range.ToString() + ")";
                 },
                 [](const PureEvent& e) { return e.epsilon.ToString() + "-DP"; },
                 [](const ApproximateEvent& e) {
                   return "(" + e.epsilon.ToString() + ", " + e.delta.ToString() + ")-DP";
                 },
                 [](const ZcdpEvent& e) { return e.rho.ToString() + "-zCDP"; },
                 [](const ComposedEvent& e) { return DescribeComposed(e); },
                 [](const ParallelEvent& e) { return DescribeParallel(e); },
                 [](const GroupEvent& e) {
                   const std::string inner = e.event.empty() ? "nothing" : Describe(e.event.front());
                   return "for groups of " + std::to_string(e.group_size) + " (" + inner + ")";
                 },
                 [](const CertifiedEvent& e) {
                   const std::string inner = e.schedule.empty() ? "nothing" : Describe(e.schedule.front());
                   return "(" + e.epsilon.ToString() + ", " + e.delta.ToString() + ")-DP, certified for (" +
                          inner + ")";
                 }},
      event.what);
}

namespace {

absl::StatusOr<Rational> Times(Rational value, int64_t factor) {
  Rational result = Reduced(value);
  const Rational cancelled = Reduced({factor, result.denominator});
  ASSIGN_OR_RETURN(result.numerator, CheckedMultiply(result.numerator, cancelled.numerator));
  result.denominator = cancelled.denominator;
  return result;
}

// At most 1, which every mechanism keeps; so also where the number is too large to be held.
Delta GroupDelta(const ApproximateEvent& event, Epsilon group_epsilon, int64_t group_size) {
  const Interval factor = event.epsilon.units() == 0
                              ? Interval(group_size)
                              : Expm1(Interval::Of(group_epsilon)) / Expm1(Interval::Of(event.epsilon));
  const absl::StatusOr<int64_t> units = (Interval(event.delta.units()) * factor).RoundedUp();
  return Delta(units.ok() ? std::min(*units, kDeltaUnitsPerOne) : kDeltaUnitsPerOne);
}

class Magnifier {
 public:
  explicit Magnifier(int64_t group_size) : k_(group_size) {}

  absl::StatusOr<Event> operator()(DiscreteLaplaceEvent e) const {
    ASSIGN_OR_RETURN(e.l1_sensitivity, CheckedMultiply(e.l1_sensitivity, k_));
    ASSIGN_OR_RETURN(e.linf_sensitivity, CheckedMultiply(e.linf_sensitivity, k_));
    return Event{e};
  }
  absl::StatusOr<Event> operator()(DiscreteGaussianEvent e) const {
    ASSIGN_OR_RETURN(const int64_t k_squared, CheckedMultiply(k_, k_));
    ASSIGN_OR_RETURN(e.l2_sensitivity_squared, CheckedMultiply(e.l2_sensitivity_squared, k_squared));
    ASSIGN_OR_RETURN(e.linf_sensitivity, CheckedMultiply(e.linf_sensitivity, k_));
    return Event{e};
  }
  absl::StatusOr<Event> operator()(LaplaceEvent e) const {
    ASSIGN_OR_RETURN(e.l1_sensitivity, Times(e.l1_sensitivity, k_));
    return Event{e};
  }
  absl::StatusOr<Event> operator()(GaussianEvent e) const {
    ASSIGN_OR_RETURN(const int64_t k_squared, CheckedMultiply(k_, k_));
    ASSIGN_OR_RETURN(e.l2_sensitivity_squared, Times(e.l2_sensitivity_squared, k_squared));
    return Event{e};
  }
  absl::StatusOr<Event> operator()(const ExponentialMechanismEvent& e) const {
    ASSIGN_OR_RETURN(const int64_t range, CheckedMultiply(e.range.units(), k_));
    return Event{ExponentialMechanismEvent{Epsilon(range)}};
  }
  absl::StatusOr<Event> operator()(const PureEvent& e) const {
    ASSIGN_OR_RETURN(const int64_t epsilon, CheckedMultiply(e.epsilon.units(), k_));
    return Event{PureEvent{Epsilon(epsilon)}};
  }
  absl::StatusOr<Event> operator()(const ApproximateEvent& e) const {
    ASSIGN_OR_RETURN(const int64_t epsilon, CheckedMultiply(e.epsilon.units(), k_));
    return Event{ApproximateEvent{Epsilon(epsilon), GroupDelta(e, Epsilon(epsilon), k_)}};
  }
  absl::StatusOr<Event> operator()(const ZcdpEvent& e) const {
    ASSIGN_OR_RETURN(const int64_t k_squared, CheckedMultiply(k_, k_));
    ASSIGN_OR_RETURN(const int64_t rho, CheckedMultiply(e.rho.units(), k_squared));
    return Event{ZcdpEvent{Rho(rho)}};
  }
  absl::StatusOr<Event> operator()(const ComposedEvent&) const { return NotAMechanism(); }
  absl::StatusOr<Event> operator()(const ParallelEvent&) const { return NotAMechanism(); }
  absl::StatusOr<Event> operator()(const GroupEvent&) const { return NotAMechanism(); }
  absl::StatusOr<Event> operator()(const CertifiedEvent&) const { return NotAMechanism(); }

 private:
  static absl::Status NotAMechanism() { return absl::InternalError("a group is formed of one mechanism"); }

  int64_t k_;
};

}  // namespace

absl::StatusOr<Event> ForGroup(const Event& mechanism, int64_t group_size) {
  if (group_size == 1) return mechanism;
  return std::visit(Magnifier(group_size), mechanism.what);
}

}  // namespace curator::dp
