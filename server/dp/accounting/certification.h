// One certified (epsilon, delta) for a whole schedule: the charge for a request with a fixed schedule on an
// account that counts deltas.
//
// Which form of a request's composed schedule a filter may charge:
//
//   PURE      the sum of epsilons. At delta = 0 nothing is tighter: each kind of mechanism attains its
//             epsilon in some outcome, and their joint outcome attains the sum.
//   ZCDP      the sum of tight rhos. Each is the supremum over the orders of D_alpha/alpha, approached by all
//             of them at once as alpha -> 1 (by Gaussians at every order), so nothing is tighter. (Only a
//             continuous Laplace is charged more: the rho of any mechanism of its epsilon.)
//   RDP       the sum of the divergences at the account's order: those of a product add up.
//   ADVANCED  each mechanism's own (epsilon_i, delta_i); or a part of the schedule as one mechanism, with any
//             (epsilon, delta) that some calculator certifies for it: the filter's theorem asks only that
//             each step be (epsilon_i, delta_i)-DP given the past, and a request whose whole schedule is
//             fixed before it runs is one step. Of the valid forms at the delta that was asked, the one with
//             the least epsilon^2 is taken.
//
// Certified numbers depend, in their last digits, on how the machine adds; so they are computed once, when a
// request is priced, and stored with its charge; admission and every recount use the stored integers.
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/accounting/units.h"

namespace curator::dp {

// `schedule`, fixed before it runs, with the least epsilon that some calculator certifies at `delta`, rounded
// up to a multiple of 1e-12. Errors: those of ScheduleOf() and LeastUpperBound().
absl::StatusOr<CertifiedEvent> Certified(Event schedule, Delta delta, const std::stop_token& stop = {});

// The cheapest event under ADVANCED that covers `draws`, all fixed beforehand, and spends `delta` at most:
// one certificate for all; or, where that costs less, the mechanisms that have an epsilon by themselves and a
// certificate for the others. Errors: INVALID_ARGUMENT ("epsilon") when no calculator certifies that all of
// `draws` together are (most, delta)-DP; otherwise those of Certified().
absl::StatusOr<Event> CheapestCertified(const std::vector<CountedEvent>& draws, Epsilon most, Delta delta);

// `charged` itself if it has a form that CheapestCertified() gives these draws at this delta, with any
// certified epsilons; one certificate for all must be for `most` at most. A repeated request takes its price
// from its charge: a certificate that another machine or version computes may differ in its last digits, and
// with it which form is cheapest.
std::optional<Event> CertifiedBefore(const Event& charged, const std::vector<CountedEvent>& draws,
                                     Epsilon most, Delta delta);

// Whether the event has a certificate anywhere, so that its cost need not be the sum of its draws' costs.
bool HasCertificate(const Event& event);

// The event as requested: all certified epsilons are zero. Requests for the same draws at the same delta are
// equal in this form, whatever epsilons were computed.
Event AsAsked(const Event& event);

// An event as a client asks for it. A certified schedule has no epsilon yet, so the event has no price; only
// Certify() gives one that may be priced.
class AskedEvent {
 public:
  AskedEvent() = default;
  AskedEvent(const Event& event) : event_(AsAsked(event)) {}  // NOLINT: the same event, with less in it

  // Its certified epsilon, if it has one, is zero.
  const Event& as_asked() const { return event_; }
  // How many events it holds, itself included: the time that a rule takes to price it grows with them.
  int64_t size() const;
  bool is_certified() const { return std::holds_alternative<CertifiedEvent>(event_.what); }

  // Errors: INVALID_ARGUMENT for an event that is not valid (ValidateEvent()), and for a certificate within
  // another event; those of Certified(), within "certified".
  absl::StatusOr<Event> Certify(const std::stop_token& stop) const;

 private:
  Event event_;
};

}  // namespace curator::dp
