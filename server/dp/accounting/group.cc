#include "dp/accounting/group.h"

#include <algorithm>

#include "base/status_macros.h"
#include "dp/accounting/checked.h"
#include "dp/accounting/interval.h"
#include "dp/accounting/overloaded.h"

namespace curator::dp {
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
