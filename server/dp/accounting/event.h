// A record of what was done to the data, independent of the rule that counts it. The ledger stores events
// (codec/event_codec.h), so that history can be recounted under another rule. A rule that cannot count an
// event returns an error.
//
// Sensitivities are those under the dataset's own neighbour relation and privacy unit: the code that makes an
// event has already doubled or multiplied them. Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/accounting/units.h"

namespace curator::dp {

struct Event;

// Discrete Laplace noise, P(x) ~ exp(-|x|/scale), added to each coordinate of an integer vector.
struct DiscreteLaplaceEvent {
  Rational scale;
  int64_t l1_sensitivity = 1;    // of the whole vector
  int64_t linf_sensitivity = 1;  // of one coordinate: at most l1_sensitivity
  bool operator==(const DiscreteLaplaceEvent&) const = default;
};

// Discrete Gaussian noise, P(x) ~ exp(-x^2/(2 sigma_squared)), added to each coordinate of an integer vector.
struct DiscreteGaussianEvent {
  Rational sigma_squared;
  int64_t l2_sensitivity_squared = 1;  // of the whole vector
  // Of one coordinate: at most the root of l2_sensitivity_squared. 0: no more is known than that.
  int64_t linf_sensitivity = 0;
  bool operator==(const DiscreteGaussianEvent&) const = default;
};

// Continuous Laplace and Gaussian noise: not drawn by this program, but counted for callers of
// AccountantService.
struct LaplaceEvent {
  Rational scale;
  Rational l1_sensitivity{1, 1};
  bool operator==(const LaplaceEvent&) const = default;
};
struct GaussianEvent {
  Rational sigma_squared;
  Rational l2_sensitivity_squared{1, 1};
  bool operator==(const GaussianEvent&) const = default;
};

// The exponential mechanism whose log-probability ratios span at most `range` ("bounded range" eta; it is
// eta-DP).
struct ExponentialMechanismEvent {
  Epsilon range;
  bool operator==(const ExponentialMechanismEvent&) const = default;
};

struct PureEvent {  // any epsilon-DP mechanism
  Epsilon epsilon;
  bool operator==(const PureEvent&) const = default;
};
struct ApproximateEvent {  // any (epsilon, delta)-DP mechanism
  Epsilon epsilon;
  Delta delta;
  bool operator==(const ApproximateEvent&) const = default;
};
struct ZcdpEvent {  // any rho-zCDP mechanism
  Rho rho;
  bool operator==(const ZcdpEvent&) const = default;
};

// Each part done `count` >= 1 times, in any order. Parts may be chosen adaptively, from the results before
// them; counts and parts are fixed.
struct CountedEvent;
struct ComposedEvent {
  std::vector<CountedEvent> parts;
  bool operator==(const ComposedEvent&) const;
};

// One event on each of disjoint parts of the data, fixed by public attributes, under add/remove neighbours.
struct ParallelEvent {
  std::vector<Event> parts;
  bool operator==(const ParallelEvent&) const;
};

// `event`, stated for one record, counted for a unit of at most `group_size` >= 1 records (group privacy).
struct GroupEvent {
  std::vector<Event> event;  // exactly one
  int64_t group_size = 1;
  bool operator==(const GroupEvent&) const;
};

// A schedule that was fixed before it ran, with one (epsilon, delta) that a calculator certified for the
// whole of it (certification.h). A rule that counts deltas charges this statement; every other rule charges
// the schedule and ignores the statement.
struct CertifiedEvent {
  std::vector<Event> schedule;  // exactly one
  Epsilon epsilon;
  Delta delta;
  bool operator==(const CertifiedEvent&) const;
};

struct Event {
  std::variant<DiscreteLaplaceEvent, DiscreteGaussianEvent, LaplaceEvent, GaussianEvent,
               ExponentialMechanismEvent, PureEvent, ApproximateEvent, ZcdpEvent, ComposedEvent,
               ParallelEvent, GroupEvent, CertifiedEvent>
      what;
  bool operator==(const Event&) const;
};

struct CountedEvent {
  Event event;
  int64_t count = 1;
  bool operator==(const CountedEvent&) const;
};

// Events nest at most this deep (a plain mechanism is 1 deep) and have at most this many nodes, so that
// counting a history is bounded in stack and time.
inline constexpr int kMaxEventDepth = 16;
inline constexpr int64_t kMaxEventNodes = 1 << 17;

// INVALID_ARGUMENT, naming the field, unless every number of `event` is in its range: scales, variances and
// sensitivities positive, linf_sensitivity <= l1_sensitivity, amounts not negative, counts and group sizes at
// least 1, a group or a certificate of exactly one event, depth and size within the bounds above. No parts at
// all is a valid event: nothing was done.
absl::Status ValidateEvent(const Event& event);

// One line for display: "64 x discrete Gaussian (sigma^2 = 320, L2^2 = 1)".
std::string Describe(const Event& event);

// A visitor for std::visit, made of one lambda for each alternative of the variant.
template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// Group privacy: `mechanism` restated for a unit of up to k = `group_size` records: sensitivities, epsilons
// and ranges times k, squared L2 sensitivities and rhos times k^2, (epsilon, delta) to (k epsilon, delta
// (e^(k epsilon) - 1)/(e^epsilon - 1)), delta rounded up and at most 1 (Dwork, Roth 2014; Bun, Steinke 2016
// for zCDP). A unit that changes k records is k steps between neighbours, and sensitivities are norms, so
// they add up along the steps.
//
// `mechanism` is valid; k >= 1. Errors: OUT_OF_RANGE when a number does not fit; INTERNAL when k > 1 and it
// is composed, parallel, group or certified.
absl::StatusOr<Event> ForGroup(const Event& mechanism, int64_t group_size);

}  // namespace curator::dp
