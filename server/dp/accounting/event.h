// What was done to the data, independent of how it is counted. The ledger stores events
// (codec/event_codec.h), so that history can be recounted under another rule. A rule that cannot count an
// event refuses it.
//
// Sensitivities are those under the dataset's own neighbour relation and privacy unit: whoever makes an event
// has already doubled or multiplied them. Thread-safe: plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
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

// Each part done `count` >= 1 times, in any order, each chosen by whatever came before (the counts and parts
// are fixed).
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
// whole of it (calculators/certification.h). A rule that counts deltas counts this statement; every other
// rule counts the schedule, as if nothing had been stated.
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

// Events nest at most this deep (a plain mechanism is 1 deep) and have at most this many nodes, so that no
// history can exhaust the stack or the time of whoever counts it.
inline constexpr int kMaxEventDepth = 16;
inline constexpr int64_t kMaxEventNodes = 1 << 17;

// INVALID_ARGUMENT, naming the field, unless every number of `event` is in its range: scales, variances and
// sensitivities positive, linf_sensitivity <= l1_sensitivity, amounts not negative, counts and group sizes at
// least 1, a group or a certificate of exactly one event, depth and size within the bounds above. No parts at
// all is a valid event: nothing was done.
absl::Status ValidateEvent(const Event& event);

// One line for people: "64 x discrete Gaussian (sigma^2 = 320, L2^2 = 1)".
std::string Describe(const Event& event);

}  // namespace curator::dp
